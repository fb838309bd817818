/** A whole run in a few numbers. */

import type {TraceStep} from "../wire";
import {jointBits} from "./branches";
import {milliseconds} from "./format";

export interface Summary {
  readonly tokens: number;
  readonly forced: number;
  readonly jointBits: number;
  readonly meanSurprisalBits: number;
  /** 2 to the mean surprisal: as many equally likely tokens would have surprised as much. */
  readonly perplexity: number;
  readonly meanEntropyBits: number;
  /** The step at which the model hesitated most. */
  readonly mostOpen: number;
  /** From the request to the first token that was drawn; null where all were given. */
  readonly firstTokenMs: number | null;
  /** Mean of the steps that were drawn after that one; null where there were none. */
  readonly laterTokenMs: number | null;
}

/** Of at least one step. */
export function summaryOf(steps: readonly TraceStep[]): Summary {
  const joint = jointBits(steps);
  const entropies = steps.map(({analysis}) => analysis.entropy_bits);
  const [first, ...later] = steps.filter(({analysis}) => !analysis.forced);
  return {
    tokens: steps.length,
    forced: steps.filter(({analysis}) => analysis.forced).length,
    jointBits: joint,
    meanSurprisalBits: joint / steps.length,
    perplexity: 2 ** (joint / steps.length),
    meanEntropyBits: mean(entropies),
    mostOpen: entropies.indexOf(Math.max(...entropies)),
    firstTokenMs: first?.elapsed_ms ?? null,
    laterTokenMs: later.length > 0 ? mean(later.map((step) => step.step_ms)) : null,
  };
}

/** As many equally likely tokens would be as hard to foresee. */
export function effectiveChoices(entropyBits: number): number {
  return 2 ** entropyBits;
}

/** How long a step took. Given tokens are read together, so that no one of them has a time. */
export function timeOf({step_ms, analysis}: TraceStep): string {
  return analysis.forced ? "given, not timed" : milliseconds(step_ms);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
