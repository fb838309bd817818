import {useState} from "preact/hooks";

import {bits, count, percent} from "../domain/format";
import {LINEAR, LOGARITHMIC} from "../domain/scales";
import {effectiveChoices, timeOf} from "../domain/summary";
import {isOn, type Trace} from "../domain/trace";
import type {Lab, TraceStep} from "../wire";
import {Choices} from "./Choices";
import {ChoicePanel} from "./ChoicePanel";
import {RankedTable} from "./RankedTable";
import {TokenText} from "./TokenText";
import type {LiveState} from "./useLive";
import {WhatIf} from "./WhatIf";

type Scale = "linear" | "log";
const SCALES = ["linear", "log"] as const;
const NAMES = {linear: "0 to 100%", log: "Logarithmic"};

interface Props {
  readonly trace: Trace;
  readonly step: TraceStep;
  readonly lab: Lab | null;
  readonly vocabulary: number | null;
  /** null where the model cannot be asked. */
  readonly live: LiveState | null;
  readonly onBranch: ((tokenId: number) => void) | null;
}

/** One step: what could have come, how the choice was made, and what if it were another. */
export function Inspector({trace, step, lab, vocabulary, live, onBranch}: Props) {
  const [scale, setScale] = useState<Scale>("linear");
  const {analysis} = step;
  return (
    <section class="inspector" aria-labelledby="step-title">
      <header>
        <h3 id="step-title">
          Step {step.step + 1}:{" "}
          <TokenText bytes={analysis.selected_bytes} special={analysis.special} />
        </h3>
        <dl class="facts">
          <Fact name="Probability">{percent(step.selected_probability)}</Fact>
          <Fact name="Rank">
            {count(analysis.selected_rank + 1)}
            {vocabulary !== null && ` of ${count(vocabulary)}`}
          </Fact>
          <Fact name="Surprisal">{bits(analysis.surprisal_bits)}</Fact>
          <Fact name="Entropy">
            {bits(analysis.entropy_bits)}, as with {count(effectiveChoices(analysis.entropy_bits))}{" "}
            equally likely tokens
          </Fact>
          <Fact name="Time">{timeOf(step)}</Fact>
        </dl>
      </header>
      <div class="panes">
        <section class="pane" aria-labelledby="ranked-title">
          <div class="pane-top">
            <h4 id="ranked-title">What could have come</h4>
            <Choices label="Axis" values={SCALES} names={NAMES} value={scale} onChange={setScale} />
          </div>
          <RankedTable
            step={step}
            axis={scale === "linear" ? LINEAR : LOGARITHMIC}
            onBranch={onBranch}
          />
          {live && onBranch && <WhatIf step={step} live={live} onBranch={onBranch} />}
        </section>
        <ChoicePanel step={step} lab={lab} settings={trace.start.settings} isOver={!isOn(trace)} />
      </div>
    </section>
  );
}

function Fact({name, children}: {readonly name: string; children: preact.ComponentChildren}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
