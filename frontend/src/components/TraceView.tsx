import type {ComponentChildren} from "preact";
import {useEffect, useRef} from "preact/hooks";

import type {Branch} from "../domain/branches";
import type {Measure} from "../domain/scales";
import {isOn} from "../domain/trace";
import type {Hidable} from "../share/link";
import type {TraceStep} from "../wire";
import {BranchTree} from "./BranchTree";
import {ComparePanel} from "./ComparePanel";
import {Inspector} from "./Inspector";
import {Lab} from "./Lab";
import {PromptTable} from "./PromptTable";
import {Reader} from "./Reader";
import {RunStatus} from "./RunStatus";
import {RunSummary} from "./RunSummary";
import {StepsTable} from "./StepsTable";
import {useBranching} from "./useBranching";
import type {LiveState, Reading} from "./useLive";

interface Props {
  readonly reading: Reading;
  /** null where the model cannot be asked, and so no other path followed. */
  readonly live: LiveState | null;
  readonly branch: Branch;
  readonly hidden: readonly Hidable[];
  /** Whether a new trace is scrolled to: not in a frame, whose page would be moved too. */
  readonly scrolls: boolean;
  /** How to share and save it. */
  readonly keeping: ComponentChildren;
  /** What went wrong, if something did: here, where the page has scrolled to. */
  readonly notice: ComponentChildren;
  readonly measure: Measure;
  readonly onMeasure: (measure: Measure) => void;
  readonly onStop: () => void;
}

/** One trace, from its text down to its last number. */
export function TraceView(props: Props) {
  const {reading, live, branch, hidden, scrolls, keeping, notice, measure, onMeasure, onStop} =
    props;
  const {explorer, dispatch, hello} = reading;
  const section = useRef<HTMLElement>(null);
  const branchAt = useBranching(reading, branch);
  const shows = (part: Hidable) => !hidden.includes(part);
  const {trace} = branch;
  const step = trace.steps[explorer.step];
  const lab = trace.labs[explorer.step] ?? null;
  const go = (to: number) => dispatch({type: "go", step: to});
  const compared = explorer.branches.find(({id}) => id === explorer.compared);
  useEffect(() => {
    if (section.current && scrolls) bringIntoView(section.current);
  }, [branch.id]);
  return (
    <section
      class="trace live"
      id="trace"
      tabIndex={-1}
      aria-labelledby="trace-title"
      ref={section}
    >
      <h2 id="trace-title">The trace</h2>
      {notice}
      {isOn(trace) && <RunStatus trace={trace} hello={hello} onStop={onStop} />}
      {trace.promptTokens.length > 0 && (
        <Reader
          trace={trace}
          explorer={explorer}
          measure={measure}
          onMeasure={onMeasure}
          dispatch={dispatch}
        />
      )}
      {keeping}
      {explorer.branches.length > 1 && shows("branches") && (
        <BranchTree explorer={explorer} dispatch={dispatch} />
      )}
      {compared && shows("branches") && (
        <ComparePanel
          a={branch}
          b={compared}
          branches={explorer.branches}
          onClose={() => dispatch({type: "compare", id: null})}
          onStep={go}
        />
      )}
      {step && (
        <>
          <Inspector
            trace={trace}
            step={step}
            lab={lab}
            vocabulary={hello?.vocabulary ?? vocabularyOf(step)}
            live={live}
            onBranch={live && shows("branches") ? branchAt : null}
          />
          {lab && shows("lab") && (
            <Lab
              key={branch.id}
              isOver={!isOn(trace)}
              lab={lab}
              step={step}
              settings={trace.start.settings}
            />
          )}
          {!isOn(trace) && shows("numbers") && (
            <RunSummary trace={trace} hello={hello} onStep={go} />
          )}
          {shows("tables") && <StepsTable trace={trace} current={explorer.step} onStep={go} />}
        </>
      )}
      {trace.promptTokens.length > 0 && shows("tables") && <PromptTable trace={trace} />}
    </section>
  );
}

/** How many tokens have a rank: those that a step lists, and the rest. */
function vocabularyOf({alternatives, analysis}: TraceStep): number {
  return 1 + alternatives.length + analysis.remainder.tokens;
}

/** Scroll to a trace that begins in the lower half of the window, or out of it. */
function bringIntoView(section: HTMLElement): void {
  const {top} = section.getBoundingClientRect();
  if (top >= 0 && top < innerHeight / 2) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  section.scrollIntoView({behavior: still ? "auto" : "smooth"});
}
