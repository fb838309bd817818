/** Two traces of one prompt side by side. */

import type {TraceStep} from "../wire";
import {jointBits} from "./branches";

export interface Pair {
  readonly index: number;
  readonly a: TraceStep | null;
  readonly b: TraceStep | null;
  /** Whether both chose the same token here. */
  readonly same: boolean;
}

export interface Comparison {
  readonly pairs: readonly Pair[];
  /** The first step at which they differ; null where neither ever does. */
  readonly divergence: number | null;
  /** Joint −log₂ probabilities over the steps that both have. */
  readonly common: {readonly steps: number; readonly aBits: number; readonly bBits: number};
}

export function compare(a: readonly TraceStep[], b: readonly TraceStep[]): Comparison {
  const pairs = Array.from({length: Math.max(a.length, b.length)}, (_, index): Pair => {
    const [left, right] = [a[index] ?? null, b[index] ?? null];
    const same = left !== null && left.selected_token_id === right?.selected_token_id;
    return {index, a: left, b: right, same};
  });
  const divergence = pairs.findIndex((pair) => !pair.same);
  const steps = Math.min(a.length, b.length);
  return {
    pairs,
    divergence: divergence < 0 ? null : divergence,
    common: {steps, aBits: jointBits(a.slice(0, steps)), bBits: jointBits(b.slice(0, steps))},
  };
}

/** What the other trace thought of this one's token at the step where they part, if it lists it. */
export function probabilityIn(step: TraceStep, tokenId: number): number | null {
  if (step.selected_token_id === tokenId) return step.selected_probability;
  return step.alternatives.find((each) => each.token_id === tokenId)?.probability ?? null;
}
