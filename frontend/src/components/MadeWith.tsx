import {plain, plural} from "../domain/format";
import type {Trace} from "../domain/trace";
import {traceBody, type Hello} from "../wire";

interface Props {
  readonly trace: Trace;
  readonly hello: Hello | null;
}

/** What is needed to get the same trace again. */
export function MadeWith({trace, hello}: Props) {
  const {prompt, settings, forced} = trace.start;
  const model = trace.answer?.model ?? hello?.model;
  const entry = hello?.model;
  return (
    <details class="fold made-with">
      <summary>How to repeat this run</summary>
      <dl class="facts made">
        <div>
          <dt>Settings</dt>
          <dd>
            {settings.temperature === 0
              ? "Greedy (temperature 0): top-p and seed have no effect."
              : `Drawn at temperature ${plain(settings.temperature)}, top-p ${plain(settings.top_p)}, ${
                  settings.seed === null
                    ? "without a seed: another run will differ."
                    : `seed ${settings.seed}: the same request gives the same tokens again on this server.`
                }`}{" "}
            At most {plural(settings.max_new_tokens, "token")}.
            {forced.length > 0 && ` It began with ${plural(forced.length, "given token")}.`}
          </dd>
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
            <code>POST /v1/traces</code>
            <pre tabIndex={0}>{traceBody(prompt, settings)}</pre>
          </dd>
        </div>
      </dl>
    </details>
  );
}
