import {forcedAt, type Branch} from "../domain/branches";
import {isFull} from "../domain/explorer";
import {nextRunId} from "./runIds";
import type {Reading} from "./useLive";

/** Start a branch at the inspected step, with another token in its place. */
export function useBranching({explorer, dispatch}: Reading, branch: Branch) {
  return (tokenId: number) => {
    if (isFull(explorer)) return document.getElementById("tree-full")?.focus();
    const start = {
      ...branch.trace.start,
      id: nextRunId(),
      forced: forcedAt(branch.trace, explorer.step, tokenId),
      score_prompt: false,
    };
    dispatch({type: "branch", start, parent: branch.id, fork: explorer.step});
    // The button that was pressed goes: its token is the chosen one now.
    document.getElementById("trace")?.focus({preventScroll: true});
  };
}
