/**
 * What a person typed, as a request; or what is wrong with it, in the words of the server's form
 * (traceapp/form.py), which also sends the labels and bounds.
 */

import type {Settings} from "../wire";
import {visibleText} from "./visible";

export const FIELD_NAMES = [
  "prompt",
  "max_new_tokens",
  "top_k",
  "temperature",
  "top_p",
  "seed",
] as const;
export type FieldName = (typeof FIELD_NAMES)[number];

export interface Field {
  readonly name: FieldName;
  readonly label: string;
  readonly help: string;
  /** Completes the sentence "… must be …". */
  readonly must: string;
  /** What it holds at first. */
  readonly typed: string;
  readonly kind: "prompt" | "integer" | "number";
  readonly minimum: number | null;
  readonly maximum: number | null;
}

export type Typed = Readonly<Record<FieldName, string>>;
export type Faults = Readonly<Partial<Record<FieldName, string>>>;

export type Judged =
  | {readonly ok: true; readonly prompt: string; readonly settings: Settings}
  | {readonly ok: false; readonly faults: Faults};

const INTEGER = /^[0-9]{1,20}$/;
const NUMBER = /^([0-9]{1,20}(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?$/;
const MAX_SEED = 2n ** 63n - 1n;

export function judge(fields: readonly Field[], typed: Typed): Judged {
  const faults = Object.fromEntries(
    fields
      .map((field) => [field.name, faultOf(field, typed[field.name])] as const)
      .filter(([, fault]) => fault !== null),
  ) as Faults;
  if (Object.keys(faults).length > 0) return {ok: false, faults};
  const number = (name: FieldName) => Number(typed[name].trim());
  return {
    ok: true,
    prompt: typed.prompt,
    settings: {
      max_new_tokens: number("max_new_tokens"),
      top_k: number("top_k"),
      temperature: number("temperature"),
      top_p: number("top_p"),
      seed: typed.seed.trim() === "" ? null : String(BigInt(typed.seed.trim())),
    },
  };
}

/** What each field holds at first. */
export function initial(fields: readonly Field[]): Typed {
  return Object.fromEntries(fields.map(({name, typed}) => [name, typed])) as Typed;
}

/** What is wrong with one field, as a sentence; null where nothing is. */
export function faultOf(field: Field, typed: string): string | null {
  return fits(field, typed) ? null : refusal(field, typed);
}

/** How long a text is as the server counts it: in characters, not in UTF-16 units. */
export function lengthOf(text: string): number {
  return [...text].length;
}

function fits(field: Field, typed: string): boolean {
  const text = typed.trim();
  if (field.kind === "prompt") {
    return typed !== "" && (field.maximum === null || lengthOf(typed) <= field.maximum);
  }
  if (field.name === "seed") {
    return text === "" || (INTEGER.test(text) && BigInt(text) <= MAX_SEED);
  }
  if (!(field.kind === "integer" ? INTEGER : NUMBER).test(text)) return false;
  const value = Number(text);
  const above = field.name === "top_p" ? value > 0 : value >= (field.minimum ?? -Infinity);
  return above && value <= (field.maximum ?? Infinity);
}

function refusal(field: Field, typed: string): string {
  return `${field.label} must be ${field.must}; this is ${seen(field, typed)}.`;
}

function seen(field: Field, typed: string): string {
  if (typed === "") return "empty";
  if (field.kind === "prompt") return `${lengthOf(typed)} characters long`;
  return `“${visibleText(typed.slice(0, 40))}”`;
}
