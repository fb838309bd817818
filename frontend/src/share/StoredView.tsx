import {useMemo, useReducer, useState} from "preact/hooks";

import {TraceView} from "../components/TraceView";
import {EMPTY, reduce, selectedBranch, type Explorer} from "../domain/explorer";
import type {Trace} from "../domain/trace";
import type {Place} from "../page";
import {KeepBar} from "./KeepBar";
import {PLAIN, writeLink} from "./link";
import {LinkNotice} from "./LinkNotice";
import {helloOf, traceOf, type Stored} from "./stored";
import {useLink} from "./useLink";

interface Props {
  readonly stored: Stored;
  readonly seed: string | null;
  readonly place: Place;
}

/** A trace to read and replay. It asks the server nothing. */
export function StoredView({stored, seed, place}: Props) {
  const trace = useMemo(() => traceOf(stored, seed), []);
  const hello = useMemo(() => helloOf(stored), []);
  const [explorer, dispatch] = useReducer(reduce, trace, opened);
  const link = useLink([]);
  const options = link?.options ?? PLAIN;
  const [measure, setMeasure] = useState(options.measure);
  const branch = selectedBranch(explorer);
  if (!branch) return null;
  const keeps = place !== "embed" && !options.hide.includes("share");
  return (
    <>
      <LinkNotice link={link} />
      <TraceView
        reading={{explorer, dispatch, hello}}
        live={null}
        branch={branch}
        hidden={options.hide}
        scrolls={false}
        notice={null}
        measure={measure}
        onMeasure={setMeasure}
        onStop={() => undefined}
        keeping={
          <div class="keeping">
            <RunLink trace={trace} stored={stored} place={place} />
            {keeps && (
              <KeepBar
                trace={trace}
                step={explorer.step}
                made={() => ({
                  at: stored.provenance?.made_at ?? stored.shared_at,
                  url: stored.url,
                  provenance: stored.provenance,
                })}
                days={null}
                isFile={place === "file"}
              />
            )}
          </div>
        }
      />
    </>
  );
}

function opened(trace: Trace): Explorer {
  const {id} = trace.start;
  const branches = [{id, trace, parent: null, fork: 0}];
  return {...EMPTY, branches, selected: id, following: false};
}

/** To the live page, with the same prompt and settings. */
function RunLink({
  trace,
  stored,
  place,
}: Pick<Props, "stored" | "place"> & {readonly trace: Trace}) {
  const {prompt, settings} = trace.start;
  const typed = {
    prompt,
    max_new_tokens: String(settings.max_new_tokens),
    top_k: String(settings.top_k),
    temperature: String(settings.temperature),
    top_p: String(settings.top_p),
    seed: settings.seed ?? "",
  };
  const base = new URL(stored.url, location.href);
  const home = new URL(`/#${writeLink({typed, options: PLAIN})}`, base);
  return (
    <a
      class="quiet"
      href={home.href}
      {...(place !== "page" && {target: "_blank", rel: "noopener"})}
    >
      Run it yourself
    </a>
  );
}
