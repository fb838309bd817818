import type {ComponentChildren} from "preact";
import {useEffect, useRef} from "preact/hooks";

import type {Branch} from "../domain/branches";
import type {Measure} from "../domain/scales";
import {isOn} from "../domain/trace";
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
import type {LiveState} from "./useLive";

interface Props {
  readonly live: LiveState;
  readonly branch: Branch;
  /** What went wrong, if something did: here, where the page has scrolled to. */
  readonly notice: ComponentChildren;
  readonly measure: Measure;
  readonly onMeasure: (measure: Measure) => void;
  readonly onStop: () => void;
}

/** One trace, from its text down to its last number. */
export function TraceView({live, branch, notice, measure, onMeasure, onStop}: Props) {
  const {explorer, dispatch, hello} = live;
  const section = useRef<HTMLElement>(null);
  const branchAt = useBranching(live, branch);
  const {trace} = branch;
  const step = trace.steps[explorer.step];
  const lab = trace.labs[explorer.step] ?? null;
  const go = (to: number) => dispatch({type: "go", step: to});
  const compared = explorer.branches.find(({id}) => id === explorer.compared);
  useEffect(() => {
    if (section.current) bringIntoView(section.current);
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
      {explorer.branches.length > 1 && <BranchTree explorer={explorer} dispatch={dispatch} />}
      {compared && (
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
            vocabulary={hello?.vocabulary ?? null}
            live={live}
            onBranch={branchAt}
          />
          {lab && (
            <Lab
              key={branch.id}
              isOver={!isOn(trace)}
              lab={lab}
              step={step}
              settings={trace.start.settings}
            />
          )}
          {!isOn(trace) && <RunSummary trace={trace} hello={hello} onStep={go} />}
          <StepsTable trace={trace} current={explorer.step} onStep={go} />
        </>
      )}
      {trace.promptTokens.length > 0 && <PromptTable trace={trace} />}
    </section>
  );
}

/** Scroll to a trace that begins in the lower half of the window, or out of it. */
function bringIntoView(section: HTMLElement): void {
  const {top} = section.getBoundingClientRect();
  if (top >= 0 && top < innerHeight / 2) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  section.scrollIntoView({behavior: still ? "auto" : "smooth"});
}
