import {bits, count} from "../domain/format";
import {LINEAR} from "../domain/scales";
import {effectiveChoices, timeOf} from "../domain/summary";
import {isOn, type Trace} from "../domain/trace";
import {AxisLabels, Bar} from "./Bar";
import {TokenText} from "./TokenText";
import {useFold} from "./useFold";

interface Props {
  readonly trace: Trace;
  readonly current: number;
  readonly onStep: (step: number) => void;
}

/** Every step in one table: what the strip and the charts show, in numbers. */
export function StepsTable(props: Props) {
  const {onToggle, isDrawn} = useFold(!isOn(props.trace));
  return (
    <details class="fold" onToggle={onToggle}>
      <summary>All steps as a table</summary>
      {isDrawn && <Steps {...props} />}
    </details>
  );
}

function Steps({trace, current, onStep}: Props) {
  return (
    <table class="ranking overview" role="table">
      <caption>How probable each token was; {LINEAR.spoken}.</caption>
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader" class="rank">
            Step
          </th>
          <th scope="col" role="columnheader" class="name">
            Token
          </th>
          <th scope="col" role="columnheader" class="probability">
            <span class="measure">
              <span class="number">Probability</span>
              <AxisLabels axis={LINEAR} />
            </span>
          </th>
          {["Rank", "Surprisal", "Entropy", "Effective choices", "Time"].map((name) => (
            <th key={name} scope="col" role="columnheader" class="figure">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {trace.steps.map((step) => (
          <tr role="row" key={step.step} class="drawn">
            <td role="cell" class="rank">
              <button
                type="button"
                class="quiet"
                aria-label={`Step ${step.step + 1}`}
                {...(step.step === current && {"aria-current": "step"})}
                onClick={() => onStep(step.step)}
              >
                {step.step + 1}
              </button>
            </td>
            <th scope="row" role="rowheader" class="name">
              <TokenText bytes={step.analysis.selected_bytes} special={step.analysis.special} />
            </th>
            <td role="cell" class="probability">
              <Bar probability={step.selected_probability} axis={LINEAR} />
            </td>
            <td role="cell" class="figure" data-label="rank">
              {count(step.analysis.selected_rank + 1)}
            </td>
            <td role="cell" class="figure" data-label="surprisal">
              {bits(step.analysis.surprisal_bits)}
            </td>
            <td role="cell" class="figure" data-label="entropy">
              {bits(step.analysis.entropy_bits)}
            </td>
            <td role="cell" class="figure" data-label="effective choices">
              {count(effectiveChoices(step.analysis.entropy_bits))}
            </td>
            <td role="cell" class="figure" data-label="time">
              {timeOf(step)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
