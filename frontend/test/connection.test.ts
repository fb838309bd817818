import {describe, expect, it} from "vitest";

import {FIRST, isReady, linked} from "../src/domain/connection";
import type {Hello} from "../src/wire";

const HELLO = {type: "hello", ready: true} as Hello;
const LOADING = {type: "hello", ready: false} as Hello;
const after = (...events: Parameters<typeof linked>[1][]) => events.reduce(linked, FIRST);

describe("the connection", () => {
  it("is not missed while the first one is being made", () => {
    expect(after("connecting").isMissing).toBe(false);
    expect(after("connecting", "open").isMissing).toBe(false);
  });

  it("takes runs once the server has said that it is ready", () => {
    expect(isReady(after("connecting", "open"))).toBe(false);
    expect(isReady(after("connecting", "open", LOADING))).toBe(false);
    expect(isReady(after("connecting", "open", LOADING, HELLO))).toBe(true);
  });

  it("is missed from its loss until the server is heard, however many sockets open and break", () => {
    const lost = after("connecting", "open", HELLO, "lost");
    expect(lost).toMatchObject({isMissing: true, met: true, hello: null});
    for (const event of ["connecting", "open", "lost", "connecting", "open"] as const) {
      expect(linked(lost, event).isMissing).toBe(true);
      expect(isReady(linked(lost, event))).toBe(false);
    }
    expect(linked(linked(lost, "open"), HELLO)).toMatchObject({isMissing: false, met: true});
  });

  it("that never let the server be heard was not lost", () => {
    expect(after("connecting", "open", "lost")).toMatchObject({isMissing: true, met: false});
  });
});
