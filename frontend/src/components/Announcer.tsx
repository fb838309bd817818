import {plural} from "../domain/format";
import {textOf, type Trace} from "../domain/trace";

/** Tells a screen reader that a run began and that it ended; not each token. */
export function Announcer({trace}: {readonly trace: Trace | null}) {
  return (
    <p class="unseen" role="status">
      {trace && words(trace)}
    </p>
  );
}

function words(trace: Trace): string {
  switch (trace.status) {
    case "finished":
      return `Trace finished: ${plural(trace.steps.length, "token")}: ${textOf(trace.steps)}`;
    case "stopped":
      return "Trace stopped.";
    case "interrupted":
      return "The connection was lost; the steps so far stay.";
    case "failed":
      return "";
    default:
      return "Tracing.";
  }
}
