/** The specimens of every frame, as the server's own code made them (`manage.py export_frames`). */

import {readdirSync, readFileSync} from "node:fs";
import {describe, expect, it} from "vitest";

import {choiceOf} from "../src/domain/choice";
import {rowsOf} from "../src/domain/rows";
import {applyFrame, newTrace, type Trace} from "../src/domain/trace";
import {decode, encode, type RunFrame, type ServerFrame, type Start} from "../src/wire";
import {START} from "./specimens";

const FOLDER = "../tests/data/frames";
const read = (name: string) => readFileSync(`${FOLDER}/${name}.json`, "utf8");
const names = readdirSync(FOLDER).map((name) => name.replace(".json", ""));

/** A whole run as its frames, with the request that it answered. */
function runOf(name: string): {readonly trace: Trace; readonly frames: readonly RunFrame[]} {
  const frames = JSON.parse(read(`run_${name}`)) as RunFrame[];
  const request = JSON.parse(read(`client_start_${name}`)) as {
    trace: {prompt: string; temperature?: number; top_p?: number};
    forced?: number[];
  };
  const settings = {
    ...START.settings,
    temperature: request.trace.temperature ?? 0,
    top_p: request.trace.top_p ?? 1,
  };
  const start: Start = {
    ...START,
    prompt: request.trace.prompt,
    forced: request.forced ?? [],
    settings,
  };
  return {trace: frames.reduce(applyFrame, newTrace(start)), frames};
}

/** Of the axis at its width on a phone. */
const PIXEL = 1 / 300;

describe.each(["greedy", "sampled", "branch"])("the %s run", (name) => {
  const {trace, frames} = runOf(name);
  const sent = frames.filter((frame) => frame.type === "step");

  it("ends as the whole trace, whose steps are those that came one by one", () => {
    expect(trace.status).toBe("finished");
    expect(trace.answer?.steps).toEqual(sent.map(({step}) => step));
    expect(trace.labs).toHaveLength(trace.steps.length);
  });

  it("lists tokens and a rest that make up the whole", () => {
    for (const step of trace.steps) {
      const listed = rowsOf(step).reduce((sum, row) => sum + row.probability, 0);
      expect(listed + step.analysis.remainder.mass).toBeCloseTo(1, 6);
    }
  });

  it("is drawn in the browser from the same chances as on the server, to 0.1%", () => {
    trace.steps.forEach((step, index) => {
      const lab = trace.labs[index];
      if (!lab) return;
      const {shares} = choiceOf(step, lab, trace.start.settings);
      const chosen = shares.find((share) => share.token?.token_id === step.selected_token_id);
      const {sampling_probability} = step.analysis;
      expect(Math.abs((chosen?.chance ?? 0) - sampling_probability)).toBeLessThan(0.001);
    });
  });

  it("has the drawn token at the server’s place on the browser’s own axis", () => {
    trace.steps.forEach((step, index) => {
      const {draw} = step.analysis;
      const lab = trace.labs[index];
      if (!draw || !lab) return;
      const {stages} = choiceOf(step, lab, trace.start.settings);
      const place = stages.at(-1)?.segments.find(({chosen}) => chosen) ?? expect.fail();
      expect(Math.abs(place.start - draw.lower)).toBeLessThan(PIXEL);
      expect(Math.abs(place.start + place.width - draw.upper)).toBeLessThan(PIXEL);
    });
  });
});

it("a branch begins with its given tokens, which were not drawn", () => {
  const {trace} = runOf("branch");
  const given = trace.steps.filter(({analysis}) => analysis.forced);
  expect(given.map((step) => step.selected_token_id)).toEqual(trace.start.forced);
  expect(given.every(({analysis}) => analysis.draw === null)).toBe(true);
});

const KNOWN: readonly ServerFrame["type"][] = [
  "hello",
  "queued",
  "started",
  "prompt_scores",
  "step",
  "finished",
  "stopped",
  "error",
  "count",
  "found",
];

it("there is a specimen of every frame that the page knows, and of no other", () => {
  const types = names
    .filter((name) => name.startsWith("server_"))
    .map((name) => decode(read(name)).type);
  expect([...new Set(types)].sort()).toEqual([...KNOWN].sort());
});

it("the page sends what the server’s specimens send", () => {
  const fields = (text: string) => Object.keys(JSON.parse(text) as object);
  const sent = [
    encode(START),
    encode({type: "stop", id: "r1"}),
    encode({type: "count", id: "c1", prompt: "a"}),
    encode({type: "find", id: "f1", text: "a"}),
  ];
  for (const text of sent) {
    const {type} = JSON.parse(text) as {type: string};
    const specimens = names.filter((name) => name.startsWith(`client_${type}`)).map(read);
    const known = new Set(specimens.flatMap(fields));
    expect(specimens).not.toEqual([]);
    expect(fields(text).filter((field) => !known.has(field))).toEqual([]);
  }
});
