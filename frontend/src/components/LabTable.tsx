import {barLength, count, percent} from "../domain/format";
import type {Filter, Reshaped} from "../domain/sampling";
import type {Axis} from "../domain/scales";
import type {LabToken} from "../wire";
import {AxisLabels} from "./Bar";
import {TokenText} from "./TokenText";

const LISTED = 10;

export interface LabRow {
  /** null for all the other tokens together. */
  readonly token: LabToken | null;
  readonly tokens: number;
  readonly raw: number;
  readonly chance: number;
  readonly removedBy: Filter | null;
}

/** The first tokens one by one, and all the others in one row. */
export function labRows(shares: readonly Reshaped[]): readonly LabRow[] {
  const rest = shares.slice(LISTED);
  return [
    ...shares.slice(0, LISTED).map(({token, count, raw, chance, kept, removedBy}) => ({
      token,
      tokens: count,
      raw,
      chance: kept * chance,
      removedBy,
    })),
    rest.reduce<LabRow>(
      (sum, share) => ({
        ...sum,
        tokens: sum.tokens + share.count,
        raw: Math.min(1, sum.raw + share.count * share.raw),
        chance: Math.min(1, sum.chance + share.kept * share.chance),
      }),
      {token: null, tokens: 0, raw: 0, chance: 0, removedBy: null},
    ),
  ];
}

interface Props {
  readonly rows: readonly LabRow[];
  readonly hits: readonly number[];
  readonly draws: number;
  readonly axis: Axis;
}

/** Each token's probability by the model and its chance after the settings, one over the other. */
export function LabTable({rows, hits, draws, axis}: Props) {
  return (
    <table class="ranking lab-table" role="table">
      <caption>
        The thin bar is the model’s own probability, the thick one the chance after the settings;
        {draws > 0 ? " the mark is the share of the draws;" : ""} {axis.spoken}.
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader" class="name">
            Token
          </th>
          <th scope="col" role="columnheader" class="figure">
            Model
          </th>
          <th scope="col" role="columnheader" class="probability">
            <span class="measure">
              <span class="number">Chance</span>
              <AxisLabels axis={axis} />
            </span>
          </th>
          <th scope="col" role="columnheader" class="figure">
            Drawn
          </th>
          <th scope="col" role="columnheader" class="figure">
            Expected
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, index) => (
          <tr role="row" key={row.token?.token_id ?? "rest"}>
            <th scope="row" role="rowheader" class="name">
              {row.token ? (
                <TokenText bytes={row.token.bytes} />
              ) : (
                `The other ${count(row.tokens)} tokens`
              )}{" "}
              {row.removedBy && <span class="tag">cut by {row.removedBy}</span>}
            </th>
            <td role="cell" class="figure" data-label="model">
              {percent(row.raw)}
            </td>
            <td role="cell" class="probability">
              <span class="measure">
                <span class="number">{percent(row.chance)}</span>
                <svg class="bar" aria-hidden="true" focusable="false">
                  <rect
                    class="after"
                    width={barLength(axis.place(row.chance))}
                    y="30%"
                    height="70%"
                  />
                  <rect class="before" width={barLength(axis.place(row.raw))} height="24%" />
                  {draws > 0 && (
                    <circle cx={barLength((hits[index] ?? 0) / draws)} cy="65%" r="4" />
                  )}
                </svg>
              </span>
            </td>
            <td role="cell" class="figure" data-label="drawn">
              {draws > 0 ? count(hits[index] ?? 0) : "–"}
            </td>
            <td role="cell" class="figure" data-label="expected">
              {draws > 0 ? count(row.chance * draws) : "–"}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
