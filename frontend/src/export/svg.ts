/** SVG as text: elements whose attributes and text can hold anything. */

import {visibleText} from "../domain/visible";

type Attributes = Readonly<Record<string, string | number>>;

/** An element; children are elements already, or the result of `text`. */
export function element(name: string, attributes: Attributes, ...children: string[]): string {
  const said = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${text(String(value))}"`)
    .join("");
  return children.length > 0
    ? `<${name}${said}>${children.join("")}</${name}>`
    : `<${name}${said}/>`;
}

const NAMES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Anyone's text, with what XML cannot hold as a visible sign. */
export function text(value: string): string {
  return visibleText(value).replace(/[&<>"']/g, (character) => NAMES[character] ?? "");
}

const WIDE =
  /[\p{Extended_Pictographic}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{20000}-\u{3fffd}]/u;

/** A text in lines of so many columns; wide characters take two. */
export function wrapped(value: string, columns: number): readonly string[] {
  const lines = [""];
  let used = 0;
  for (const word of visibleText(value).match(/[^ ]+ ?| /g) ?? []) {
    const characters = charactersOf(word);
    const width = characters.reduce((sum, each) => sum + columnsOf(each), 0);
    if (used > 0 && used + width > columns) {
      lines.push("");
      used = 0;
    }
    for (const character of characters) {
      if (used + columnsOf(character) > columns) {
        lines.push("");
        used = 0;
      }
      lines[lines.length - 1] += character;
      used += columnsOf(character);
    }
  }
  return lines;
}

/** A text in one line of so many columns at most, with "…" for what is left out at its end. */
export function clipped(value: string, columns: number): string {
  const [first = "", ...more] = wrapped(value.replaceAll(" ", "\u00a0"), columns);
  return more.length > 0 ? `${[...first].slice(0, -1).join("")}…` : first;
}

/** What a reader takes for one character each, where the browser knows. */
function charactersOf(word: string): readonly string[] {
  if (!("Segmenter" in Intl)) return [...word];
  const segments = new Intl.Segmenter(undefined, {granularity: "grapheme"}).segment(word);
  return [...segments].map(({segment}) => segment);
}

function columnsOf(character: string): number {
  return WIDE.test(character) ? 2 : 1;
}
