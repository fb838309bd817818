/**
 * A trace as a table for spreadsheets and statistics: RFC 4180, one row a token that a step lists.
 * docs/sharing.md explains the columns, held to COLUMNS by a test.
 */

import {rowsOf, type Row} from "../domain/rows";
import {hex} from "../domain/tokens";
import type {TraceStep} from "../wire";
import type {SavedTrace} from "./record";

type Cell = string | number | null;

interface Listed {
  readonly saved: SavedTrace;
  readonly step: TraceStep;
  /** null for all that the step does not list. */
  readonly row: Row | null;
  readonly token: string | null;
}

/** Every column, in order. Texts are guarded; numbers and words of ours are not. */
export const COLUMNS: Readonly<Record<string, (listed: Listed) => Cell>> = {
  step: ({step}) => step.step + 1,
  kind: ({step, row}) =>
    row === null ? "rest" : row.chosen ? (step.analysis.forced ? "given" : "drawn") : "alternative",
  rank: ({row}) => row?.rank ?? null,
  token_id: ({row}) => row?.tokenId ?? null,
  token: ({token}) => token && guarded(token),
  bytes: ({row}) => row && hex(row.bytes),
  tokens: ({step, row}) => (row === null ? step.analysis.remainder.tokens : 1),
  probability: ({step, row}) => row?.probability ?? step.analysis.remainder.mass,
  cumulative: ({row}) => (row === null ? 1 : row.cumulative),
  surprisal_bits: ({step, row}) => (row?.chosen ? step.analysis.surprisal_bits : null),
  sampling_probability: ({step, row}) => (row?.chosen ? step.analysis.sampling_probability : null),
  step_entropy_bits: ({step}) => step.analysis.entropy_bits,
  step_nucleus_size: ({step}) => step.analysis.nucleus_size,
  step_u: ({step}) => step.analysis.draw?.u ?? null,
  step_lower: ({step}) => step.analysis.draw?.lower ?? null,
  step_upper: ({step}) => step.analysis.draw?.upper ?? null,
  step_ms: ({step}) => step.step_ms,
  prompt: ({saved}) => guarded(saved.answer.prompt),
  temperature: ({saved}) => saved.answer.decoding.temperature,
  top_p: ({saved}) => saved.answer.decoding.top_p,
  seed: ({saved}) => saved.seed,
  model: ({saved}) => guarded(saved.answer.model.alias),
  repository: ({saved}) => guarded(saved.answer.model.repository),
  revision: ({saved}) => guarded(saved.answer.model.revision),
};

/** The whole file; the mark before it tells spreadsheets that it is UTF-8. */
export function toCsv(saved: SavedTrace): string {
  const listed = saved.answer.steps.flatMap((step): Listed[] => [
    ...rowsOf(step).map((row) => ({saved, step, row, token: textOfRow(step, row)})),
    {saved, step, row: null, token: null},
  ]);
  const rows = listed.map((each) => Object.values(COLUMNS).map((column) => column(each)));
  return `\ufeff${[Object.keys(COLUMNS), ...rows].map(line).join("")}`;
}

/**
 * A text that no spreadsheet takes for a formula: "'" before one that begins as a formula may,
 * and before one that begins with "'" itself. Take one "'" away to have the text back.
 */
export function guarded(text: string): string {
  return /^(?:['\t\r\n]|\s*[=+\-@＝＋－＠])/u.test(text) ? `'${text}` : text;
}

function textOfRow(step: TraceStep, row: Row): string {
  if (row.chosen) return step.selected_token;
  return step.alternatives.find(({token_id}) => token_id === row.tokenId)?.token ?? "";
}

function line(cells: readonly Cell[]): string {
  return `${cells.map(written).join(",")}\r\n`;
}

function written(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  return /^[\w.-]*$/.test(cell) ? cell : `"${cell.replaceAll('"', '""')}"`;
}
