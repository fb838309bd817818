import {count, percent} from "../domain/format";
import {rowsOf, type Row} from "../domain/rows";
import type {Axis} from "../domain/scales";
import {hex, tokenSpoken} from "../domain/tokens";
import type {TraceStep} from "../wire";
import {AxisLabels, Bar} from "./Bar";
import {TokenText} from "./TokenText";

interface Props {
  readonly step: TraceStep;
  readonly axis: Axis;
  /** null where no other path can be followed. */
  readonly onBranch: ((tokenId: number) => void) | null;
}

/**
 * The tokens of one step by rank, with the rest of the vocabulary as one row.
 *
 * The roles repeat what the elements say, for the narrow layout takes rows out of table layout.
 */
export function RankedTable({step, axis, onBranch}: Props) {
  const {remainder} = step.analysis;
  return (
    <table class="ranking" role="table">
      <caption>The model’s own probabilities, most probable first; {axis.spoken}.</caption>
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader" class="rank">
            Rank
          </th>
          <th scope="col" role="columnheader" class="name">
            Token, id, bytes
          </th>
          <th scope="col" role="columnheader" class="probability">
            <span class="measure">
              <span class="number">Probability</span>
              <AxisLabels axis={axis} />
            </span>
          </th>
          <th scope="col" role="columnheader" class="figure">
            Cumulative
          </th>
          {onBranch && (
            <th scope="col" role="columnheader" class="act">
              What if
            </th>
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rowsOf(step).map((row) => (
          <TokenRow key={row.tokenId} row={row} step={step} axis={axis} onBranch={onBranch} />
        ))}
      </tbody>
      <tfoot role="rowgroup">
        <tr role="row" class="remainder">
          <td role="cell" class="rank" />
          <th scope="row" role="rowheader" class="name">
            The other {count(remainder.tokens)} tokens
          </th>
          <td role="cell" class="probability">
            <Bar probability={remainder.mass} axis={axis} />
          </td>
          <td role="cell" class="figure" data-label="cumulative">
            {percent(1)}
          </td>
          {onBranch && <td role="cell" class="act" />}
        </tr>
      </tfoot>
    </table>
  );
}

function TokenRow({row, step, axis, onBranch}: Props & {readonly row: Row}) {
  const {rank, bytes, tokenId, probability, cumulative, chosen} = row;
  const {special, forced} = step.analysis;
  return (
    <tr role="row" {...(chosen && {class: "drawn"})}>
      <td role="cell" class="rank">
        {count(rank)}
      </td>
      <th scope="row" role="rowheader" class="name">
        <TokenText bytes={bytes} special={chosen && special} />{" "}
        {chosen && <span class="tag chosen">{forced ? "given" : "drawn"}</span>}{" "}
        <span class="id">
          id {tokenId} · <span class="bytes">{hex(bytes)}</span>
        </span>
      </th>
      <td role="cell" class="probability">
        <Bar probability={probability} axis={axis} />
      </td>
      <td role="cell" class="figure" data-label="cumulative">
        {cumulative === null ? <span aria-label="not known">–</span> : percent(cumulative)}
      </td>
      {onBranch && (
        <td role="cell" class="act">
          {!chosen && (
            <button
              type="button"
              class="quiet"
              aria-label={`Follow ${tokenSpoken(bytes)}`}
              onClick={() => onBranch(tokenId)}
            >
              Follow
            </button>
          )}
        </td>
      )}
    </tr>
  );
}
