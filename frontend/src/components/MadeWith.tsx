import {requestOf, settingsSaid} from "../domain/repeating";
import type {Trace} from "../domain/trace";
import type {Hello} from "../wire";

interface Props {
  readonly trace: Trace;
  readonly hello: Hello | null;
}

/** What is needed to get the same trace again. */
export function MadeWith({trace, hello}: Props) {
  const request = requestOf(trace.start);
  const model = trace.answer?.model ?? hello?.model;
  const entry = hello?.model;
  return (
    <details class="fold made-with">
      <summary>How to repeat this run</summary>
      <dl class="facts made">
        <div>
          <dt>Settings</dt>
          <dd>{settingsSaid(trace.start)}</dd>
        </div>
        {model && (
          <>
            <div>
              <dt>Model</dt>
              <dd>
                {model.alias}, <span class="repository">{model.repository}</span>
              </dd>
            </div>
            <div>
              <dt>Revision</dt>
              <dd>
                <code>{model.revision}</code>
              </dd>
            </div>
          </>
        )}
        {entry && (
          <div>
            <dt>Weights</dt>
            <dd>
              {entry.dtype}, run by {entry.engine} (SHA-256 <code>{entry.sha256}</code>)
            </dd>
          </div>
        )}
        {hello && (
          <div>
            <dt>Versions</dt>
            <dd>
              {Object.entries(hello.versions)
                .map(([name, version]) => `${name.replace("_", " ")} ${version}`)
                .join(", ")}
            </dd>
          </div>
        )}
        <div>
          <dt>The same as a request</dt>
          <dd>
            {request.note && <p>{request.note}</p>}
            <code>{request.to}</code>
            <pre tabIndex={0}>{request.text}</pre>
          </dd>
        </div>
      </dl>
    </details>
  );
}
