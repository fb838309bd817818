import {describe, expect, it} from "vitest";

import {forcedAt, jointBits, letterOf, ownText, treeOf, type Branch} from "../src/domain/branches";
import {compare, probabilityIn} from "../src/domain/comparison";
import {newTrace} from "../src/domain/trace";
import type {TraceStep} from "../src/wire";
import {START, stepOf} from "./specimens";

const branch = (id: string, parent: string | null, fork: number, steps: TraceStep[]): Branch => ({
  id,
  parent,
  fork,
  trace: {...newTrace({...START, id}), steps},
});

const A = [stepOf(0, " a", {id: 1}), stepOf(1, " b", {id: 2}), stepOf(2, " c", {id: 3})];
const B = [
  stepOf(0, " a", {id: 1}),
  stepOf(1, " x", {id: 9, probability: 0.25, alternatives: [[2, " b", 0.5]]}),
];

describe("the tree", () => {
  it("puts each branch under the one that it left", () => {
    const [a, b, c, d] = [
      branch("a", null, 0, A),
      branch("b", "a", 1, B),
      branch("c", "b", 1, B),
      branch("d", null, 0, A),
    ];
    expect(treeOf([a, b, c, d])).toEqual([
      {branch: a, children: [{branch: b, children: [{branch: c, children: []}]}]},
      {branch: d, children: []},
    ]);
  });

  it("shows of a branch the text that is its own", () => {
    expect(ownText(branch("b", "a", 1, B))).toBe(" x");
  });

  it("multiplies probabilities by adding their bits", () => {
    expect(jointBits(A)).toBe(3);
    expect(jointBits(B)).toBe(3);
    expect(jointBits([])).toBe(0);
  });

  it("begins a branch with all tokens before the step, then the other one", () => {
    expect(forcedAt(branch("a", null, 0, A).trace, 2, 99)).toEqual([1, 2, 99]);
    expect(forcedAt(branch("a", null, 0, A).trace, 0, 99)).toEqual([99]);
  });

  it.each([
    [0, "A"],
    [25, "Z"],
    [26, "A2"],
  ])("names path %d %s", (index, letter) => {
    expect(letterOf(index)).toBe(letter);
  });
});

describe("two paths side by side", () => {
  it("part at the first step with different tokens", () => {
    const {pairs, divergence, common} = compare(A, B);
    expect(divergence).toBe(1);
    expect(pairs.map(({same}) => same)).toEqual([true, false, false]);
    expect(pairs[2]).toMatchObject({a: A[2], b: null});
    expect(common).toEqual({steps: 2, aBits: 2, bBits: 3});
  });

  it("do not part if they are equal", () => {
    expect(compare(A, A).divergence).toBeNull();
  });

  it("tell what a step thought of the other’s token, where it lists it", () => {
    const step = B[1] ?? expect.fail();
    expect(probabilityIn(step, 9)).toBe(0.25);
    expect(probabilityIn(step, 2)).toBe(0.5);
    expect(probabilityIn(step, 3)).toBeNull();
  });
});
