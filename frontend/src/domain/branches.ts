/** Several traces of one prompt, each grown from another at one step: a tree. */

import type {TraceStep} from "../wire";
import {textOf, type Trace} from "./trace";

export interface Branch {
  readonly id: string;
  readonly trace: Trace;
  /** The branch that it left; null for one that began at the prompt. */
  readonly parent: string | null;
  /** The first step that is its own; 0 for one that began at the prompt. */
  readonly fork: number;
}

export interface Node {
  readonly branch: Branch;
  readonly children: readonly Node[];
}

export function treeOf(branches: readonly Branch[]): readonly Node[] {
  const under = (parent: string | null): readonly Node[] =>
    branches
      .filter((branch) => branch.parent === parent)
      .map((branch) => ({branch, children: under(branch.id)}));
  return under(null);
}

/** The text of a branch from where it left its parent. */
export function ownText({trace, fork}: Branch): string {
  return textOf(trace.steps.slice(fork));
}

/** −log₂ of the probability that the model gives to these tokens together, one after another. */
export function jointBits(steps: readonly TraceStep[]): number {
  return steps.reduce((sum, step) => sum + step.analysis.surprisal_bits, 0);
}

/** The tokens that a new branch begins with: all before a step, then another in its place. */
export function forcedAt(trace: Trace, step: number, tokenId: number): readonly number[] {
  return [...trace.steps.slice(0, step).map((each) => each.selected_token_id), tokenId];
}

/** A name for people: A, B, … Z, A2, … */
export function letterOf(index: number): string {
  const round = Math.floor(index / 26);
  return `${String.fromCharCode(65 + (index % 26))}${round > 0 ? round + 1 : ""}`;
}
