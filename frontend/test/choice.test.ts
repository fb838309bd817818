import {describe, expect, it} from "vitest";

import {choiceOf, type Choice, type StageName} from "../src/domain/choice";
import {labOf, START, stepOf} from "./specimens";

const LAB = labOf([0.5, 0.25], [[25, 0.01]]);
const settings = (temperature: number, top_p: number) => ({
  ...START.settings,
  temperature,
  top_p,
});
const stage = (choice: Choice, name: StageName) =>
  choice.stages.find((each) => each.name === name) ?? expect.fail(name);
const widths = (choice: Choice, name: StageName) =>
  stage(choice, name).segments.map(({start, width}) => [start, width].map((n) => +n.toFixed(6)));

/** Chose the second token, b. */
const STEP = stepOf(0, "b", {id: 1, rank: 1, probability: 0.25, kept: 2});

describe("the stages of a choice", () => {
  const choice = choiceOf(STEP, LAB, settings(1, 0.7));

  it("begin with the model’s own probabilities, side by side", () => {
    expect(widths(choice, "raw")).toEqual([
      [0, 0.5],
      [0.5, 0.25],
      [0.75, 0.25],
    ]);
    expect(stage(choice, "raw").segments.map(({chosen}) => chosen)).toEqual([false, true, false]);
  });

  it("show where top-p cuts, and what lies beyond it", () => {
    expect(stage(choice, "top-p").cut).toBeCloseTo(0.75, 12);
    expect(stage(choice, "top-p").segments.map(({removed}) => removed)).toEqual([
      false,
      false,
      true,
    ]);
    expect([choice.kept, choice.removed]).toEqual([2, 25]);
  });

  it("stretch what is left over the whole axis", () => {
    expect(widths(choice, "renormalised")).toEqual([
      [0, 0.666667],
      [0.666667, 0.333333],
    ]);
  });

  it("divide a bin that the cut goes through", () => {
    const cut = stage(choiceOf(STEP, LAB, settings(1, 0.8)), "top-p");
    expect(cut.segments.slice(2).map(({count, removed}) => [count, removed])).toEqual([
      [5, false],
      [20, true],
    ]);
  });

  it("cut nothing at top-p 1, nor at temperature 0", () => {
    expect(stage(choiceOf(STEP, LAB, settings(1, 1)), "top-p").cut).toBeNull();
    expect(choiceOf(STEP, LAB, settings(0, 0.1)).removed).toBe(0);
  });
});

it("a token from far down the list has its own place on every axis", () => {
  const step = stepOf(0, "z", {id: 77, rank: 20, probability: 0.01});
  const {segments} = stage(choiceOf(step, LAB, settings(1, 1)), "raw");
  expect(
    segments.map(({token, count, chosen}) => [token?.token_id ?? null, count, chosen]),
  ).toEqual([
    [0, 1, false],
    [1, 1, false],
    [null, 24, false],
    [77, 1, true],
  ]);
});
