import {plural} from "../domain/format";
import type {Trace} from "../domain/trace";

interface Props {
  readonly trace: Trace;
  /** Whether the model is loaded. */
  readonly ready: boolean;
  readonly onStop: () => void;
}

/** Where a run stands while it is on. */
export function RunStatus({trace, ready, onStop}: Props) {
  const most = trace.start.settings.max_new_tokens;
  return (
    <div class="progress">
      <p>{words(trace, ready)}</p>
      <progress
        aria-label="Tokens drawn"
        max={most}
        {...(trace.status === "running" && {value: trace.steps.length})}
      />
      <button type="button" class="quiet" onClick={onStop}>
        Stop<span class="unseen"> this run</span>
      </button>
    </div>
  );
}

function words({status, position, steps, start}: Trace, ready: boolean): string {
  switch (status) {
    case "unsent":
      return ready ? "Waiting for the connection…" : "Waiting for the model: it starts by itself…";
    case "queued":
      return position === 1
        ? "You are next in the queue."
        : `You are number ${position ?? "?"} in the queue.`;
    case "running":
      return `${steps.length} of at most ${plural(start.settings.max_new_tokens, "token")}`;
    default:
      return "The model reads the prompt…";
  }
}
