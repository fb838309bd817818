/** All that the page knows, and how each act and each frame changes it. */

import type {ErrorFrame, RunFrame, Start} from "../wire";
import {MOST_PATHS, type Branch} from "./branches";
import {applyFrame, disconnected, isOn, newTrace, type Trace} from "./trace";

export interface Explorer {
  readonly branches: readonly Branch[];
  /** The branch that is read; null before the first run. */
  readonly selected: string | null;
  /** The branch beside it, if two are compared. */
  readonly compared: string | null;
  /** The step that is inspected. */
  readonly step: number;
  /** Whether the inspected step is to be the newest one, as they come. */
  readonly following: boolean;
  readonly playing: boolean;
}

export const EMPTY: Explorer = {
  branches: [],
  selected: null,
  compared: null,
  step: 0,
  following: true,
  playing: false,
};

export type Act =
  | {readonly type: "run"; readonly start: Start}
  | {
      readonly type: "branch";
      readonly start: Start;
      readonly parent: string;
      readonly fork: number;
    }
  | {readonly type: "sent"; readonly id: string}
  | {readonly type: "stop"; readonly id: string}
  | {readonly type: "frame"; readonly frame: RunFrame | (ErrorFrame & {readonly id: string})}
  | {readonly type: "disconnected"}
  | {readonly type: "select"; readonly id: string}
  | {readonly type: "compare"; readonly id: string | null}
  | {readonly type: "go"; readonly step: number}
  | {readonly type: "play"}
  | {readonly type: "pause"}
  | {readonly type: "tick"};

export function reduce(explorer: Explorer, act: Act): Explorer {
  switch (act.type) {
    case "run":
      return added(isFull(explorer) ? EMPTY : explorer, {
        start: act.start,
        parent: null,
        fork: 0,
      });
    case "branch":
      return isFull(explorer) ? explorer : added(explorer, act);
    case "sent":
      return changed(explorer, act.id, (trace) => ({...trace, status: "waiting"}));
    case "stop":
      return changed(explorer, act.id, (trace) =>
        trace.status === "unsent" ? {...trace, status: "stopped"} : trace,
      );
    case "frame":
      return followed(
        changed(explorer, act.frame.id, (trace) => applyFrame(trace, act.frame)),
        act.frame.id,
      );
    case "disconnected":
      return {
        ...explorer,
        branches: explorer.branches.map((each) => ({...each, trace: disconnected(each.trace)})),
      };
    case "select":
      return selected(explorer, act.id);
    case "compare":
      return {...explorer, compared: act.id === explorer.selected ? null : act.id};
    case "go":
      return {...explorer, step: bounded(explorer, act.step), following: false, playing: false};
    case "play":
      return {
        ...explorer,
        playing: true,
        following: false,
        step: explorer.step >= lastStep(explorer) ? 0 : explorer.step,
      };
    case "pause":
      return {...explorer, playing: false};
    case "tick":
      return ticked(explorer);
  }
}

export function selectedBranch({branches, selected}: Explorer): Branch | null {
  return branches.find(({id}) => id === selected) ?? null;
}

/** The trace of which frames may still come. */
export function runningTrace({branches}: Explorer): Trace | null {
  return branches.map(({trace}) => trace).find(isOn) ?? null;
}

/** Whether no other token can be followed. */
export function isFull({branches}: Explorer): boolean {
  return branches.length >= MOST_PATHS;
}

function added(
  explorer: Explorer,
  {start, parent, fork}: {start: Start; parent: string | null; fork: number},
): Explorer {
  const kept = explorer.branches.filter(
    ({trace}) => trace.start.prompt === start.prompt && trace.steps.length > 0,
  );
  const origin = kept.find(({id}) => id === parent)?.trace;
  // Shown until the server sends them again for this branch, with the token that it forces.
  const shared = origin && {
    promptTokens: origin.promptTokens,
    promptScores: origin.promptScores,
    steps: origin.steps.slice(0, fork),
    labs: origin.labs.slice(0, fork),
  };
  return {
    // A new run stops the one before it, which then keeps what it has.
    branches: [...kept, {id: start.id, trace: {...newTrace(start), ...shared}, parent, fork}],
    selected: start.id,
    compared: kept.some(({id}) => id === explorer.compared) ? explorer.compared : null,
    step: fork,
    following: true,
    playing: false,
  };
}

function changed(explorer: Explorer, id: string, change: (trace: Trace) => Trace): Explorer {
  return {
    ...explorer,
    branches: explorer.branches.map((branch) =>
      branch.id === id ? {...branch, trace: change(branch.trace)} : branch,
    ),
  };
}

/** The explorer at the newest step, while it follows; a new branch stays at its fork. */
function followed(explorer: Explorer, id: string): Explorer {
  const branch = selectedBranch(explorer);
  if (!explorer.following || branch?.id !== id || branch.parent !== null) return explorer;
  return {...explorer, step: lastStep(explorer)};
}

function selected(explorer: Explorer, id: string): Explorer {
  const at = {...explorer, selected: id, following: false, playing: false};
  const compared = explorer.compared === id ? explorer.selected : explorer.compared;
  return {...at, compared, step: bounded(at, explorer.step)};
}

function ticked(explorer: Explorer): Explorer {
  if (!explorer.playing) return explorer;
  const step = bounded(explorer, explorer.step + 1);
  return {...explorer, step, playing: step < lastStep(explorer)};
}

function lastStep(explorer: Explorer): number {
  return Math.max(0, (selectedBranch(explorer)?.trace.steps.length ?? 0) - 1);
}

function bounded(explorer: Explorer, step: number): number {
  return Math.max(0, Math.min(step, lastStep(explorer)));
}
