/** A whole run in a few numbers. */

import type {TraceStep} from "../wire";
import {jointBits} from "./branches";

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
  /** From the request to the first token: waiting and reading the whole prompt. */
  readonly firstTokenMs: number;
  /** Mean of the steps after the first that were drawn; null where there were none. */
  readonly laterTokenMs: number | null;
}

/** Of at least one step. */
export function summaryOf(steps: readonly TraceStep[]): Summary {
  const joint = jointBits(steps);
  const entropies = steps.map(({analysis}) => analysis.entropy_bits);
  const later = steps.slice(1).filter(({analysis}) => !analysis.forced);
  return {
    tokens: steps.length,
    forced: steps.filter(({analysis}) => analysis.forced).length,
    jointBits: joint,
    meanSurprisalBits: joint / steps.length,
    perplexity: 2 ** (joint / steps.length),
    meanEntropyBits: mean(entropies),
    mostOpen: entropies.indexOf(Math.max(...entropies)),
    firstTokenMs: steps[0]?.elapsed_ms ?? 0,
    laterTokenMs: later.length > 0 ? mean(later.map((step) => step.step_ms)) : null,
  };
}

/** As many equally likely tokens would be as hard to foresee. */
export function effectiveChoices(entropyBits: number): number {
  return 2 ** entropyBits;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
