import {describe, expect, it} from "vitest";

import {applyFrame, disconnected, isOn, newTrace, scoreOf, textOf} from "../src/domain/trace";
import type {RunFrame, TraceAnswer} from "../src/wire";
import {START, stepOf} from "./specimens";

const FRESH = newTrace(START);
const fold = (...frames: RunFrame[]) => frames.reduce(applyFrame, FRESH);

const QUEUED: RunFrame = {type: "queued", id: "r1", position: 2};
const STARTED: RunFrame = {type: "started", id: "r1", prompt_tokens: []};
const STEP: RunFrame = {type: "step", id: "r1", step: stepOf(0, " a"), lab: null};

describe("a trace, frame by frame", () => {
  it("waits at its place in the queue", () => {
    expect(fold(QUEUED)).toMatchObject({status: "queued", position: 2});
  });

  it("leaves the queue when it starts", () => {
    expect(fold(QUEUED, STARTED)).toMatchObject({status: "running", position: null});
  });

  it("gathers steps and what the lab needs of each", () => {
    const lab = {top: [], tail: []};
    const trace = fold(STARTED, STEP, {...STEP, step: stepOf(1, " b"), lab});
    expect(trace.steps.map((step) => step.selected_token)).toEqual([" a", " b"]);
    expect(trace.labs).toEqual([null, lab]);
  });

  it("has the answer’s steps at the end, which carry the same as those that came", () => {
    const answer = {steps: [stepOf(0, " a")], finish_reason: "length"} as unknown as TraceAnswer;
    const trace = fold(STARTED, STEP, {type: "finished", id: "r1", trace: answer, receipt: "r"});
    expect(trace).toMatchObject({status: "finished", answer, steps: answer.steps});
    expect(isOn(trace)).toBe(false);
  });

  it("keeps its steps when it fails", () => {
    const error = {
      type: "error",
      id: "r1",
      code: "timeout",
      message: "",
      param: null,
      retry_after: null,
    } as const;
    const trace = applyFrame(fold(STARTED, STEP), error);
    expect(trace).toMatchObject({status: "failed", problem: error});
    expect(trace.steps).toHaveLength(1);
  });
});

describe("when the connection breaks", () => {
  it.each([
    ["that waited is asked again", fold(QUEUED), "unsent"],
    ["without a step is asked again", fold(STARTED), "unsent"],
    ["with steps keeps them and is cut short", fold(STARTED, STEP), "interrupted"],
    ["that was over stays over", fold({type: "stopped", id: "r1"}), "stopped"],
  ])("a trace %s", (_, trace, status) => {
    expect(disconnected(trace).status).toBe(status);
    expect(disconnected(trace).steps).toEqual(trace.steps);
  });
});

it("the text joins bytes over tokens and leaves control tokens out", () => {
  const steps = [
    stepOf(0, "", {bytes: [0x20, 0xf0, 0x9f]}),
    stepOf(1, "", {bytes: [0x98, 0x80]}),
    stepOf(2, "<|end|>", {special: true}),
  ];
  expect(textOf(steps)).toBe(" 😀");
});

it("the measures of a step are those of its chosen token", () => {
  expect(scoreOf(stepOf(0, "a", {probability: 0.25, rank: 3, entropy: 5}))).toEqual({
    probability: 0.25,
    rank: 3,
    surprisal_bits: 2,
    entropy_bits: 5,
  });
});
