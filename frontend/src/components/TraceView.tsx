import {useState} from "preact/hooks";

import type {Branch} from "../domain/branches";
import type {Measure} from "../domain/scales";
import {isOn} from "../domain/trace";
import {BranchTree} from "./BranchTree";
import {ComparePanel} from "./ComparePanel";
import {Inspector} from "./Inspector";
import {Lab} from "./Lab";
import {PromptTable} from "./PromptTable";
import {Reader} from "./Reader";
import {RunSummary} from "./RunSummary";
import {StepsTable} from "./StepsTable";
import {useBranching} from "./useBranching";
import type {LiveState} from "./useLive";

interface Props {
  readonly live: LiveState;
  readonly branch: Branch;
}

/** One trace, from its text down to its last number. */
export function TraceView({live, branch}: Props) {
  const {explorer, dispatch, hello} = live;
  const [measure, setMeasure] = useState<Measure>("probability");
  const branchAt = useBranching(live, branch);
  const {trace} = branch;
  const step = trace.steps[explorer.step];
  const lab = trace.labs[explorer.step] ?? null;
  const go = (to: number) => dispatch({type: "go", step: to});
  const compared = explorer.branches.find(({id}) => id === explorer.compared);
  return (
    <section class="trace live" id="trace" tabIndex={-1} aria-labelledby="trace-title">
      <h2 id="trace-title">The trace</h2>
      <Reader
        trace={trace}
        explorer={explorer}
        measure={measure}
        onMeasure={setMeasure}
        dispatch={dispatch}
      />
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
            <Lab key={trace.start.id} lab={lab} step={step} settings={trace.start.settings} />
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
          {!isOn(trace) && <RunSummary trace={trace} hello={hello} onStep={go} />}
          <StepsTable trace={trace} current={explorer.step} onStep={go} />
        </>
      )}
      <PromptTable trace={trace} />
    </section>
  );
}
