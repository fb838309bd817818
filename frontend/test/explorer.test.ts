import {describe, expect, it} from "vitest";

import {MOST_PATHS} from "../src/domain/branches";
import {
  EMPTY,
  isFull,
  reduce,
  runningTrace,
  selectedBranch,
  type Act,
} from "../src/domain/explorer";
import {actOfKey} from "../src/domain/keys";
import type {Start} from "../src/wire";
import {START, stepOf} from "./specimens";

const after = (...acts: Act[]) => acts.reduce(reduce, EMPTY);
const run = (id: string, more: Partial<Start> = {}): Act => ({
  type: "run",
  start: {...START, id, ...more},
});
const step = (id: string, index: number): Act => ({
  type: "frame",
  frame: {type: "step", id, step: stepOf(index, ` t${index}`), lab: null},
});
const stopped = (id: string): Act => ({type: "frame", frame: {type: "stopped", id}});
const THREE_STEPS = [run("r1"), step("r1", 0), step("r1", 1), step("r1", 2)];

describe("a run", () => {
  it("is selected, and followed step by step as they come", () => {
    const explorer = after(...THREE_STEPS);
    expect(selectedBranch(explorer)?.id).toBe("r1");
    expect(explorer.step).toBe(2);
  });

  it("is no longer followed once a step was chosen", () => {
    expect(after(run("r1"), step("r1", 0), {type: "go", step: 0}, step("r1", 1)).step).toBe(0);
  });

  it("of the same prompt keeps the runs before it", () => {
    const explorer = after(...THREE_STEPS, stopped("r1"), run("r2"));
    expect(explorer.branches.map(({id}) => id)).toEqual(["r1", "r2"]);
  });

  it("of another prompt begins afresh", () => {
    const explorer = after(...THREE_STEPS, run("r2", {prompt: "Else"}));
    expect(explorer.branches.map(({id}) => id)).toEqual(["r2"]);
  });

  it("drops runs that never had a step", () => {
    expect(after(run("r1"), run("r2")).branches.map(({id}) => id)).toEqual(["r2"]);
  });

  it("can be stopped before it was sent", () => {
    expect(runningTrace(after(run("r1"), {type: "stop", id: "r1"}))).toBeNull();
  });

  it("ignores frames about runs that are gone", () => {
    const explorer = after(run("r2"));
    expect(reduce(explorer, step("r1", 0)).branches).toEqual(explorer.branches);
  });

  it("is asked again after a broken connection, if nothing of it had come", () => {
    const explorer = after(run("r1"), {type: "sent", id: "r1"}, {type: "disconnected"});
    expect(runningTrace(explorer)?.status).toBe("unsent");
  });
});

describe("a branch", () => {
  const branch: Act = {
    type: "branch",
    start: {...START, id: "r2", forced: [10, 99]},
    parent: "r1",
    fork: 1,
  };

  it("is selected at the step where it leaves, and stays there while it grows", () => {
    const explorer = after(...THREE_STEPS, branch, step("r2", 0), step("r2", 1), step("r2", 2));
    expect([explorer.selected, explorer.step]).toEqual(["r2", 1]);
    expect(selectedBranch(explorer)).toMatchObject({parent: "r1", fork: 1});
  });

  it("changes places with the one it is compared to", () => {
    const explorer = after(...THREE_STEPS, branch, {type: "compare", id: "r1"});
    expect(explorer.compared).toBe("r1");
    expect(reduce(explorer, {type: "select", id: "r1"})).toMatchObject({
      selected: "r1",
      compared: "r2",
    });
  });

  it("is not compared to itself", () => {
    expect(after(...THREE_STEPS, {type: "compare", id: "r1"}).compared).toBeNull();
  });
});

describe("a full tree", () => {
  const paths = Array.from({length: MOST_PATHS}, (_, index) => `r${index}`);
  const full = after(...paths.flatMap((id) => [run(id), step(id, 0), stopped(id)]));
  const more: Act = {type: "branch", start: {...START, id: "new"}, parent: "r0", fork: 0};

  it("takes no other branch", () => {
    expect(isFull(full)).toBe(true);
    expect(reduce(full, more)).toBe(full);
    const almost = {...full, branches: full.branches.slice(1)};
    expect(isFull(almost)).toBe(false);
    expect(reduce(almost, more).branches.at(-1)?.id).toBe("new");
  });

  it("gives way to a new run, which begins an empty one", () => {
    expect(reduce(full, run("new")).branches.map(({id}) => id)).toEqual(["new"]);
  });
});

describe("replay", () => {
  it("begins again from the end, steps on, and stops at the last step", () => {
    let explorer = after(...THREE_STEPS, {type: "play"});
    expect(explorer).toMatchObject({playing: true, step: 0});
    explorer = reduce(explorer, {type: "tick"});
    expect(explorer).toMatchObject({playing: true, step: 1});
    explorer = reduce(explorer, {type: "tick"});
    expect(explorer).toMatchObject({playing: false, step: 2});
    expect(reduce(explorer, {type: "tick"})).toBe(explorer);
  });

  it("goes no further than there are steps", () => {
    const explorer = after(...THREE_STEPS);
    expect(reduce(explorer, {type: "go", step: 9}).step).toBe(2);
    expect(reduce(explorer, {type: "go", step: -1}).step).toBe(0);
  });

  it.each([
    ["ArrowLeft", {type: "go", step: 0}],
    ["ArrowRight", {type: "go", step: 2}],
    ["Home", {type: "go", step: 0}],
    ["End", {type: "go", step: 2}],
    [" ", {type: "play"}],
    ["x", null],
  ])("the key %j does its act", (key, act) => {
    const explorer = after(...THREE_STEPS, {type: "go", step: 1});
    expect(actOfKey(key, {explorer, steps: 3, onControl: false})).toEqual(act);
  });

  it("leaves Space to a button that has the focus", () => {
    expect(actOfKey(" ", {explorer: EMPTY, steps: 3, onControl: true})).toBeNull();
  });
});
