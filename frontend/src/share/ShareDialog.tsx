import {useState} from "preact/hooks";

import {plural} from "../domain/format";
import {iframeOf} from "../embed/snippet";
import {CopyRow} from "./CopyRow";
import {Dialog} from "./Dialog";
import type {SharedLinks, Sharing} from "./store";

interface Props {
  /** For how long the server keeps it. */
  readonly days: number;
  /** What sharing gave already. */
  readonly links: SharedLinks | null;
  readonly onShare: () => Promise<Sharing>;
  readonly onClose: () => void;
}

/** Stores a trace once that was asked for in full knowledge, and hands out its links. */
export function ShareDialog({days, links, onShare, onClose}: Props) {
  const [state, setState] = useState<"asking" | "sending" | {readonly why: string}>("asking");
  const send = async () => {
    setState("sending");
    const sharing = await onShare();
    setState(sharing.is === "refused" ? {why: sharing.why} : "asking");
  };
  return (
    <Dialog title="Share this trace" onClose={onClose}>
      {links ? (
        <Links links={links} />
      ) : (
        <>
          <p>
            This server will keep the prompt, the text, every step with its probabilities and how it
            was made, for {plural(days, "day")}, and whoever has the link can read it.
          </p>
          <p>It keeps nothing about you. Nothing is stored until you press the button.</p>
          <p class="action">
            <button
              type="button"
              aria-disabled={state === "sending"}
              onClick={() => state !== "sending" && void send()}
            >
              Store it and get a link
            </button>
          </p>
        </>
      )}
      <div role="status">
        {links && <p class="unseen">Stored. The link is ready to copy.</p>}
        {state === "sending" && <p>Storing…</p>}
      </div>
      {typeof state === "object" && !links && (
        <p class="problem" role="alert">
          {state.why}
        </p>
      )}
    </Dialog>
  );
}

function Links({links}: {readonly links: SharedLinks}) {
  const until = new Date(links.expires_at).toLocaleDateString("en-GB", {dateStyle: "long"});
  const embedded = new URL(links.url);
  embedded.pathname = `/embed${embedded.pathname}`;
  return (
    <>
      <p>
        <a href={links.url}>The trace has its own page</a> until {until}.
      </p>
      <CopyRow label="Link" text={links.url} />
      <CopyRow label="Link that deletes it" text={links.delete_url} />
      <p class="help">
        Keep that one to yourself, if you may want the trace gone: it is shown here alone, and
        forgotten when this page is closed, loaded again, or runs another prompt.
      </p>
      <CopyRow
        label="HTML of a frame"
        rows={4}
        text={iframeOf(embedded.href, "A trace of Token Trace")}
      />
    </>
  );
}
