import {useEffect, useRef, useState} from "preact/hooks";

import type {Act, Explorer} from "../domain/explorer";
import type {Measure} from "../domain/scales";
import {actOfKey} from "../domain/keys";
import {isOn, type Trace} from "../domain/trace";
import {Legend, MeasureSwitch} from "./Legend";
import {ReplayBar, SPEED_MS, type Speed} from "./ReplayBar";
import {ShortcutSheet} from "./ShortcutSheet";
import {TokenStrip} from "./TokenStrip";

interface Props {
  readonly trace: Trace;
  readonly explorer: Explorer;
  readonly measure: Measure;
  readonly onMeasure: (measure: Measure) => void;
  readonly dispatch: (act: Act) => void;
}

/** The text with its tokens, and the replay of how it came about; keys work all over it. */
export function Reader({trace, explorer, measure, onMeasure, dispatch}: Props) {
  const [speed, setSpeed] = useState<Speed>("normal");
  const sheet = useRef<HTMLDialogElement>(null);
  const {playing, step} = explorer;
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => dispatch({type: "tick"}), SPEED_MS[speed]);
    return () => clearInterval(timer);
  }, [playing, speed]);

  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (target.tagName === "INPUT" || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "?") sheet.current?.showModal();
    const onControl = target.closest("button:not(.tok), summary") !== null;
    const act = actOfKey(event.key, {explorer, steps: trace.steps.length, onControl});
    if (!act) return;
    event.preventDefault();
    dispatch(act);
  };
  return (
    <div class="reader" onKeyDown={onKeyDown}>
      <div class="reader-top">
        <MeasureSwitch measure={measure} onMeasure={onMeasure} />
        <Legend measure={measure} />
      </div>
      <TokenStrip
        trace={trace}
        measure={measure}
        step={step}
        playing={playing}
        onStep={(to) => dispatch({type: "go", step: to})}
      />
      <p class="truth">{ending(trace)} Probable is not the same as true.</p>
      {trace.steps.length > 0 && (
        <ReplayBar
          explorer={explorer}
          steps={trace.steps.length}
          speed={speed}
          onSpeed={setSpeed}
          dispatch={dispatch}
          onHelp={() => sheet.current?.showModal()}
        />
      )}
      <ShortcutSheet sheet={sheet} />
    </div>
  );
}

function ending(trace: Trace): string {
  if (isOn(trace)) return "";
  switch (trace.answer?.finish_reason ?? trace.status) {
    case "eos":
      return "It ended by itself: the model drew the token that ends a text.";
    case "length":
      return "It ended because it had as many tokens as were asked for.";
    case "stopped":
      return "You stopped it.";
    case "failed":
      return "It failed here; what had come stays.";
    case "interrupted":
      return "The connection broke here; follow a token of the last step to go on.";
    default:
      return "";
  }
}
