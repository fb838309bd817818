import {describe, expect, it} from "vitest";

import cases from "../../tests/data/format_cases.json";
import * as format from "../src/domain/format";
import {tokenLabel, tokenSpoken} from "../src/domain/tokens";

/** The functions that the Django side has too, by the names of the shared cases. */
const TWINS = {
  percent: format.percent,
  bits: format.bits,
  milliseconds: format.milliseconds,
  count: format.count,
  plain: format.plain,
  bar_length: format.barLength,
};

for (const [name, twin] of Object.entries(TWINS)) {
  const table = cases[name as keyof typeof TWINS] as [number, string][];
  it.each(table)(`${name} writes %d as the server does: %s`, (value, shown) => {
    expect(twin(value)).toBe(shown);
  });
}

it.each(cases.interval)("u = $u is shown inside its interval", ({u, lower, upper, shown}) => {
  const written = format.interval(u, lower, upper);
  expect([written.u, written.lower, written.upper]).toEqual(shown);
});

it.each(cases.token)("the bytes $bytes read $label", ({bytes, label, spoken}) => {
  const piece = [...Buffer.from(bytes, "hex")];
  expect(tokenLabel(piece)).toBe(label);
  expect(tokenSpoken(piece)).toBe(spoken);
});

describe("what only the browser writes", () => {
  it.each([
    [0, "1 in 1"],
    [1, "1 in 2"],
    [10, "1 in 1,024"],
    [20, "1 in 1.0 million"],
    [21.7, "1 in 3.4 million"],
    [40, "1 in 1.1 trillion"],
    [100, "1 in 10³⁰"],
  ])("%d bits are %s", (bits, shown) => {
    expect(format.oneIn(bits)).toBe(shown);
  });

  it.each([
    [0.123456, "+12.35 pp"],
    [-0.5, "−50.00 pp"],
    [0.00000001, "±0.00 pp"],
  ])("a difference of %d is %s", (difference, shown) => {
    expect(format.points(difference)).toBe(shown);
  });
});
