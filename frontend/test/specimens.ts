/** Small values to test with, whose numbers a reader can check. */

import type {Field, FieldName} from "../src/domain/fields";
import type {Lab, Start, TraceAnswer, TraceStep} from "../src/wire";
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

function fieldOf(
  name: FieldName,
  kind: Field["kind"],
  typed: string,
  minimum: number | null,
  maximum: number | null,
): Field {
  return {name, kind, label: name, help: "", must: "right", typed, minimum, maximum};
}

/** The form's fields, with the widest bounds that a server can have. */
export const FIELDS: readonly Field[] = [
  fieldOf("prompt", "prompt", "", 1, 1000),
  fieldOf("max_new_tokens", "integer", "16", 1, 32),
  fieldOf("top_k", "integer", "5", 1, 10),
  fieldOf("temperature", "number", "0", 0, 2),
  fieldOf("top_p", "number", "1", 0, 1),
  fieldOf("seed", "integer", "", null, null),
];

/** A whole trace of these steps. */
export function answerOf(
  steps: readonly TraceStep[],
  more: Partial<TraceAnswer> = {},
): TraceAnswer {
  return {
    schema_version: "1.0",
    model: {alias: "tiny", repository: "someone/tiny", revision: "0123456789abcdef"},
    prompt: START.prompt,
    prompt_tokens: [
      {token_id: 1, token: "The"},
      {token_id: 2, token: " moon"},
      {token_id: 3, token: " is"},
    ],
    generated_text: steps.map((step) => step.selected_token).join(""),
    steps,
    decoding: {
      method: "sample",
      temperature: 1,
      top_p: 1,
      seed: 7,
      probability_basis: "raw_softmax_logits",
    },
    timing: {prompt_tokenisation_ms: 1, first_step_ms: 10, total_trace_ms: 30},
    finish_reason: "length",
    ...more,
  };
}
