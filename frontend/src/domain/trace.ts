/** What the page knows of one trace, and how each frame changes it. */

import type {
  ErrorFrame,
  Lab,
  RunFrame,
  Start,
  Token,
  TokenScore,
  TraceAnswer,
  TraceStep,
} from "../wire";

/**
 * unsent: to be sent when there is a connection and a model. waiting: sent, not yet answered.
 * interrupted: the connection broke while tokens came; what had come stays.
 */
export type Status =
  "unsent" | "waiting" | "queued" | "running" | "finished" | "stopped" | "failed" | "interrupted";

export interface Trace {
  readonly start: Start;
  readonly status: Status;
  /** In the queue: 1 is next. */
  readonly position: number | null;
  readonly promptTokens: readonly Token[];
  /** Empty where they were not asked for or have not come. */
  readonly promptScores: readonly (TokenScore | null)[];
  readonly steps: readonly TraceStep[];
  readonly labs: readonly (Lab | null)[];
  readonly answer: TraceAnswer | null;
  /** By which the server knows its own answer again; null without one. */
  readonly receipt: string | null;
  readonly problem: ErrorFrame | null;
}

export function newTrace(start: Start): Trace {
  return {
    start,
    status: "unsent",
    position: null,
    promptTokens: [],
    promptScores: [],
    steps: [],
    labs: [],
    answer: null,
    receipt: null,
    problem: null,
  };
}

export function applyFrame(trace: Trace, frame: RunFrame | ErrorFrame): Trace {
  switch (frame.type) {
    case "queued":
      return {...trace, status: "queued", position: frame.position};
    case "started":
      return {...trace, status: "running", position: null, promptTokens: frame.prompt_tokens};
    case "prompt_scores":
      return {...trace, promptScores: frame.scores};
    case "step":
      return {
        ...trace,
        status: "running",
        steps: placed(trace.steps, frame.step.step, frame.step),
        labs: placed(trace.labs, frame.step.step, frame.lab),
      };
    case "finished":
      return {
        ...trace,
        status: "finished",
        answer: frame.trace,
        receipt: frame.receipt,
        steps: frame.trace.steps,
      };
    case "stopped":
      return {...trace, status: "stopped"};
    case "error":
      return {...trace, status: "failed", position: null, problem: frame};
  }
}

/** The list with a value at a place: in place of the one that is there, or after the last. */
function placed<Value>(list: readonly Value[], place: number, value: Value): readonly Value[] {
  return [...list.slice(0, place), value, ...list.slice(place + 1)];
}

/** The trace once the connection broke: asked again if nothing had come, else cut short. */
export function disconnected(trace: Trace): Trace {
  if (trace.status === "waiting" || trace.status === "queued") {
    return {...trace, status: "unsent", position: null};
  }
  if (trace.status !== "running") return trace;
  return trace.steps.length === 0 ? {...newTrace(trace.start)} : {...trace, status: "interrupted"};
}

/** Whether frames may still come. */
export function isOn({status}: Trace): boolean {
  return status === "unsent" || status === "waiting" || status === "queued" || status === "running";
}

/** The measures of the token that a step chose. */
export function scoreOf(step: TraceStep): TokenScore {
  return {
    probability: step.selected_probability,
    rank: step.analysis.selected_rank,
    surprisal_bits: step.analysis.surprisal_bits,
    entropy_bits: step.analysis.entropy_bits,
  };
}

const LENIENT = new TextDecoder("utf-8", {ignoreBOM: true});

/** The text that steps add to the prompt; control tokens are no text. */
export function textOf(steps: readonly TraceStep[]): string {
  const bytes = steps.flatMap(({analysis}) => (analysis.special ? [] : analysis.selected_bytes));
  return LENIENT.decode(Uint8Array.from(bytes));
}
