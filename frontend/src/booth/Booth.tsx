import {useEffect, useLayoutEffect, useRef} from "preact/hooks";

import {nextRunId} from "../components/runIds";
import type {Settings} from "../wire";
import {isOver, type Show} from "./show";
import type {Act, Booth as State} from "./machine";
import type {BoothPage, Recording} from "./page";
import {Stage} from "./Stage";
import {Start} from "./Start";
import {useBooth} from "./useBooth";
import {useFullscreen} from "./useFullscreen";
import {advice, announcement, dateOf, label, linkInWords, reason} from "./words";

/** The whole screen. */
export function Booth({page}: {readonly page: BoothPage}) {
  const {booth, act} = useBooth(page);
  const screen = useFullscreen();
  const top = useRef<HTMLDivElement>(null);
  const {phase} = booth;
  // What had the focus may be gone; the keys go on from the top of what came instead.
  useEffect(() => {
    if (document.activeElement === document.body) top.current?.focus({preventScroll: true});
  }, [phase]);
  return (
    <div class={`screen ${phase}`} ref={top} tabIndex={-1}>
      <header>
        <span class="brand">Token Trace</span>
        <span class={`link ${booth.link}`}>{linkInWords(booth.link)}</span>
        <span class="tools">
          {phase !== "choosing" && phase !== "idle" && (
            <button type="button" onClick={() => act({type: "reset"})}>
              Reset
            </button>
          )}
          {screen && (
            <button type="button" onClick={screen.toggle}>
              {screen.full ? "Leave full screen" : "Full screen"}
            </button>
          )}
        </span>
      </header>
      <p class="unseen" role="status">
        {announcement(booth, page)}
      </p>
      <Phase booth={booth} page={page} act={act} />
      {phase === "choosing" && advice(page) && <p class="advice">{advice(page)}</p>}
    </div>
  );
}

interface PhaseProps {
  readonly booth: State;
  readonly page: BoothPage;
  readonly act: (act: Act) => void;
}

function Phase({booth, page, act}: PhaseProps) {
  switch (booth.phase) {
    case "choosing": {
      const choose = (prompt: string, settings: Settings, typed: boolean) => {
        const start = {type: "start", id: nextRunId(), prompt, settings, forced: []} as const;
        act({type: "choose", start: {...start, score_prompt: false}, typed});
      };
      return <Start page={page} onChoose={choose} />;
    }
    case "idle":
      return <Loop recording={booth.recording} show={booth.show} page={page} act={act} />;
    case "live":
      return (
        <section class="stage">
          <p class="written" dir="auto">
            <span class="prompt">{booth.run.start.prompt}</span>
          </p>
          <h1 class="turn">
            {booth.run.position === null ? "Asking the model…" : "Waiting for the model…"}
          </h1>
        </section>
      );
    case "playing":
      return (
        <Stage show={booth.show} heading={<p class="label live">Live from the model</p>}>
          <Controls show={booth.show} act={act} />
        </Stage>
      );
    case "prepared":
      return (
        <Stage
          show={booth.show}
          heading={<Label recording={booth.recording} page={page} reason={reason(booth)} />}
        >
          <Controls show={booth.show} act={act} />
        </Stage>
      );
    case "recovering":
      return (
        <section class="message">
          <h1 class="turn">{booth.message}</h1>
          <p>
            <button type="button" onClick={() => act({type: "reset"})}>
              Back to the start
            </button>
          </p>
        </section>
      );
  }
}

function Controls({show, act}: {readonly show: Show; readonly act: (act: Act) => void}) {
  if (isOver(show)) {
    return (
      <button type="button" onClick={() => act({type: "again"})}>
        Play again
      </button>
    );
  }
  return (
    <button type="button" onClick={() => act({type: show.paused ? "resume" : "pause"})}>
      {show.paused ? "Go on" : "Pause"}
    </button>
  );
}

interface LabelProps {
  readonly recording: Recording;
  readonly page: BoothPage;
  readonly reason: string;
}

function Label({recording, page, reason}: LabelProps) {
  const {alias, revision} = recording.trace.model;
  return (
    <div class="label">
      <p>
        <strong>{label(recording, page)}</strong>
      </p>
      <p>
        {reason} Recorded on {dateOf(recording)} from {alias}, revision {revision.slice(0, 8)}.
      </p>
    </div>
  );
}

interface LoopProps {
  readonly recording: Recording;
  readonly show: Show;
  readonly page: BoothPage;
  readonly act: (act: Act) => void;
}

/** Prepared traces one after the other, until somebody touches the screen or presses a key. */
function Loop({recording, show, page, act}: LoopProps) {
  useLayoutEffect(() => {
    // As soon as it is seen, for a key that comes then is a visitor's too.
    const wake = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /^F\d+$/.test(event.key)) return;
      event.preventDefault(); // it is to press nothing on what comes instead
      act({type: "wake"});
    };
    window.addEventListener("keydown", wake);
    return () => window.removeEventListener("keydown", wake);
  }, []);
  return (
    <div class="loop" onClick={() => act({type: "wake"})}>
      <Stage show={show} heading={<Label recording={recording} page={page} reason="" />}>
        <button type="button">Touch the screen to try it yourself</button>
      </Stage>
    </div>
  );
}
