/** Several traces of one prompt, each grown from another at one step: a tree. */

import type {TraceStep} from "../wire";
import type {Trace} from "./trace";

/** The most paths that one page holds. */
export const MOST_PATHS = 40;

export interface Branch {
  readonly id: string;
  readonly trace: Trace;
  /** The branch on which it was asked for; null for one that began at the prompt. */
  readonly parent: string | null;
  /** The step at which it was asked for; 0 for one that began at the prompt. */
  readonly fork: number;
}

export interface Node {
  readonly branch: Branch;
  /** The first step that the path above it does not have; 0 at the top. */
  readonly leaves: number;
  readonly children: readonly Node[];
}

/**
 * Each path under the earlier one with which it shares most tokens from the start.
 *
 * That is where it truly leaves, wherever it was asked for: two that leave a path at the same step
 * stand side by side. Paths that were each run from the prompt stand apart, with what grew from
 * them, for their settings differ.
 */
export function treeOf(branches: readonly Branch[]): readonly Node[] {
  const tops = branches.map((branch) => topOf(branch, branches));
  const placed = branches.map((branch, index) =>
    placeOf(
      branch,
      tops[index] === branch
        ? []
        : branches.slice(0, index).filter((_, i) => tops[i] === tops[index]),
    ),
  );
  const under = (parent: Branch | null): readonly Node[] =>
    placed
      .filter((each) => each.above === parent)
      .map(({branch, leaves}) => ({branch, leaves, children: under(branch)}));
  return under(null);
}

interface Place {
  readonly branch: Branch;
  readonly above: Branch | null;
  readonly leaves: number;
}

/** Under one of the paths that it may have left; at the top if there is none. */
function placeOf(branch: Branch, earlier: readonly Branch[]): Place {
  return earlier.reduce<Place>(
    (best, above) => {
      const leaves = sharedSteps(above.trace.steps, branch.trace.steps);
      return best.above === null || leaves > best.leaves ? {branch, above, leaves} : best;
    },
    {branch, above: null, leaves: 0},
  );
}

/** The run from the prompt from which a branch came, by however many others. */
function topOf(branch: Branch, branches: readonly Branch[]): Branch {
  const above = branches.find(({id}) => id === branch.parent);
  return above ? topOf(above, branches) : branch;
}

/** How many steps from the start chose the same tokens. */
function sharedSteps(a: readonly TraceStep[], b: readonly TraceStep[]): number {
  const differs = b.findIndex((step, i) => step.selected_token_id !== a[i]?.selected_token_id);
  return differs < 0 ? b.length : differs;
}

/** A stretch of a path as it is shown. */
export interface Piece {
  readonly bytes: readonly number[];
  readonly special: boolean;
}

/** Steps as text, whose characters may be split over tokens, with control tokens by themselves. */
export function piecesOf(steps: readonly TraceStep[]): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const {analysis} of steps) {
    const {selected_bytes: bytes, special} = analysis;
    const last = pieces.at(-1);
    if (last && !last.special && !special) {
      pieces[pieces.length - 1] = {bytes: [...last.bytes, ...bytes], special};
    } else {
      pieces.push({bytes, special});
    }
  }
  return pieces;
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
