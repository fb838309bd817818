import {plural} from "../domain/format";
import type {Trace} from "../domain/trace";
import type {Hello} from "../wire";

interface Props {
  readonly trace: Trace;
  /** What the server said of itself; null while there is no connection. */
  readonly hello: Hello | null;
  readonly onStop: () => void;
}

/** Where a run stands while it is on. */
export function RunStatus({trace, hello, onStop}: Props) {
  const most = trace.start.settings.max_new_tokens;
  return (
    <div class="progress">
      <p>{words(trace, hello)}</p>
      <progress
        aria-label="Tokens drawn"
        max={most}
        {...(trace.status === "running" && {value: trace.steps.length})}
      />
      <button type="button" class="quiet" onClick={onStop}>
        Stop <span class="unseen">this run</span>
      </button>
    </div>
  );
}

function words({status, position, steps, start}: Trace, hello: Hello | null): string {
  switch (status) {
    case "unsent":
      return hello ? "Waiting for the model: it starts by itself…" : "Waiting for the connection…";
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
