import {describe, expect, it} from "vitest";

import {rowsOf} from "../src/domain/rows";
import {LINEAR, LOGARITHMIC, SCALES, type Measure} from "../src/domain/scales";
import {effectiveChoices, summaryOf, timeOf} from "../src/domain/summary";
import {directionOf} from "../src/domain/tokens";
import {stepOf} from "./specimens";

describe("the ranked list", () => {
  it("has the chosen token in its place among the alternatives", () => {
    const step = stepOf(0, "b", {
      id: 2,
      rank: 1,
      probability: 0.3,
      alternatives: [
        [1, "a", 0.4],
        [3, "c", 0.1],
      ],
    });
    expect(rowsOf(step).map(({rank, tokenId, chosen}) => [rank, tokenId, chosen])).toEqual([
      [1, 1, false],
      [2, 2, true],
      [3, 3, false],
    ]);
    expect(rowsOf(step).map(({cumulative}) => cumulative?.toFixed(1))).toEqual([
      "0.4",
      "0.7",
      "0.8",
    ]);
  });

  it("has a chosen token from far down last, with its true rank and no cumulative", () => {
    const step = stepOf(0, "z", {rank: 41, probability: 0.01, alternatives: [[1, "a", 0.4]]});
    expect(rowsOf(step).at(-1)).toMatchObject({rank: 42, chosen: true, cumulative: null});
  });
});

describe("the scales", () => {
  const score = {probability: 0.5, rank: 0, surprisal_bits: 1, entropy_bits: 0};

  it.each<[Measure, object, number]>([
    ["probability", {probability: 0.9}, 1],
    ["probability", {probability: 0.89}, 2],
    ["probability", {probability: 0.5}, 2],
    ["probability", {probability: 0.1}, 3],
    ["probability", {probability: 0.01}, 4],
    ["probability", {probability: 0.0099}, 5],
    ["rank", {rank: 0}, 1],
    ["rank", {rank: 2}, 2],
    ["rank", {rank: 9}, 3],
    ["rank", {rank: 99}, 4],
    ["rank", {rank: 100}, 5],
    ["surprisal", {surprisal_bits: 0.99}, 1],
    ["surprisal", {surprisal_bits: 10}, 5],
    ["entropy", {entropy_bits: 1}, 2],
    ["entropy", {entropy_bits: 4.9}, 3],
  ])("by %s %o is level %d", (measure, values, level) => {
    expect(SCALES[measure].level({...score, ...values})).toBe(level);
  });

  it("bars are as long as they are probable", () => {
    expect([0, 0.001, 0.5, 1].map(LINEAR.place)).toEqual([0, 0.001, 0.5, 1]);
  });

  it("a quarter of the logarithmic axis is a hundred times", () => {
    expect(LOGARITHMIC.place(1)).toBe(1);
    expect(LOGARITHMIC.place(0.01)).toBeCloseTo(0.75, 12);
    expect(LOGARITHMIC.place(1e-4)).toBeCloseTo(0.5, 12);
    expect(LOGARITHMIC.place(1e-9)).toBe(0);
    expect(LOGARITHMIC.place(0)).toBe(0);
  });
});

describe("a run in numbers", () => {
  const steps = [
    stepOf(0, "a", {probability: 0.5, entropy: 1, ms: 100, forced: true}),
    stepOf(1, "b", {probability: 0.125, entropy: 4, ms: 10}),
    stepOf(2, "c", {probability: 0.25, entropy: 1, ms: 20}),
  ];

  it("has the perplexity of its mean surprisal", () => {
    expect(summaryOf(steps)).toMatchObject({jointBits: 6, meanSurprisalBits: 2, perplexity: 4});
  });

  it("has its mean entropy, and the step that was most open", () => {
    expect(summaryOf(steps)).toMatchObject({meanEntropyBits: 2, mostOpen: 1});
    expect(effectiveChoices(2)).toBe(4);
  });

  it("times the first token apart from the later ones", () => {
    expect(summaryOf(steps)).toMatchObject({firstTokenMs: 20, laterTokenMs: 20, forced: 1});
    expect(summaryOf(steps.slice(0, 2))).toMatchObject({firstTokenMs: 20, laterTokenMs: null});
  });

  it("has no time of tokens that were given", () => {
    const given = {firstTokenMs: null, laterTokenMs: null};
    expect(summaryOf(steps.slice(0, 1))).toMatchObject(given);
    expect(steps.map(timeOf)).toEqual(["given, not timed", "10 ms", "20 ms"]);
  });
});

it.each([
  ["The moon", "ltr"],
  ["123 שלום world", "rtl"],
  ["مرحبا", "rtl"],
  ["12!", "ltr"],
])("the direction of %j is %s", (text, direction) => {
  expect(directionOf(text)).toBe(direction);
});
