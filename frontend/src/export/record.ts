/** What every export is made from: a trace that the page holds, and where and when. */

import {plain, plural} from "../domain/format";
import type {Provenance} from "../share/stored";
import type {TraceAnswer} from "../wire";

export interface SavedTrace {
  readonly answer: TraceAnswer;
  /** As digits; null where there was none. */
  readonly seed: string | null;
  /** When it was stored, or saved from the page: ISO 8601. */
  readonly at: string;
  /** Where it is stored, or the address of the page that drew it. */
  readonly url: string;
  /** Of the prompt's tokens that are only part of a character: hex digits. */
  readonly promptBytes: readonly string[];
  /** null for a trace of the live page. */
  readonly provenance: Provenance | null;
}

/** The settings in a few words: "temperature 0.7, top-p 0.9, seed 7". */
export function settingsOf({answer: {decoding}, seed}: SavedTrace): string {
  if (decoding.temperature === 0) return "greedy";
  const drawn = seed === null ? "no seed" : `seed ${seed}`;
  return `temperature ${plain(decoding.temperature)}, top-p ${plain(decoding.top_p)}, ${drawn}`;
}

/** The model in a few words, with the revision whole. */
export function modelOf({answer: {model}}: SavedTrace): string {
  return `${model.alias} (${model.repository}, revision ${model.revision})`;
}

/** A name for a file, without its ending: says what is in it, and is one on every system. */
export function fileName({answer, at}: SavedTrace, part = ""): string {
  const words = answer.prompt
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "-");
  const short = [...words]
    .slice(0, 40)
    .join("")
    .replace(/^-+|-+$/g, "");
  return ["token-trace", short, part, at.slice(0, 10)].filter((each) => each !== "").join("-");
}

/** "5 tokens, drawn with temperature 0.7, …". */
export function howMade(saved: SavedTrace): string {
  return `${plural(saved.answer.steps.length, "token")}, ${settingsOf(saved)}`;
}
