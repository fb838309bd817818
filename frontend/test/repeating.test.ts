import {describe, expect, it} from "vitest";

import {requestOf, settingsSaid} from "../src/domain/repeating";
import {encode, traceBody} from "../src/wire";
import {START} from "./specimens";

const BRANCH = {...START, forced: [10, 99]};
const settings = (more: object) => ({...START.settings, ...more});

describe("how to repeat", () => {
  it("a run of the prompt is a request of the public API", () => {
    const {to, text, note} = requestOf(START);
    expect([to, text, note]).toEqual([
      "POST /v1/traces",
      traceBody(START.prompt, START.settings),
      "",
    ]);
  });

  it("a branch is a frame of the socket with its given tokens, for the API cannot force any", () => {
    const {to, text, note} = requestOf(BRANCH);
    expect([to, text]).toEqual(["WebSocket /ws/traces", encode(BRANCH)]);
    expect(JSON.parse(text)).toMatchObject({type: "start", forced: [10, 99]});
    expect(note).toContain("the public API cannot force tokens");
  });

  it("says what a seed repeats: a request, or on a branch a frame", () => {
    expect(settingsSaid(START)).toContain("seed 7: the same request gives the same tokens");
    expect(settingsSaid(BRANCH)).toContain("seed 7: the same frame gives the same tokens");
    expect(settingsSaid(BRANCH)).not.toContain("request");
    expect(settingsSaid(BRANCH)).toContain("began with 2 given tokens");
  });

  it("promises nothing without a seed, and no chance at temperature 0", () => {
    expect(settingsSaid({...START, settings: settings({seed: null})})).toContain("may differ");
    const greedy = settingsSaid({...START, settings: settings({temperature: 0})});
    expect(greedy).toBe("Greedy (temperature 0): top-p and seed have no effect. At most 3 tokens.");
  });
});
