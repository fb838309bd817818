/** One step's tokens in one ranked list: the chosen one, the alternatives, the rest. */

import type {TraceStep} from "../wire";

export interface Row {
  /** 1 is the most probable. */
  readonly rank: number;
  readonly tokenId: number;
  readonly bytes: readonly number[];
  readonly probability: number;
  /** With every token above it; null where one above is not listed. */
  readonly cumulative: number | null;
  readonly chosen: boolean;
}

export function rowsOf(step: TraceStep): readonly Row[] {
  const {selected_rank, selected_bytes, alternative_bytes} = step.analysis;
  const listed = step.alternatives.map((alternative, i) => ({
    // The list leaves the chosen token out, and with it its rank.
    rank: i < selected_rank ? i : i + 1,
    tokenId: alternative.token_id,
    bytes: alternative_bytes[i] ?? [],
    probability: alternative.probability,
    chosen: false,
  }));
  const chosen = {
    rank: selected_rank,
    tokenId: step.selected_token_id,
    bytes: selected_bytes,
    probability: step.selected_probability,
    chosen: true,
  };
  let mass = 0;
  return [...listed, chosen]
    .sort((a, b) => a.rank - b.rank)
    .map((row, place) => {
      mass += row.probability;
      const cumulative = row.rank === place ? Math.min(mass, 1) : null;
      return {...row, rank: row.rank + 1, cumulative};
    });
}
