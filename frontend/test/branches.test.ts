import {describe, expect, it} from "vitest";

import {
  forcedAt,
  jointBits,
  letterOf,
  piecesOf,
  treeOf,
  type Branch,
  type Node,
} from "../src/domain/branches";
import {compare, probabilityIn} from "../src/domain/comparison";
import {utf8} from "../src/domain/tokens";
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

/** A path of tokens a, b, c, … by their ids. */
const path = (id: string, parent: string | null, fork: number, ids: readonly number[]) =>
  branch(
    id,
    parent,
    fork,
    ids.map((each, index) => stepOf(index, ` t${each}`, {id: each})),
  );

/** The tree in short: "a(b@2 c@1)" has b, which leaves at step index 2, and c under a. */
const drawn = (nodes: readonly Node[]): string =>
  nodes
    .map(({branch, leaves, children}) => {
      const name = branch.parent === null ? branch.id : `${branch.id}@${leaves}`;
      return children.length > 0 ? `${name}(${drawn(children)})` : name;
    })
    .join(" ");

describe("the tree", () => {
  const a = path("a", null, 0, [1, 2, 3, 4]);
  const b = path("b", "a", 1, [1, 9, 8, 7]);

  it.each<[string, readonly Branch[], string]>([
    ["a branch hangs under the path that it left", [a, b], "a(b@1)"],
    [
      "one asked for on another branch, at the same step, stands beside that",
      [a, b, path("c", "b", 1, [1, 5, 6])],
      "a(b@1 c@1)",
    ],
    [
      "one asked for on another branch before that branch left stands beside it too",
      [a, b, path("c", "b", 0, [7, 7])],
      "a(b@1 c@0)",
    ],
    [
      "one that shares the other branch’s own tokens hangs under that",
      [a, b, path("c", "b", 2, [1, 9, 5])],
      "a(b@1(c@2))",
    ],
    [
      "one that was asked for on the first path but takes the other’s token hangs under the other",
      [a, b, path("c", "a", 1, [1, 9, 8, 6])],
      "a(b@1(c@3))",
    ],
    [
      "one with the same tokens hangs under its like, and has nothing of its own",
      [a, b, path("c", "b", 1, [1, 9, 8, 7])],
      "a(b@1(c@4))",
    ],
    [
      "runs from the prompt stand apart, each with its own branches",
      [a, path("d", null, 0, [1, 2, 5]), path("e", "d", 2, [1, 2, 3, 6])],
      "a d(e@2)",
    ],
  ])("%s", (_, branches, expected) => {
    expect(drawn(treeOf(branches))).toBe(expected);
  });

  it("shows steps as text, characters joined and control tokens by themselves", () => {
    const steps = [
      stepOf(0, "", {bytes: [0xf0, 0x9f]}),
      stepOf(1, "", {bytes: [0x98, 0x80]}),
      stepOf(2, "<end>", {special: true}),
      stepOf(3, "x"),
    ];
    expect(piecesOf(steps)).toEqual([
      {bytes: [0xf0, 0x9f, 0x98, 0x80], special: false},
      {bytes: utf8("<end>"), special: true},
      {bytes: utf8("x"), special: false},
    ]);
    expect(piecesOf([])).toEqual([]);
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
