import {letterOf, type Branch} from "../domain/branches";
import {compare, probabilityIn, type Pair} from "../domain/comparison";
import {oneIn, percent, points} from "../domain/format";
import type {TraceStep} from "../wire";
import {TokenText} from "./TokenText";

interface Props {
  readonly a: Branch;
  readonly b: Branch;
  readonly branches: readonly Branch[];
  readonly onClose: () => void;
  readonly onStep: (step: number) => void;
}

/** Two paths side by side, the step at which they part marked. */
export function ComparePanel({a, b, branches, onClose, onStep}: Props) {
  const {pairs, divergence, common} = compare(a.trace.steps, b.trace.steps);
  const [aName, bName] = [letterOf(branches.indexOf(a)), letterOf(branches.indexOf(b))];
  return (
    <section class="compare" aria-labelledby="compare-title">
      <div class="pane-top">
        <h3 id="compare-title">
          {aName} beside {bName}
        </h3>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      <p>{parting(pairs, divergence, aName, bName)}</p>
      <p class="help">
        Over the first {common.steps} tokens together: {aName} {oneIn(common.aBits)}, {bName}{" "}
        {oneIn(common.bBits)}.
      </p>
      <table class="plain">
        <caption>
          Token by token, with the model’s own probabilities; pp are percentage points.
        </caption>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">{aName}</th>
            <th scope="col">{bName}</th>
            <th scope="col">
              {bName} − {aName}
            </th>
          </tr>
        </thead>
        <tbody>
          {pairs.map((pair) => (
            <tr key={pair.index} class={classOf(pair, divergence)}>
              <th scope="row">
                <button type="button" class="quiet" onClick={() => onStep(pair.index)}>
                  {pair.index + 1}
                </button>{" "}
                {pair.index === divergence && <span class="tag chosen">they part</span>}
              </th>
              <Chosen step={pair.a} />
              <Chosen step={pair.b} />
              <td>
                {pair.a && pair.b
                  ? points(pair.b.selected_probability - pair.a.selected_probability)
                  : "–"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Chosen({step}: {readonly step: TraceStep | null}) {
  if (!step) return <td>–</td>;
  const {selected_bytes, special} = step.analysis;
  return (
    <td>
      <TokenText bytes={selected_bytes} special={special} />{" "}
      <span class="under">{percent(step.selected_probability)}</span>
    </td>
  );
}

function parting(pairs: readonly Pair[], divergence: number | null, a: string, b: string) {
  const {a: left, b: right} = pairs[divergence ?? 0] ?? {};
  if (divergence === null) return `${a} and ${b} chose the same tokens.`;
  if (!left || !right) {
    return `They agree as long as both last; then one of them had ended.`;
  }
  const other = probabilityIn(left, right.selected_token_id);
  return (
    <>
      They part at step {divergence + 1}: {a} goes on with{" "}
      <TokenText bytes={left.analysis.selected_bytes} /> ({percent(left.selected_probability)}), {b}{" "}
      with <TokenText bytes={right.analysis.selected_bytes} /> (
      {percent(other ?? right.selected_probability)}). From there each step stands after another
      text.
    </>
  );
}

function classOf(pair: Pair, divergence: number | null): string {
  if (divergence === null || pair.index < divergence) return "same";
  return pair.index === divergence ? "parts" : "apart";
}
