/**
 * The booth: what it shows, and how each turn of events changes that.
 *
 * Pure, and its own clock: whatever is to happen by itself happens when the time of an event has
 * come to `due`. Every phase has one, or is `choosing`, so that nothing ends in a dead end.
 */

import {problemOf} from "../domain/problems";
import type {ErrorFrame, RunFrame, Start} from "../wire";
import {nearest} from "./nearest";
import type {Recording} from "./page";
import {
  beatMs,
  completed,
  hasMore,
  insteadOf,
  isOver,
  newShow,
  nextBeat,
  withStep,
  type Show,
} from "./show";

/** Without a touch for this long, the booth forgets the visitor and shows what it has. */
export const IDLE_MS = 60_000;
/** A run that gives no step for this long is too slow to wait for. */
export const SLOW_MS = 6_000;
/** Between two traces of the idle loop. */
export const BETWEEN_MS = 5_000;
/** For a message that needs reading, before the start comes back. */
export const MESSAGE_MS = 15_000;

/** Why a prepared trace is shown in the place of a live one. */
export type Why = "loading" | "busy" | "slow" | "gone" | "failed";

/** ready: it would take a run now. */
export type Link = "connecting" | "loading" | "ready" | "lost";

export interface Run {
  readonly start: Start;
  /** Typed by a visitor, not chosen from the buttons. */
  readonly typed: boolean;
  readonly sent: boolean;
  /** In the queue: 1 is next. */
  readonly position: number | null;
}

interface Base {
  readonly link: Link;
  /** When the next thing happens by itself, in milliseconds; null where nothing does. */
  readonly due: number | null;
}

export type Choosing = Base & {readonly phase: "choosing"};
export type Idle = Base & {
  readonly phase: "idle";
  readonly recording: Recording;
  readonly show: Show;
};
export type Waiting = Base & {readonly phase: "live"; readonly run: Run};
export type Playing = Base & {readonly phase: "playing"; readonly run: Run; readonly show: Show};
export type PreparedShow = Base & {
  readonly phase: "prepared";
  readonly recording: Recording;
  readonly why: Why;
  /** Whether the prompt that was asked for is another one. */
  readonly stands_in: boolean;
  readonly show: Show;
};
export type Recovering = Base & {readonly phase: "recovering"; readonly message: string};
export type Booth = Choosing | Idle | Waiting | Playing | PreparedShow | Recovering;

export type Act =
  | {readonly type: "time"}
  | {readonly type: "touch"}
  /** A touch that ends the idle loop, and does nothing else. */
  | {readonly type: "wake"}
  | {readonly type: "choose"; readonly start: Start; readonly typed: boolean}
  | {readonly type: "sent"; readonly id: string}
  | {readonly type: "reset"}
  | {readonly type: "again"}
  | {readonly type: "pause"}
  | {readonly type: "resume"}
  | {readonly type: "link"; readonly link: Link}
  | {readonly type: "frame"; readonly frame: RunFrame | ErrorFrame};

export type Timed = Act & {readonly now: number};
export type Recordings = readonly Recording[];

/** The booth as it starts, and as it is after Reset: nothing of a visitor is left. */
export function atStart(link: Link, now: number, recordings: Recordings): Choosing {
  return {phase: "choosing", link, due: recordings.length > 0 ? now + IDLE_MS : null};
}

/** The reducer of a booth with these recordings. */
export function boothWith(recordings: Recordings): (booth: Booth, act: Timed) => Booth {
  return (booth, act) => {
    const {now} = act;
    switch (act.type) {
      case "time":
        return booth.due !== null && now >= booth.due ? timePassed(booth, now, recordings) : booth;
      case "touch":
        return touched(booth, now);
      case "wake":
        return booth.phase === "idle" ? atStart(booth.link, now, recordings) : booth;
      case "reset":
        return atStart(booth.link, now, recordings);
      case "choose":
        return chosen(booth, act, now, recordings);
      case "sent":
        if (booth.phase !== "live" || booth.run.start.id !== act.id) return booth;
        return {...booth, run: {...booth.run, sent: true}};
      case "again":
        if (!("show" in booth)) return booth;
        return playing(booth, {...booth.show, beat: 0, paused: false}, now);
      case "pause":
      case "resume":
        if (!("show" in booth)) return booth;
        return playing(booth, {...booth.show, paused: act.type === "pause"}, now);
      case "link":
        return linked({...booth, link: act.link}, now, recordings);
      case "frame":
        return framed(booth, act.frame, now, recordings);
    }
  };
}

/** The run of which frames may still come. */
export function openRun(booth: Booth): Run | null {
  if (booth.phase === "live") return booth.run;
  return booth.phase === "playing" && !booth.show.whole ? booth.run : null;
}

function chosen(
  booth: Booth,
  {start, typed}: {readonly start: Start; readonly typed: boolean},
  now: number,
  recordings: Recordings,
): Booth {
  const run: Run = {start, typed, sent: false, position: null};
  const live: Waiting = {phase: "live", link: booth.link, due: now + SLOW_MS, run};
  return linked(live, now, recordings);
}

/** What a change of the connection does to a run that needs it. */
function linked(booth: Booth, now: number, recordings: Recordings): Booth {
  const run = openRun(booth);
  if (!run) return booth;
  if (booth.link === "lost") return prepared(booth, run, "gone", now, recordings);
  if (booth.link === "loading") return prepared(booth, run, "loading", now, recordings);
  return booth;
}

function framed(
  booth: Booth,
  frame: RunFrame | ErrorFrame,
  now: number,
  recordings: Recordings,
): Booth {
  const run = openRun(booth);
  // One without an id is about whatever was sent last.
  if (!run || (frame.id !== run.start.id && frame.id !== null)) return booth;
  switch (frame.type) {
    case "queued":
      if (booth.phase !== "live") return booth;
      return {...booth, run: {...run, position: frame.position}};
    case "step": {
      if (booth.phase !== "playing") {
        const show = withStep(newShow(run.start.prompt, [], false), frame.step);
        const from: Playing = {phase: "playing", link: booth.link, due: null, run, show};
        return playing(from, nextBeat(show), now);
      }
      const show = withStep(booth.show, frame.step);
      if (booth.due === null || booth.show.paused || hasMore(booth.show)) return {...booth, show};
      // It was waited for, and is shown once the beat before it has had its time.
      return {...booth, show, due: Math.max(now, booth.due - SLOW_MS)};
    }
    case "finished":
      if (booth.phase !== "playing") return prepared(booth, run, "failed", now, recordings);
      return playing(booth, completed(booth.show, frame.trace.steps), now, booth.due);
    case "stopped":
      return prepared(booth, run, "failed", now, recordings);
    case "error":
      return refused(booth, run, frame, now, recordings);
    default:
      return booth;
  }
}

const WHY: Readonly<Record<string, Why>> = {
  busy: "busy",
  rate_limited: "busy",
  not_ready: "loading",
  timeout: "slow",
};
/** Faults of what was typed: no other trace would answer them. */
const OF_PROMPT = new Set(["invalid_request", "prompt_too_long", "payload_too_large"]);

function refused(
  booth: Booth,
  run: Run,
  error: ErrorFrame,
  now: number,
  recordings: Recordings,
): Booth {
  if (run.typed && OF_PROMPT.has(error.code)) {
    const {title, text} = problemOf(error);
    return recovering(booth, `${title}. ${text}`, now);
  }
  return prepared(booth, run, WHY[error.code] ?? "failed", now, recordings);
}

function prepared(
  booth: Booth,
  run: Run,
  why: Why,
  now: number,
  recordings: Recordings,
): PreparedShow | Recovering {
  const {prompt} = run.start;
  const recording = nearest(prompt, recordings);
  if (!recording) return recovering(booth, MESSAGES[why], now);
  const {trace} = recording;
  const before = booth.phase === "playing" ? booth.show : newShow(prompt, [], false);
  const show = insteadOf(before, trace.prompt, trace.steps);
  const stands_in = trace.prompt !== prompt;
  const from: PreparedShow = {
    phase: "prepared",
    link: booth.link,
    due: null,
    recording,
    why,
    stands_in,
    show,
  };
  return playing(from, show, now);
}

/** Without a recording to show instead: what is the matter, and then the start again. */
const MESSAGES: Readonly<Record<Why, string>> = {
  loading: "The model is still loading. Try again in a minute.",
  busy: "Too many people are asking the model. Try again in a moment.",
  slow: "The model is too busy to answer now. Try again in a moment.",
  gone: "The model cannot be reached now. It comes back by itself.",
  failed: "The model did not answer. Try again.",
};

function recovering({link}: Booth, message: string, now: number): Recovering {
  return {phase: "recovering", link, due: now + MESSAGE_MS, message};
}

function touched(booth: Booth, now: number): Booth {
  if (booth.due === null || booth.phase === "idle" || booth.phase === "live") return booth;
  if (booth.phase === "choosing") return {...booth, due: now + IDLE_MS};
  if (booth.phase === "recovering") return {...booth, due: now + MESSAGE_MS};
  const rests = booth.show.paused || isOver(booth.show);
  return rests ? {...booth, due: now + IDLE_MS} : booth;
}

function timePassed(booth: Booth, now: number, recordings: Recordings): Booth {
  switch (booth.phase) {
    case "choosing":
      return idle(booth.link, recordings[0], now) ?? booth;
    case "live":
      return prepared(booth, booth.run, booth.run.position ? "busy" : "slow", now, recordings);
    case "recovering":
      return atStart(booth.link, now, recordings);
    case "idle":
      if (hasMore(booth.show)) return playing(booth, nextBeat(booth.show), now);
      return idle(booth.link, after(booth.recording, recordings), now) ?? booth;
    case "playing":
    case "prepared":
      // Nobody has touched it for long.
      if (booth.show.paused || isOver(booth.show)) {
        return idle(booth.link, recordings[0], now) ?? atStart(booth.link, now, recordings);
      }
      if (hasMore(booth.show)) return playing(booth, nextBeat(booth.show), now);
      return booth.phase === "playing"
        ? prepared(booth, booth.run, "slow", now, recordings)
        : booth;
  }
}

/** The booth with a show as it now is, and the time at which it goes on. */
function playing<Phase extends Idle | Playing | PreparedShow>(
  booth: Phase,
  show: Show,
  now: number,
  due: number | null = null,
): Phase {
  const rest = booth.phase === "idle" ? BETWEEN_MS : IDLE_MS;
  if (show.paused || isOver(show)) return {...booth, show, due: now + rest};
  // A beat that was under way keeps its time.
  if (hasMore(show)) return {...booth, show, due: due ?? now + beatMs(show)};
  // All that has come is shown: the last beat stays, and the next step may come late.
  return {...booth, show, due: now + beatMs(show) + SLOW_MS};
}

function idle(link: Link, recording: Recording | undefined, now: number): Idle | null {
  if (!recording) return null;
  const {prompt, steps} = recording.trace;
  const show = newShow(prompt, steps, true);
  return playing({phase: "idle", link, due: null, recording, show}, show, now);
}

function after(recording: Recording, recordings: Recordings): Recording | undefined {
  return recordings[(recordings.indexOf(recording) + 1) % recordings.length];
}
