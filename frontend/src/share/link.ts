/**
 * A link that carries everything: prompt, settings and options in the URL's fragment, which no
 * browser sends to a server. docs/sharing.md lists the options, held to OPTIONS by a test.
 */

import {FIELD_NAMES, faultOf, type Field, type FieldName, type Typed} from "../domain/fields";
import {MEASURES, type Measure} from "../domain/scales";
import {visibleText} from "../domain/visible";

export const HIDABLE = [
  "settings",
  "examples",
  "lab",
  "branches",
  "numbers",
  "tables",
  "share",
  "reading",
] as const;
export type Hidable = (typeof HIDABLE)[number];

export const LOCKABLE = ["prompt", "settings"] as const;
export type Lockable = (typeof LOCKABLE)[number];

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** What a link says beside the prompt and the settings of the form. */
export interface LinkOptions {
  /** Run as soon as the page is open. */
  readonly run: boolean;
  readonly scorePrompt: boolean;
  readonly measure: Measure;
  readonly hide: readonly Hidable[];
  /** What visitors cannot change. */
  readonly lock: readonly Lockable[];
  readonly theme: Theme;
}

export const PLAIN: LinkOptions = {
  run: false,
  scorePrompt: false,
  measure: "probability",
  hide: [],
  lock: [],
  theme: "auto",
};

export interface Link {
  /** Only the fields that the link names, each as it would be typed. */
  readonly typed: Partial<Typed>;
  readonly options: LinkOptions;
}

export interface ReadLink extends Link {
  /** A sentence for each thing that was left out, and why. */
  readonly dropped: readonly string[];
}

/** Each option that is no field of the form: its name, and what it can be. */
export const OPTIONS: Readonly<Record<string, string>> = {
  run: "0 or 1",
  measure_prompt: "0 or 1",
  colour: MEASURES.join(", "),
  hide: `any of ${HIDABLE.join(", ")}`,
  lock: `1, or any of ${LOCKABLE.join(", ")}`,
  theme: THEMES.join(", "),
};

/** Longer fragments are not read: 1,000 characters take at most 12,000 here. */
export const LONGEST = 32_768;

/** The fragment, without "#". */
export function writeLink({typed, options}: Link): string {
  const said = new URLSearchParams();
  for (const name of FIELD_NAMES) {
    const text = typed[name];
    // An empty seed is the default, and says by its absence that there is none.
    if (text) said.set(name, text);
  }
  if (options.scorePrompt) said.set("measure_prompt", "1");
  if (options.measure !== PLAIN.measure) said.set("colour", options.measure);
  if (options.run) said.set("run", "1");
  if (options.hide.length > 0) said.set("hide", options.hide.join(","));
  if (options.lock.length > 0) {
    said.set("lock", options.lock.length === LOCKABLE.length ? "1" : options.lock.join(","));
  }
  if (options.theme !== PLAIN.theme) said.set("theme", options.theme);
  return said.toString();
}

/** Of what is typed, what a link may carry: the rest would be left out when it is opened. */
export function fitting(typed: Typed, fields: readonly Field[]): Partial<Typed> {
  const right = fields.filter((field) => faultOf(field, typed[field.name]) === null);
  return Object.fromEntries(
    right.map(({name, kind}) => [name, kind === "prompt" ? typed[name] : typed[name].trim()]),
  );
}

/** What a fragment says; null where it is none of ours, but the place to scroll to. */
export function readLink(fragment: string, fields: readonly Field[]): ReadLink | null {
  const text = fragment.replace(/^#/, "");
  if (!text.includes("=")) return null;
  if (text.length > LONGEST) {
    const dropped = [`The link is ${text.length} characters long: nothing was taken from it.`];
    return {typed: {}, options: PLAIN, dropped};
  }
  const reading = new Reading(fields);
  for (const part of text.split("&")) if (part !== "") reading.take(part);
  return reading.done();
}

class Reading {
  #fields: readonly Field[];
  #named = new Set<string>();
  #typed: Partial<Record<FieldName, string>> = {};
  #options: {-readonly [Name in keyof LinkOptions]: LinkOptions[Name]} = {...PLAIN};
  #dropped: string[] = [];

  constructor(fields: readonly Field[]) {
    this.#fields = fields;
  }

  take(part: string): void {
    const [name, ...rest] = part.split("=").map(unescaped);
    const value = rest.some((each) => each === null) ? null : rest.join("=");
    if (name === null || name === undefined || value === null) {
      return this.#drop(`${quoted(name ?? part)} is not encoded as a link needs it.`);
    }
    if (this.#named.has(name))
      return this.#drop(`${quoted(name)} is named twice; the first holds.`);
    this.#named.add(name);
    const field = this.#fields.find((each) => each.name === name);
    if (field) return this.#takeField(field, value);
    this.#takeOption(name, value);
  }

  done(): ReadLink {
    const {prompt} = this.#typed;
    if (prompt === undefined && this.#options.lock.includes("prompt")) {
      this.#options.lock = this.#options.lock.filter((each) => each !== "prompt");
      this.#drop("The prompt is not locked: the link has none.");
    }
    if (prompt === undefined && this.#options.run) {
      this.#options.run = false;
      this.#drop("Nothing is run: the link has no prompt.");
    }
    return {typed: this.#typed, options: this.#options, dropped: this.#dropped};
  }

  #takeField(field: Field, value: string): void {
    const fault = faultOf(field, value);
    if (fault === null) this.#typed[field.name] = value;
    else this.#drop(fault);
  }

  #takeOption(name: string, value: string): void {
    switch (name) {
      case "run":
        return this.#takeFlag(name, value, (run) => (this.#options.run = run));
      case "measure_prompt":
        return this.#takeFlag(name, value, (score) => (this.#options.scorePrompt = score));
      case "colour":
        return this.#takeOne(name, value, MEASURES, (each) => (this.#options.measure = each));
      case "theme":
        return this.#takeOne(name, value, THEMES, (each) => (this.#options.theme = each));
      case "hide":
        this.#options.hide = this.#several(name, value, HIDABLE);
        return;
      case "lock":
        if (value === "1") this.#options.lock = LOCKABLE;
        else if (value !== "0") this.#options.lock = this.#several(name, value, LOCKABLE);
        return;
      default:
        this.#drop(`${quoted(name)} is no option of a link.`);
    }
  }

  #takeFlag(name: string, value: string, set: (on: boolean) => void): void {
    if (value === "0" || value === "1") set(value === "1");
    else this.#dropValue(name, value);
  }

  #takeOne<Value extends string>(
    name: string,
    value: string,
    values: readonly Value[],
    set: (value: Value) => void,
  ): void {
    const found = values.find((each) => each === value);
    if (found) set(found);
    else this.#dropValue(name, value);
  }

  #several<Value extends string>(
    name: string,
    value: string,
    values: readonly Value[],
  ): readonly Value[] {
    const asked = value.split(",").filter((each) => each !== "");
    const unknown = asked.filter((each) => !values.some((known) => known === each));
    if (unknown.length > 0) this.#dropValue(name, unknown.join(","));
    return values.filter((each) => asked.includes(each));
  }

  #dropValue(name: string, value: string): void {
    this.#drop(`${name} must be ${OPTIONS[name]}; this is ${quoted(value)}.`);
  }

  #drop(why: string): void {
    this.#dropped.push(why);
  }
}

function unescaped(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}

/** Somebody else's text in a sentence of ours: short, and with nothing invisible in it. */
function quoted(text: string): string {
  const shown = [...text].slice(0, 40).join("");
  return `“${visibleText(shown)}${shown.length < text.length ? "…" : ""}”`;
}
