import {useState} from "preact/hooks";

import {SaveDialog} from "../export/SaveDialog";
import type {SavedTrace} from "../export/record";
import type {Trace} from "../domain/trace";
import {exactJson} from "./exact";
import {brokenBytes} from "./stored";
import {ShareDialog} from "./ShareDialog";
import {share, type SharedLinks} from "./store";

interface Props {
  readonly trace: Trace;
  readonly step: number;
  /** When and where it was made; asked when a dialogue opens. */
  readonly made: () => Pick<SavedTrace, "at" | "url" | "provenance">;
  /** For how many days the server keeps what is shared; null where it keeps nothing. */
  readonly days: number | null;
  readonly isFile: boolean;
}

/** Share it, save it: of a trace that has come to its end. */
export function KeepBar({trace, step, made, days, isFile}: Props) {
  const [open, setOpen] = useState<"share" | "save" | null>(null);
  const [shared, setShared] = useState<Readonly<Record<string, SharedLinks>>>({});
  const {answer, receipt, start} = trace;
  if (!answer) return null;
  const links = shared[start.id] ?? null;
  const {seed} = start.settings;
  const store = async () => {
    const sharing = await share(exactJson(answer, seed), receipt ?? "");
    if (sharing.is === "shared") setShared((all) => ({...all, [start.id]: sharing.links}));
    return sharing;
  };
  const close = () => setOpen(null);
  const saved = (): SavedTrace => ({
    answer,
    seed,
    promptBytes: brokenBytes(trace.promptTokens),
    ...made(),
    ...(links && {url: links.url}),
  });
  return (
    <div class="keeping" role="group" aria-label="Keep this trace">
      {days !== null && receipt !== null && (
        <button type="button" class="quiet" aria-haspopup="dialog" onClick={() => setOpen("share")}>
          Share this trace
        </button>
      )}
      <button type="button" class="quiet" aria-haspopup="dialog" onClick={() => setOpen("save")}>
        Save or cite
      </button>
      {open === "share" && (
        <ShareDialog days={days ?? 0} links={links} onShare={store} onClose={close} />
      )}
      {open === "save" && (
        <SaveDialog saved={saved()} step={step} isFile={isFile} onClose={close} />
      )}
    </div>
  );
}
