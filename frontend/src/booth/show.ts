/** A trace that plays itself, each step in two beats: what could come, then what was chosen. */

import type {TraceStep} from "../wire";

export interface Show {
  readonly prompt: string;
  readonly steps: readonly TraceStep[];
  /** Whether all of its steps are there. */
  readonly whole: boolean;
  /** Whether the model itself ended the text. */
  readonly ended: boolean;
  /** Beats that were shown; the first beat of step n is 2n + 1. */
  readonly beat: number;
  readonly paused: boolean;
}

/** How long a beat stays: long enough to read five bars from afar, then one word. */
export const WEIGH_MS = 1100;
export const CHOSEN_MS = 900;

export function newShow(prompt: string, steps: readonly TraceStep[], whole: boolean): Show {
  return {prompt, steps, whole, ended: endsItself(steps, whole), beat: 0, paused: false};
}

export function withStep(show: Show, step: TraceStep): Show {
  return {...show, steps: [...show.steps.slice(0, step.step), step]};
}

export function completed(show: Show, steps: readonly TraceStep[]): Show {
  return {...show, steps, whole: true, ended: endsItself(steps, true)};
}

/** Whether there is a beat to show that is not shown. */
export function hasMore({beat, steps}: Show): boolean {
  return beat < 2 * steps.length;
}

export function isOver(show: Show): boolean {
  return show.whole && !hasMore(show);
}

export function nextBeat(show: Show): Show {
  return hasMore(show) ? {...show, beat: show.beat + 1} : show;
}

/** How long what is shown now stays, in milliseconds. */
export function beatMs({beat}: Show): number {
  return beat % 2 === 1 ? WEIGH_MS : CHOSEN_MS;
}

/** The step whose alternatives are shown; null before the first. */
export function stepShown({beat, steps}: Show): TraceStep | null {
  return steps[Math.ceil(beat / 2) - 1] ?? null;
}

/** Whether the token of that step is chosen by now. */
export function isChosen({beat}: Show): boolean {
  return beat > 0 && beat % 2 === 0;
}

/** The steps whose tokens are part of the text by now. */
export function stepsWritten({beat, steps}: Show): readonly TraceStep[] {
  return steps.slice(0, Math.floor(beat / 2));
}

/** Another trace in the place of this one, at the same beat where their texts agree so far. */
export function insteadOf(show: Show, prompt: string, steps: readonly TraceStep[]): Show {
  const seen = show.steps.slice(0, Math.ceil(show.beat / 2));
  const agrees =
    prompt === show.prompt &&
    seen.every((step, i) => step.selected_token_id === steps[i]?.selected_token_id);
  return {...newShow(prompt, steps, true), beat: agrees ? show.beat : 0, paused: show.paused};
}

function endsItself(steps: readonly TraceStep[], whole: boolean): boolean {
  return whole && (steps.at(-1)?.analysis.special ?? false);
}
