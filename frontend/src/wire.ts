/** The frames of the live socket: the twin of traceapp/wire/live.py. docs/live.md explains them. */

export interface Token {
  readonly token_id: number;
  readonly token: string;
  readonly bytes: readonly number[];
  readonly special: boolean;
}

export interface Alternative {
  readonly token_id: number;
  readonly token: string;
  readonly probability: number;
}

export interface DrawInterval {
  readonly u: number;
  readonly lower: number;
  readonly upper: number;
}

export interface Analysis {
  /** 0 is the most probable token. */
  readonly selected_rank: number;
  readonly selected_bytes: readonly number[];
  readonly alternative_bytes: readonly (readonly number[])[];
  readonly surprisal_bits: number;
  readonly entropy_bits: number;
  readonly sampling_probability: number;
  readonly nucleus_size: number;
  readonly remainder: {readonly mass: number; readonly tokens: number};
  readonly special: boolean;
  /** Given by the one who asked, not drawn. */
  readonly forced: boolean;
  readonly draw: DrawInterval | null;
}

export interface TraceStep {
  readonly step: number;
  readonly selected_token: string;
  readonly selected_token_id: number;
  readonly selected_probability: number;
  readonly alternatives: readonly Alternative[];
  readonly step_ms: number;
  readonly elapsed_ms: number;
  readonly analysis: Analysis;
}

export interface LabToken {
  readonly token_id: number;
  readonly token: string;
  readonly bytes: readonly number[];
  readonly logprob: number;
}

/** One step's whole distribution: the most probable tokens, and the rest in bins. */
export interface Lab {
  readonly top: readonly LabToken[];
  /** How many tokens, and the natural-log probability that stands for each of them. */
  readonly tail: readonly (readonly [count: number, logprob: number])[];
}

export interface TokenScore {
  readonly probability: number;
  readonly rank: number;
  readonly surprisal_bits: number;
  readonly entropy_bits: number;
}

export type FinishReason = "eos" | "length" | "stopped";

export interface TraceAnswer {
  readonly schema_version: string;
  readonly model: {readonly alias: string; readonly repository: string; readonly revision: string};
  readonly prompt: string;
  readonly prompt_tokens: readonly {readonly token_id: number; readonly token: string}[];
  readonly generated_text: string;
  readonly steps: readonly TraceStep[];
  readonly decoding: {
    readonly method: "greedy" | "sample";
    readonly temperature: number;
    readonly top_p: number;
    /** Past 2^53 the last digits are lost here: show what was typed instead. */
    readonly seed: number | null;
    readonly probability_basis: string;
  };
  readonly timing: {
    readonly prompt_tokenisation_ms: number;
    readonly first_step_ms: number;
    readonly total_trace_ms: number;
  };
  readonly finish_reason: FinishReason;
}

export interface ModelEntry {
  readonly alias: string;
  readonly repository: string;
  readonly revision: string;
  readonly source: "hub" | "embedded" | "local";
  readonly dtype: string;
  readonly sha256: string;
  readonly engine: string;
}

export interface Hello {
  readonly type: "hello";
  readonly model: ModelEntry | null;
  readonly limits: {readonly sharing: boolean; readonly sharing_days: number};
  readonly vocabulary: number;
  readonly ready: boolean;
  readonly versions: Readonly<Record<string, string>>;
}

export interface ErrorFrame {
  readonly type: "error";
  readonly id: string | null;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly retry_after: number | null;
}

/** What the server says about one run. */
export type RunFrame =
  | {readonly type: "queued"; readonly id: string; readonly position: number}
  | {readonly type: "started"; readonly id: string; readonly prompt_tokens: readonly Token[]}
  | {
      readonly type: "prompt_scores";
      readonly id: string;
      readonly scores: readonly (TokenScore | null)[];
    }
  | {
      readonly type: "step";
      readonly id: string;
      readonly step: TraceStep;
      readonly lab: Lab | null;
    }
  | {
      readonly type: "finished";
      readonly id: string;
      readonly trace: TraceAnswer;
      /** By which the server knows this trace again: it goes with the trace to be shared. */
      readonly receipt: string;
    }
  | {readonly type: "stopped"; readonly id: string};

export interface CountFrame {
  readonly type: "count";
  readonly id: string;
  readonly tokens: number;
  readonly limit: number;
}

export interface FoundFrame {
  readonly type: "found";
  readonly id: string;
  readonly tokens: readonly Token[];
}

export type ServerFrame = Hello | RunFrame | CountFrame | FoundFrame | ErrorFrame;

export interface Settings {
  readonly max_new_tokens: number;
  readonly top_k: number;
  readonly temperature: number;
  readonly top_p: number;
  /** As digits: a seed may have 63 bits, a JavaScript number holds 53. */
  readonly seed: string | null;
}

export interface Start {
  readonly type: "start";
  readonly id: string;
  readonly prompt: string;
  readonly settings: Settings;
  /** Tokens that the run must begin with. */
  readonly forced: readonly number[];
  readonly score_prompt: boolean;
}

export type ClientFrame =
  | Start
  | {readonly type: "stop"; readonly id: string}
  | {readonly type: "count"; readonly id: string; readonly prompt: string}
  | {readonly type: "find"; readonly id: string; readonly text: string};

/** A frame as the text that is sent. */
export function encode(frame: ClientFrame): string {
  if (frame.type !== "start") return JSON.stringify(frame);
  const {type, id, forced, score_prompt} = frame;
  const rest = JSON.stringify({type, id, forced, score_prompt, lab: true});
  return `${rest.slice(0, -1)},"trace":${traceBody(frame.prompt, frame.settings)}}`;
}

/** The body of POST /v1/traces. The seed's digits are written as they are. */
export function traceBody(prompt: string, {seed, ...settings}: Settings): string {
  return `${JSON.stringify({prompt, ...settings}).slice(0, -1)},"seed":${seed ?? "null"}}`;
}

/** A text from the server as a frame; the border at which JSON becomes typed. */
export function decode(text: string): ServerFrame {
  return JSON.parse(text) as ServerFrame;
}
