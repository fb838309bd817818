import {Bar} from "../components/Bar";
import {TokenText} from "../components/TokenText";
import {count, percent} from "../domain/format";
import {rowsOf} from "../domain/rows";
import {LINEAR} from "../domain/scales";
import type {TraceStep} from "../wire";

interface Props {
  readonly step: TraceStep;
  /** Whether the choice is shown by now. */
  readonly chosen: boolean;
}

/** What could come at a step, the most probable first, on one axis from 0 to 100%. */
export function Bars({step, chosen}: Props) {
  const {mass, tokens} = step.analysis.remainder;
  return (
    <div class="could">
      <ol class="bars">
        {rowsOf(step).map((row) => (
          <li key={row.tokenId} class={chosen && row.chosen ? "row chosen" : "row"}>
            <span class="name">
              <TokenText bytes={row.bytes} special={row.chosen && step.analysis.special} />
              {chosen && row.chosen && <span class="mark"> chosen</span>}
            </span>
            <Bar probability={row.probability} axis={LINEAR} />
          </li>
        ))}
      </ol>
      <p class="rest">
        {percent(mass)} for the other {count(tokens)} tokens together
      </p>
    </div>
  );
}
