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
  /** Of the prompt's tokens that are only part of a character: hex digits, in their order. */
  readonly prompt_bytes: readonly string[];
  readonly versions: Readonly<Record<string, string>>;
}

export interface Stored {
  readonly trace: TraceAnswer;
  /** null in a file that was saved from the live page. */
  readonly provenance: Provenance | null;
  /** In a file alone: as in the provenance. */
  readonly prompt_bytes?: readonly string[];
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
export function traceOf(stored: Stored, seed: string | null): Trace {
  const {trace: answer, provenance} = stored;
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
    promptTokens: promptTokensOf(answer, provenance?.prompt_bytes ?? stored.prompt_bytes ?? []),
    promptScores: [],
    steps,
    labs: steps.map(() => null),
    answer,
    receipt: null,
    problem: null,
  };
}

/**
 * The prompt's tokens with their bytes.
 *
 * A token that is only part of a character has "\ufffd" for text; those have their bytes stored.
 */
function promptTokensOf({prompt_tokens}: TraceAnswer, broken: readonly string[]): readonly Token[] {
  const left = [...broken];
  return prompt_tokens.map(({token_id, token}) => {
    const digits = token.includes("\ufffd") ? left.shift() : undefined;
    return {token_id, token, bytes: digits ? bytesOfHex(digits) : utf8(token), special: false};
  });
}

/** What `promptTokensOf` needs to have the bytes again. */
export function brokenBytes(tokens: readonly Token[]): readonly string[] {
  const broken = tokens.filter(({token}) => token.includes("\ufffd"));
  return broken.map(({bytes}) => bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(""));
}

function bytesOfHex(digits: string): readonly number[] {
  return (digits.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
}
