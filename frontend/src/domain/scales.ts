/**
 * The fixed scales: of colour (five levels, for four measures of a token) and of length.
 *
 * Nothing here depends on the run, so that two traces compare. Level 1 is what was to be
 * expected, level 5 the surprise; each level also has as many ticks, for those who see no colour.
 */

import type {TokenScore} from "../wire";

export type Measure = "probability" | "rank" | "surprisal" | "entropy";
export type Level = 1 | 2 | 3 | 4 | 5;

interface Scale {
  readonly label: string;
  readonly levels: readonly [string, string, string, string, string];
  readonly level: (score: TokenScore) => Level;
}

export const LEVELS: readonly Level[] = [1, 2, 3, 4, 5];
export const MEASURES: readonly Measure[] = ["probability", "rank", "surprisal", "entropy"];

export const SCALES: Readonly<Record<Measure, Scale>> = {
  probability: {
    label: "Probability",
    levels: ["90% and more", "50 to 90%", "10 to 50%", "1 to 10%", "under 1%"],
    level: ({probability}) => falling(probability, [0.9, 0.5, 0.1, 0.01]),
  },
  rank: {
    label: "Rank",
    levels: ["1st", "2nd or 3rd", "4th to 10th", "11th to 100th", "beyond 100th"],
    level: ({rank}) => rising(rank + 1, [2, 4, 11, 101]),
  },
  surprisal: {
    label: "Surprisal",
    levels: ["under 1 bit", "1 to 3 bits", "3 to 6 bits", "6 to 10 bits", "10 bits and more"],
    level: ({surprisal_bits}) => rising(surprisal_bits, [1, 3, 6, 10]),
  },
  entropy: {
    label: "Entropy",
    levels: ["under 1 bit", "1 to 3 bits", "3 to 5 bits", "5 to 8 bits", "8 bits and more"],
    level: ({entropy_bits}) => rising(entropy_bits, [1, 3, 5, 8]),
  },
};

type Bounds = readonly [number, number, number, number];

/** The level of a value that counts up: bounds belong to the level above. */
function rising(value: number, bounds: Bounds): Level {
  return level(bounds.filter((bound) => value >= bound).length);
}

function falling(value: number, bounds: Bounds): Level {
  return level(bounds.filter((bound) => value < bound).length);
}

function level(crossed: number): Level {
  return LEVELS[crossed] ?? 5;
}

export interface Axis {
  /** From 0 to 1 along the axis. */
  readonly place: (probability: number) => number;
  /** Labels at equal distances, from the start of the axis to its end. */
  readonly labels: readonly string[];
  readonly spoken: string;
}

/** The least probability that has a length on the logarithmic axis. */
const LOG_START = 1e-8;

export const LINEAR: Axis = {
  place: (probability) => probability,
  labels: ["0", "25", "50", "75", "100%"],
  spoken: "the bars run from 0 to 100%",
};

export const LOGARITHMIC: Axis = {
  place: (probability) =>
    probability <= LOG_START ? 0 : 1 - Math.log10(probability) / Math.log10(LOG_START),
  labels: ["10⁻⁶%", "10⁻⁴%", "0.01%", "1%", "100%"],
  spoken: "logarithmic: each quarter of the axis is a hundred times as probable",
};
