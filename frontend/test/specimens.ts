/** Small values to test with, whose numbers a reader can check. */

import type {Lab, Start, TraceStep} from "../src/wire";
import {utf8} from "../src/domain/tokens";

export const START: Start = {
  type: "start",
  id: "r1",
  prompt: "The moon is",
  settings: {max_new_tokens: 3, top_k: 2, temperature: 1, top_p: 1, seed: "7"},
  forced: [],
  score_prompt: false,
};

interface Shown {
  readonly id?: number;
  readonly rank?: number;
  readonly probability?: number;
  readonly alternatives?: readonly (readonly [id: number, text: string, probability: number])[];
  readonly entropy?: number;
  readonly forced?: boolean;
  readonly special?: boolean;
  readonly bytes?: readonly number[];
  readonly ms?: number;
  readonly kept?: number;
}

/** A step that chose `text`; half probable and first unless said otherwise. */
export function stepOf(index: number, text: string, shown: Shown = {}): TraceStep {
  const {id = index + 10, rank = 0, probability = 0.5, alternatives = []} = shown;
  const listed = alternatives.reduce((sum, [, , each]) => sum + each, probability);
  return {
    step: index,
    selected_token: text,
    selected_token_id: id,
    selected_probability: probability,
    alternatives: alternatives.map(([token_id, token, each]) => ({
      token_id,
      token,
      probability: each,
    })),
    step_ms: shown.ms ?? 10,
    elapsed_ms: 10 * (index + 1),
    analysis: {
      selected_rank: rank,
      selected_bytes: shown.bytes ?? utf8(text),
      alternative_bytes: alternatives.map(([, token]) => utf8(token)),
      surprisal_bits: -Math.log2(probability),
      entropy_bits: shown.entropy ?? 1,
      sampling_probability: probability,
      nucleus_size: shown.kept ?? 100,
      remainder: {mass: 1 - listed, tokens: 100 - 1 - alternatives.length},
      special: shown.special ?? false,
      forced: shown.forced ?? false,
      draw: {u: 0.25, lower: 0, upper: probability},
    },
  };
}

/** A distribution of singly listed tokens, and bins of [how many, probability of each]. */
export function labOf(
  top: readonly number[],
  tail: readonly (readonly [count: number, probability: number])[] = [],
): Lab {
  return {
    top: top.map((probability, index) => ({
      token_id: index,
      token: String.fromCharCode(97 + index),
      bytes: [97 + index],
      logprob: Math.log(probability),
    })),
    tail: tail.map(([count, probability]) => [count, Math.log(probability)] as const),
  };
}
