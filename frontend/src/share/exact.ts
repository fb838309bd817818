/** A trace as the server sent it, to the last digit of its seed. */

import type {TraceAnswer} from "../wire";

/**
 * The trace as JSON, fields in the server's order.
 *
 * A seed may have 63 bits, and JavaScript's numbers keep 53: its digits are written from a string.
 */
export function exactJson(answer: TraceAnswer, seed: string | null, indent = 0): string {
  return object(
    Object.entries(answer).map(([name, value]) => [
      name,
      name === "decoding" ? decoding(answer.decoding, seed, indent) : written(value, indent),
    ]),
    indent,
  );
}

function decoding(value: TraceAnswer["decoding"], seed: string | null, indent: number): string {
  return object(
    Object.entries(value).map(([name, each]) => [
      name,
      name === "seed" ? (seed ?? "null") : written(each, indent),
    ]),
    indent,
  );
}

function written(value: unknown, indent: number): string {
  return JSON.stringify(value, null, indent);
}

function object(entries: readonly (readonly [string, string])[], indent: number): string {
  const [line, space] = indent > 0 ? [`\n${" ".repeat(indent)}`, " "] : ["", ""];
  const members = entries.map(
    // No string of JSON holds a newline, so that each one is a line's end.
    ([name, value]) => `${line}${JSON.stringify(name)}:${space}${value.replaceAll("\n", line)}`,
  );
  return `{${members.join(",")}${indent > 0 ? "\n" : ""}}`;
}
