/**
 * How numbers are written: the twin of traceapp/templatetags/trace.py, held to it by
 * tests/data/format_cases.json. Nothing else turns a number into text.
 */

/** The smallest edge that is written out; nearer to 0 or 1 only the side is said. */
const SMALLEST = 0.00001;

/** A probability from 0 to 1 as a percentage: three figures, more near 100%. */
export function percent(probability: number): string {
  if (probability === 0 || probability === 1) return `${100 * probability}%`;
  if (probability < SMALLEST) return "<0.001%";
  if (probability > 1 - SMALLEST) return ">99.999%";
  const edge = Math.min(probability, 1 - probability);
  const places = edge >= 0.1 ? 1 : edge >= 0.01 ? 2 : edge >= 0.001 ? 3 : 4;
  return `${(100 * probability).toFixed(places)}%`;
}

/** An amount of information, given in bits. */
export function bits(value: number): string {
  if (value === 0) return "0 bits";
  return value < 0.01 ? "<0.01 bits" : `${value.toFixed(2)} bits`;
}

/** A duration given in milliseconds; a second and more is written in seconds. */
export function milliseconds(value: number): string {
  if (value === 0) return "0 ms";
  if (value < 0.01) return "<0.01 ms";
  if (value >= 999.5) return `${(value / 1000).toFixed(2)} s`;
  return `${value.toFixed(value < 1 ? 2 : value < 10 ? 1 : 0)} ms`;
}

/** A number of things, thousands apart; under 10 a part of one is written too. */
export function count(value: number): string {
  const whole = value >= 10 || Number.isInteger(value);
  return value.toFixed(whole ? 0 : 1).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A setting as a person would type it: 1, 0.7, 0.000001. */
export function plain(value: number): string {
  const [mantissa = "", exponent] = String(value).split("e-");
  if (exponent === undefined) return mantissa;
  const [whole = "", fraction = ""] = mantissa.split(".");
  return value.toFixed(Math.min(100, Number(exponent) + whole.length - 1 + fraction.length));
}

/** The length of a bar on the axis from 0 to 100%, for an attribute of an SVG shape. */
export function barLength(probability: number): string {
  return `${(100 * probability).toFixed(3)}%`;
}

export interface Interval {
  readonly u: string;
  readonly lower: string;
  readonly upper: string;
}

/** u and the interval that holds it, with as many decimals as show that it does. */
export function interval(u: number, lower: number, upper: number): Interval {
  for (let places = 4; ; places++) {
    const written = {
      u: u.toFixed(places),
      lower: lower.toFixed(places),
      upper: upper.toFixed(places),
    };
    const holds = written.lower <= written.u && written.u < written.upper;
    if (holds || places === 12) return written;
  }
}

/** How often something so improbable happens, for a probability too small for a percentage. */
export function oneIn(probabilityBits: number): string {
  if (probabilityBits < 60) return `1 in ${largeCount(2 ** probabilityBits)}`;
  const exponent = Math.floor(probabilityBits * Math.log10(2));
  return `1 in 10${superscript(exponent)}`;
}

const LARGE = [
  [1e15, "quadrillion"],
  [1e12, "trillion"],
  [1e9, "billion"],
  [1e6, "million"],
] as const;

function largeCount(value: number): string {
  for (const [size, name] of LARGE) {
    if (value >= size) return `${count(value / size)} ${name}`;
  }
  return count(value);
}

function superscript(exponent: number): string {
  return [...String(exponent)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".charAt(Number(digit))).join("");
}

/** A difference of two probabilities in percentage points, its sign always written. */
export function points(difference: number): string {
  const size = Math.abs(difference);
  if (size < 0.00005) return "±0.00 pp";
  return `${difference < 0 ? "−" : "+"}${(100 * size).toFixed(2)} pp`;
}

/** "1 token", "2 tokens". */
export function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}
