import {expect, it} from "vitest";

import {added, drawMany} from "../src/domain/draws";

const sequence = (...values: number[]) => {
  let place = 0;
  return () => values[place++ % values.length] ?? 0;
};

it("hits the place whose interval holds the number", () => {
  const hits = drawMany([0.5, 0.3, 0.2], 4, sequence(0, 0.49, 0.5, 0.9));
  expect(hits).toEqual([2, 1, 1]);
});

it("never hits what has no chance", () => {
  expect(drawMany([1, 0], 3, sequence(0, 0.5, 0.9999999999999999))).toEqual([3, 0]);
  expect(drawMany([0.1, 0.2, 0.7 - 1e-12, 0], 1, sequence(1 - 1e-16))).toEqual([0, 0, 1, 0]);
});

it("comes near what is expected after many draws", () => {
  const grid = Array.from({length: 1000}, (_, i) => (i + 0.5) / 1000);
  expect(drawMany([0.5, 0.3, 0.2], 1000, sequence(...grid))).toEqual([500, 300, 200]);
});

it("adds new draws to those before", () => {
  expect(added([1, 2], [3, 4])).toEqual([4, 6]);
});
