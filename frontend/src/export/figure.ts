/**
 * A figure for paper or slides, as one SVG file that needs nothing else: a step, or a whole run.
 *
 * Bars share one axis from 0 to 100%. The caption says how it was made and what to cite.
 */

import {count, percent, plural} from "../domain/format";
import {rowsOf} from "../domain/rows";
import {tokenLabel} from "../domain/tokens";
import {textOf} from "../domain/trace";
import type {TraceStep} from "../wire";
import {citationOf} from "./citation";
import {howMade, type SavedTrace} from "./record";
import {clipped, element, text, wrapped} from "./svg";

const WIDTH = 800;
const MARGIN = 28;
const ROW = 26;
const LINE = 20;
/** Where the bars' axis begins and ends. */
const AXIS = [380, WIDTH - MARGIN - 14] as const;
/** Columns of a line: of running text, of a token's name. */
const PROSE = 96;
const NAME = 24;

const INK = "#1c1e22";
const SOFT = "#565b66";
const EDGE = "#c9c5bc";
const BAR = "#858c99";
const ACCENT = "#0b5c9e";
const TEXT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const FIXED = "ui-monospace, 'Cascadia Mono', 'Noto Sans Mono', monospace";

interface BarRow {
  readonly number: string;
  readonly name: string;
  readonly probability: number;
  readonly strong: boolean;
  /** A dashed outline: what is not one token. */
  readonly outlined: boolean;
}

/** What could have come at one step, by rank. */
export function stepFigure(saved: SavedTrace, index: number): string {
  const {answer} = saved;
  const step = answer.steps[index];
  if (!step) throw new RangeError(`step ${index} of ${answer.steps.length}`);
  const {remainder, selected_bytes, forced} = step.analysis;
  const rows = rowsOf(step).map((row): BarRow => ({
    number: String(row.rank),
    name: tokenLabel(row.bytes),
    probability: row.probability,
    strong: row.chosen,
    outlined: false,
  }));
  const rest = {number: "", strong: false, outlined: true, probability: remainder.mass};
  return drawn(saved, {
    title: `Step ${index + 1} of ${answer.steps.length}: what could have come`,
    before: lastOf(contextOf(saved, index), 3 * PROSE),
    rows: [...rows, {...rest, name: `the other ${count(remainder.tokens)} tokens`}],
    caption:
      `The model’s own probabilities at one step, before temperature and top-p. ` +
      `“${tokenLabel(selected_bytes)}” (blue) was ${forced ? "given" : "drawn"}.`,
  });
}

/** Every token of a run with its probability. */
export function runFigure(saved: SavedTrace): string {
  const {answer} = saved;
  return drawn(saved, {
    title: `What the model wrote, ${plural(answer.steps.length, "token")}`,
    before: answer.prompt,
    rows: answer.steps.map((step) => ({
      number: String(step.step + 1),
      name: tokenLabel(step.analysis.selected_bytes),
      probability: step.selected_probability,
      strong: true,
      outlined: false,
    })),
    caption:
      "Each token that follows the text above, with the model’s own probability for it at its " +
      "step, before temperature and top-p.",
  });
}

interface Content {
  readonly title: string;
  readonly before: string;
  readonly rows: readonly BarRow[];
  readonly caption: string;
}

function drawn(saved: SavedTrace, {title, before, rows, caption}: Content): string {
  const parts: string[] = [];
  let y = MARGIN;
  const say = (said: readonly string[], attributes: Readonly<Record<string, string | number>>) => {
    for (const each of said) {
      y += LINE;
      parts.push(
        element("text", {x: MARGIN, y, "font-size": 14, fill: SOFT, ...attributes}, text(each)),
      );
    }
  };
  say([title], {"font-size": 19, "font-weight": 700, fill: INK});
  y += 6;
  say(wrapped(before, PROSE), {fill: INK});
  y += LINE;
  parts.push(axis(y + LINE, y + LINE + ROW * rows.length));
  y += LINE;
  for (const row of rows) {
    parts.push(bar(row, y));
    y += ROW;
  }
  y += 10;
  say(wrapped(caption, PROSE), {});
  say(wrapped(`${howMade(saved)}.`, PROSE), {});
  say(wrapped(citationOf(saved), PROSE), {});
  const height = y + MARGIN;
  return element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width: WIDTH,
      height,
      viewBox: `0 0 ${WIDTH} ${height}`,
      role: "img",
      "font-family": TEXT,
    },
    element("title", {}, text(title)),
    element("desc", {}, text(described(saved, rows))),
    element("rect", {width: WIDTH, height, fill: "#ffffff"}),
    ...parts,
  );
}

function axis(top: number, bottom: number): string {
  return [0, 0.25, 0.5, 0.75, 1]
    .map((share) => {
      const x = along(share);
      const label = `${100 * share}${share === 1 ? "%" : ""}`;
      return (
        element("line", {x1: x, x2: x, y1: top - 4, y2: bottom, stroke: EDGE}) +
        element(
          "text",
          {x, y: top - 9, "font-size": 12, fill: SOFT, "text-anchor": "middle"},
          text(label),
        )
      );
    })
    .join("");
}

function bar({number, name, probability, strong, outlined}: BarRow, top: number): string {
  const y = top + ROW - 8;
  const weight = strong ? 700 : 400;
  const shape = outlined
    ? {fill: "none", stroke: BAR, "stroke-width": 1.5, "stroke-dasharray": "4 3"}
    : {fill: strong ? ACCENT : BAR};
  const common = {y, "font-size": 14, "font-weight": weight, fill: INK};
  return (
    element("text", {...common, x: MARGIN + 26, fill: SOFT, "text-anchor": "end"}, text(number)) +
    element(
      "text",
      {...common, x: MARGIN + 40, ...(outlined ? {fill: SOFT} : {"font-family": FIXED})},
      text(clipped(name, outlined ? 40 : NAME)),
    ) +
    element(
      "text",
      {...common, x: AXIS[0] - 12, "text-anchor": "end"},
      text(percent(probability)),
    ) +
    element("rect", {
      x: AXIS[0],
      y: top + 5,
      width: (probability * (AXIS[1] - AXIS[0])).toFixed(2),
      height: ROW - 10,
      ...shape,
    })
  );
}

function along(share: number): number {
  return AXIS[0] + share * (AXIS[1] - AXIS[0]);
}

/** The figure for those who hear it, and the prompt whole. */
function described({answer}: SavedTrace, rows: readonly BarRow[]): string {
  const listed = rows.map(({name, probability}) => `${name} ${percent(probability)}`).join("; ");
  return `Prompt: ${answer.prompt}\n${listed}.`;
}

function contextOf({answer}: SavedTrace, index: number): string {
  const before: readonly TraceStep[] = answer.steps.slice(0, index);
  return `${answer.prompt}${textOf(before)}`;
}

function lastOf(value: string, length: number): string {
  const characters = [...value];
  return characters.length > length ? `…${characters.slice(-length).join("")}` : value;
}
