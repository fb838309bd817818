import {expect, it} from "vitest";

import {endingOf} from "../src/domain/ending";
import {newTrace, type Status, type Trace} from "../src/domain/trace";
import type {FinishReason, TraceAnswer} from "../src/wire";
import {START, stepOf} from "./specimens";

const ended = (reason: FinishReason, forced: boolean): Trace => ({
  ...newTrace(START),
  status: "finished",
  steps: [stepOf(0, " a", {forced: true}), stepOf(1, "<end>", {special: true, forced})],
  answer: {finish_reason: reason} as TraceAnswer,
});

it.each<[FinishReason, boolean, string]>([
  ["eos", false, "the model chose the token that ends a text"],
  ["eos", true, "the token that you gave is one that ends a text"],
  ["length", false, "as many tokens as were asked for"],
  ["length", true, "nothing was left to draw"],
  ["stopped", false, "You stopped it."],
])("a trace that ended by %s, its last token given: %s", (reason, forced, said) => {
  expect(endingOf(ended(reason, forced))).toContain(said);
});

it("no one is told that the model chose a token that was given", () => {
  expect(endingOf(ended("eos", true))).not.toContain("chose");
});

it.each<[Status, string]>([
  ["running", ""],
  ["unsent", ""],
  ["failed", "It failed here"],
  ["interrupted", "The connection broke here"],
])("a trace that is %s says %j", (status, said) => {
  const trace = {...newTrace(START), status};
  expect(endingOf(trace).startsWith(said)).toBe(true);
  expect(endingOf(trace) === "").toBe(said === "");
});
