import type {Problem} from "../domain/problems";
import type {ModelEntry} from "../wire";

interface ModelProps {
  readonly model: Pick<ModelEntry, "alias" | "repository"> | null;
  readonly ready: boolean;
}

/** Which model answers, or that it is still being loaded. */
export function ModelLine({model, ready}: ModelProps) {
  if (ready && model) {
    return (
      <p class="model">
        Model: <strong>{model.alias}</strong> (<span class="repository">{model.repository}</span>).
      </p>
    );
  }
  return (
    <p class="notice">
      <strong>The model {model?.alias ?? ""} is loading.</strong> That takes from a few seconds to a
      minute. Write your prompt meanwhile, and press Run: it starts by itself once the model is
      ready.
    </p>
  );
}

interface ConnectionProps {
  readonly isMissing: boolean;
  readonly met: boolean;
  readonly onRetry: () => void;
  readonly onPost: () => void;
}

/** Says that there is no connection, and what still works. */
export function ConnectionNotice({isMissing, met, onRetry, onPost}: ConnectionProps) {
  if (!isMissing) return null;
  return (
    <div class="notice connection" role="status">
      <p>
        <strong>{met ? "The connection to the server was lost." : "No connection yet."}</strong> The
        page tries again by itself, and keeps what is on it.
      </p>
      <p class="action">
        <button type="button" class="quiet" onClick={onRetry}>
          Connect now
        </button>
        <button type="button" class="quiet" onClick={onPost}>
          Trace without the live connection
        </button>
      </p>
    </div>
  );
}

/** An error: what happened, and what to do next. */
export function ProblemNotice({problem}: {readonly problem: Problem}) {
  return (
    <div class="problem" role="alert">
      <h2>{problem.title}</h2>
      <p>{problem.text}</p>
      <p>
        {problem.next}
        {problem.field && (
          <>
            {" "}
            <a href={`#${problem.field}`}>To the field</a>
          </>
        )}
      </p>
    </div>
  );
}
