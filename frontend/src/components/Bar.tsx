import {barLength, percent} from "../domain/format";
import type {Axis} from "../domain/scales";

/** A probability as a number and as a bar; the bar has no least width. */
export function Bar({probability, axis}: {readonly probability: number; readonly axis: Axis}) {
  return (
    <span class="measure">
      <span class="number">{percent(probability)}</span>
      <svg class="bar" aria-hidden="true" focusable="false">
        <rect width={barLength(axis.place(probability))} height="100%" />
      </svg>
    </span>
  );
}

/** The labels over a column of bars. */
export function AxisLabels({axis}: {readonly axis: Axis}) {
  return (
    <span class="axis" aria-hidden="true">
      {axis.labels.map((label) => (
        <span>{label}</span>
      ))}
    </span>
  );
}
