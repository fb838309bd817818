import {useCallback, useEffect, useRef, useState} from "preact/hooks";

import type {Act, Explorer} from "../domain/explorer";
import type {Measure} from "../domain/scales";
import {actOfKey} from "../domain/keys";
import {endingOf} from "../domain/ending";
import type {Trace} from "../domain/trace";
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

  const go = useCallback((to: number) => dispatch({type: "go", step: to}), [dispatch]);
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
      <TokenStrip trace={trace} measure={measure} step={step} playing={playing} onStep={go} />
      <p class="truth">{endingOf(trace)} Probable is not the same as true.</p>
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
