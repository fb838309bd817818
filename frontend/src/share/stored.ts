/** A trace that was stored, or saved in a file: read again as the page reads a run of its own. */

import {utf8} from "../domain/tokens";
import type {Trace} from "../domain/trace";
import type {Hello, ModelEntry, Settings, Token, TraceAnswer} from "../wire";

/** What a trace does not say of itself: the twin of traceapp/wire/sharing.py. */
export interface Provenance extends Pick<ModelEntry, "source" | "dtype" | "sha256" | "engine"> {
  readonly made_at: string;
  readonly vocabulary: number;
  readonly max_new_tokens: number;
  readonly top_k: number;
  readonly versions: Readonly<Record<string, string>>;
}

export interface Stored {
  readonly trace: TraceAnswer;
  /** null in a file that was saved from the live page. */
  readonly provenance: Provenance | null;
  /** When it was stored or saved, as ISO 8601. */
  readonly shared_at: string;
  /** Where it is stored; in a file, the page that it was saved from. */
  readonly url: string;
}

/** What the server, or a saved file, wrote into the page; null on a page without a trace. */
export function readStored(document: Document): {stored: Stored; seed: string | null} | null {
  const text = document.getElementById("stored-trace")?.textContent;
  if (!text) return null;
  return {stored: JSON.parse(text) as Stored, seed: exactSeed(text)};
}

/** The seed's digits, of which a JavaScript number would keep the first 53 bits. */
export function exactSeed(json: string): string | null {
  // Inside a string each quote has a backslash before it, so that this is the key.
  return /"seed":\s*(\d+)/.exec(json)?.[1] ?? null;
}

/** What the server that made it would say of itself. */
export function helloOf({trace, provenance}: Stored): Hello | null {
  if (!provenance) return null;
  const {source, dtype, sha256, engine, vocabulary, versions} = provenance;
  return {
    type: "hello",
    model: {...trace.model, source, dtype, sha256, engine},
    limits: {sharing: false, sharing_days: 0},
    vocabulary,
    ready: false,
    versions,
  };
}

/** The trace as if it had just been drawn. */
export function traceOf(
  answer: TraceAnswer,
  seed: string | null,
  provenance: Provenance | null = null,
): Trace {
  const {steps, decoding} = answer;
  const forced = steps.filter((step) => step.analysis.forced);
  const settings: Settings = {
    // A trace by itself does not say what was asked for; as many as it has draw the same again.
    max_new_tokens: provenance?.max_new_tokens ?? steps.length,
    top_k: provenance?.top_k ?? steps[0]?.alternatives.length ?? 1,
    temperature: decoding.temperature,
    top_p: decoding.top_p,
    seed,
  };
  return {
    start: {
      type: "start",
      id: "stored",
      prompt: answer.prompt,
      settings,
      forced: forced.map((step) => step.selected_token_id),
      score_prompt: false,
    },
    status: "finished",
    position: null,
    promptTokens: promptTokensOf(answer),
    promptScores: [],
    steps,
    labs: steps.map(() => null),
    answer,
    receipt: null,
    problem: null,
  };
}

/**
 * The prompt's tokens with their bytes, which are not stored: they follow from the prompt.
 *
 * A token that is only part of a character has "\ufffd" for text. Read from the left, the prompt's
 * bytes are shared out so that each share has its token's text; where that fails, the text is all
 * that is known.
 */
function promptTokensOf({prompt, prompt_tokens}: TraceAnswer): readonly Token[] {
  const lengths = shareOut(
    utf8(prompt),
    prompt_tokens.map(({token}) => token),
  );
  let at = 0;
  const bytes = utf8(prompt);
  return prompt_tokens.map(({token_id, token}, index) => {
    const length = lengths?.[index];
    const own = length === undefined ? utf8(token) : bytes.slice(at, at + length);
    at += own.length;
    return {token_id, token, bytes: own, special: false};
  });
}

const LENIENT = new TextDecoder("utf-8", {ignoreBOM: true});

/** How many of the bytes each text has, from the left; null where they do not come out even. */
function shareOut(bytes: readonly number[], texts: readonly string[]): readonly number[] | null {
  const all = Uint8Array.from(bytes);
  const hopeless = new Set<string>();
  const from = (index: number, at: number): number[] | null => {
    const text = texts[index];
    if (text === undefined) return at === all.length ? [] : null;
    const place = `${index} ${at}`;
    if (hopeless.has(place)) return null;
    for (const length of lengthsOf(text)) {
      if (at + length > all.length) break;
      if (LENIENT.decode(all.subarray(at, at + length)) !== text) continue;
      const rest = from(index + 1, at + length);
      if (rest) return [length, ...rest];
    }
    hopeless.add(place);
    return null;
  };
  return from(0, 0);
}

/** How many bytes a text may have been: one length, if no character of it was broken. */
function lengthsOf(text: string): readonly number[] {
  if (!text.includes("\ufffd")) return [utf8(text).length];
  return Array.from({length: utf8(text).length}, (_, index) => index + 1);
}
