/** How to cite a trace. */

import {visibleText} from "../domain/visible";
import {modelOf, settingsOf, type SavedTrace} from "./record";

const LONGEST_TITLE = 60;

/** One line for a list of references. */
export function citationOf(saved: SavedTrace): string {
  return (
    `Token Trace of “${titleOf(saved)}”: ${modelOf(saved)}, ${settingsOf(saved)}; ` +
    `${saved.at.slice(0, 10)}. ${saved.url}`
  );
}

/** The same as an entry for BibTeX. */
export function bibtexOf(saved: SavedTrace): string {
  const fields = {
    title: `{Token Trace of “${escaped(titleOf(saved))}”}`,
    note: escaped(`Model ${modelOf(saved)}, ${settingsOf(saved)}`),
    year: saved.at.slice(0, 4),
    urldate: saved.at.slice(0, 10),
    url: saved.url,
  };
  const lines = Object.entries(fields).map(([name, value]) => `  ${name} = {${value}},`);
  return [`@misc{token-trace-${keyOf(saved)},`, ...lines, "}"].join("\n");
}

/** The id of a stored trace, or the day. */
function keyOf({url, at}: SavedTrace): string {
  return /\/t\/([\w-]+)$/.exec(url)?.[1] ?? at.slice(0, 10);
}

const TEX: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
};

/** Somebody's text, which TeX prints as it is. */
function escaped(text: string): string {
  return text.replace(/[\\{}%$&#_~^]/g, (character) => TEX[character] ?? `\\${character}`);
}

function titleOf({answer}: SavedTrace): string {
  const shown = visibleText(answer.prompt);
  const short = [...shown].slice(0, LONGEST_TITLE).join("");
  return short.length < shown.length ? `${short}…` : short;
}
