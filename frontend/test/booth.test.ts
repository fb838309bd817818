import {describe, expect, it} from "vitest";

import {alarm} from "../src/booth/alarm";
import {
  atStart,
  BETWEEN_MS,
  boothWith,
  IDLE_MS,
  MESSAGE_MS,
  openRun,
  SLOW_MS,
  type Act,
  type Booth,
  type Link,
} from "../src/booth/machine";
import {nearest} from "../src/booth/nearest";
import type {BoothPage, Recording} from "../src/booth/page";
import {CHOSEN_MS, isOver, stepShown, stepsWritten, WEIGH_MS} from "../src/booth/show";
import {advice, label} from "../src/booth/words";
import type {ErrorFrame, Start, TraceStep} from "../src/wire";
import {answerOf, START, stepOf} from "./specimens";

const MODEL = {alias: "smollm2-135m", repository: "of/SmolLM2", revision: "12".repeat(20)};
const [FIRST, SECOND] = [stepOf(0, " a"), stepOf(1, " disc")];
const STEPS = [FIRST, SECOND];

function recording(prompt: string, steps: readonly TraceStep[] = STEPS): Recording {
  const trace = {model: MODEL, prompt, steps, finish_reason: "length"} as const;
  return {slug: prompt, made_at: "2026-11-30T17:35:00Z", trace};
}

const MOON = recording("The moon is");
const TEA = recording("I like tea.");
const SET = [MOON, TEA];
const start = (prompt: string): Start => ({...START, prompt});

/** A booth that hears events at times of its own, and whatever is due between them. */
class Clock {
  now = 0;
  booth: Booth;
  readonly #reduce;

  constructor(recordings: readonly Recording[] = SET, link: Link = "ready") {
    this.#reduce = boothWith(recordings);
    this.booth = atStart(link, 0, recordings);
  }

  act(act: Act): this {
    this.booth = this.#reduce(this.booth, {...act, now: this.now});
    return this;
  }

  choose(prompt = MOON.trace.prompt, typed = false): this {
    this.act({type: "choose", start: start(prompt), typed});
    return this.booth.phase === "live" ? this.act({type: "sent", id: "r1"}) : this;
  }

  step(step: TraceStep): this {
    return this.act({type: "frame", frame: {type: "step", id: "r1", step, lab: null}});
  }

  finish(): this {
    const trace = answerOf(STEPS);
    return this.act({type: "frame", frame: {type: "finished", id: "r1", trace, receipt: ""}});
  }

  refuse(code: string): this {
    const message = "the server's own words";
    const error: ErrorFrame = {type: "error", id: "r1", code, message, param: null, retry_after: 1};
    return this.act({type: "frame", frame: error});
  }

  /** Let time pass, as the page's one timer does. */
  wait(ms: number): this {
    const end = this.now + ms;
    while (this.booth.due !== null && this.booth.due <= end) {
      this.now = this.booth.due;
      this.act({type: "time"});
    }
    this.now = end;
    return this;
  }
}

function showOf(booth: Booth) {
  if (!("show" in booth)) throw new Error(`${booth.phase} shows nothing`);
  return booth.show;
}

describe("a live run", () => {
  it("shows what could come, then what was chosen, then the next step", () => {
    const clock = new Clock().choose().step(FIRST).step(SECOND).finish();
    expect(clock.booth.phase).toBe("playing");
    expect(stepShown(showOf(clock.booth))).toBe(FIRST);
    expect(stepsWritten(showOf(clock.booth))).toEqual([]);
    clock.wait(WEIGH_MS);
    expect(stepsWritten(showOf(clock.booth))).toEqual([FIRST]);
    clock.wait(CHOSEN_MS);
    expect(stepShown(showOf(clock.booth))).toBe(SECOND);
    expect(isOver(showOf(clock.booth))).toBe(false);
    clock.wait(WEIGH_MS);
    expect(isOver(showOf(clock.booth))).toBe(true);
    expect(clock.booth.phase).toBe("playing");
  });

  it("leaves a beat its time when the next step comes early, and goes on with it at once when late", () => {
    const clock = new Clock()
      .choose()
      .step(FIRST)
      .wait(WEIGH_MS + 10)
      .step(SECOND);
    expect(stepShown(showOf(clock.booth))).toBe(FIRST);
    expect(stepShown(showOf(clock.wait(CHOSEN_MS - 10).booth))).toBe(SECOND);
    const late = new Clock()
      .choose()
      .step(FIRST)
      .wait(WEIGH_MS + CHOSEN_MS + 3000)
      .step(SECOND);
    expect(stepShown(showOf(late.wait(0).booth))).toBe(SECOND);
  });

  it("stands still while it is paused, whatever arrives, and goes on", () => {
    const clock = new Clock().choose().step(FIRST).act({type: "pause"});
    clock
      .step(SECOND)
      .finish()
      .wait(IDLE_MS - 1);
    expect(showOf(clock.booth)).toMatchObject({beat: 1, whole: true});
    clock.act({type: "resume"}).wait(WEIGH_MS);
    expect(stepsWritten(showOf(clock.booth))).toEqual([FIRST]);
  });

  it("is forgotten by Reset, and its late frames change nothing", () => {
    const clock = new Clock().choose().step(FIRST).act({type: "reset"}).step(SECOND).finish();
    expect(clock.booth).toEqual({phase: "choosing", link: "ready", due: IDLE_MS});
    expect(openRun(clock.booth)).toBeNull();
  });

  it("takes no frame of another run", () => {
    const clock = new Clock().choose();
    clock.act({type: "frame", frame: {type: "step", id: "r0", step: FIRST, lab: null}});
    expect(clock.booth.phase).toBe("live");
  });

  it("is played again from its first step", () => {
    const clock = new Clock().choose().step(FIRST).step(SECOND).finish().wait(10_000);
    expect(isOver(showOf(clock.booth))).toBe(true);
    clock.act({type: "again"});
    expect(stepShown(showOf(clock.booth))).toBeNull();
    expect(isOver(showOf(clock.wait(10_000).booth))).toBe(true);
  });
});

describe("a prepared trace in its place", () => {
  const prepared = (why: string) => ({phase: "prepared", why, recording: MOON, stands_in: false});

  it.each([
    ["loading", "loading"],
    ["lost", "gone"],
  ] as const)("comes at once where the model is %s", (link, why) => {
    expect(new Clock(SET, link).choose().booth).toMatchObject(prepared(why));
  });

  it("comes where a connection was still being made and there is none", () => {
    const clock = new Clock(SET, "connecting").choose();
    expect(clock.booth.phase).toBe("live");
    expect(clock.act({type: "link", link: "lost"}).booth).toMatchObject(prepared("gone"));
  });

  it.each([
    ["busy", "busy"],
    ["rate_limited", "busy"],
    ["not_ready", "loading"],
    ["timeout", "slow"],
    ["inference_failed", "failed"],
    ["invalid_request", "failed"],
    ["something_new", "failed"],
  ])("comes where the server says %s", (code, why) => {
    expect(new Clock().choose().refuse(code).booth).toMatchObject(prepared(why));
  });

  it("comes where no step comes in time, and says busy in a queue", () => {
    expect(new Clock().choose().wait(SLOW_MS - 1).booth.phase).toBe("live");
    expect(new Clock().choose().wait(SLOW_MS).booth).toMatchObject(prepared("slow"));
    const queued = new Clock().choose();
    queued.act({type: "frame", frame: {type: "queued", id: "r1", position: 2}});
    expect(queued.wait(SLOW_MS).booth).toMatchObject(prepared("busy"));
  });

  it("goes on at the same beat where the run stalls or the model goes away midway", () => {
    const stalled = new Clock()
      .choose()
      .step(FIRST)
      .wait(WEIGH_MS + CHOSEN_MS + SLOW_MS);
    expect(stalled.booth).toMatchObject({...prepared("slow"), show: {beat: 2}});
    const gone = new Clock().choose().step(FIRST).act({type: "link", link: "lost"});
    expect(gone.booth).toMatchObject({...prepared("gone"), show: {beat: 1}});
    expect(openRun(gone.booth)).toBeNull();
  });

  it("begins anew where what was drawn is not what was recorded", () => {
    const other = {...FIRST, selected_token_id: FIRST.selected_token_id + 1};
    const gone = new Clock().choose().step(other).act({type: "link", link: "lost"});
    expect(gone.booth).toMatchObject({...prepared("gone"), show: {beat: 0}});
    expect(stepShown(showOf(gone.wait(CHOSEN_MS).booth))).toBe(FIRST);
  });

  it("does not come for a run that had ended, nor goes when the model is back", () => {
    const ended = new Clock().choose().step(FIRST).finish().act({type: "link", link: "lost"});
    expect(ended.booth.phase).toBe("playing");
    const shown = new Clock(SET, "lost").choose().act({type: "link", link: "ready"});
    expect(shown.booth).toMatchObject(prepared("gone"));
    expect(shown.act({type: "reset"}).choose().booth.phase).toBe("live");
  });

  it("of a prompt that was typed is the nearest one, and says so", () => {
    const clock = new Clock(SET, "lost").choose("do you like coffee?", true);
    expect(clock.booth).toMatchObject({phase: "prepared", recording: TEA, stands_in: true});
  });
});

describe("without anything to show instead", () => {
  it("it says what is the matter, and is at the start again by itself", () => {
    const clock = new Clock([], "lost").choose();
    expect(clock.booth).toMatchObject({
      phase: "recovering",
      message: expect.stringMatching(/cannot be reached/),
    });
    expect(clock.wait(MESSAGE_MS - 1).booth.phase).toBe("recovering");
    expect(clock.wait(1).booth.phase).toBe("choosing");
  });

  it("a typed prompt that cannot be traced is told so, and no other is shown for it", () => {
    const clock = new Clock().choose("too long", true).refuse("prompt_too_long");
    expect(clock.booth).toMatchObject({
      phase: "recovering",
      message: expect.stringMatching(/^The prompt is too long/),
    });
  });

  it("the start stays: there is nothing for an idle loop", () => {
    expect(new Clock([]).wait(10 * IDLE_MS).booth.phase).toBe("choosing");
  });
});

describe("the idle loop", () => {
  const WHOLE_MS = CHOSEN_MS + 2 * WEIGH_MS + CHOSEN_MS + BETWEEN_MS;

  it("begins when nobody touches anything, and shows one recording after the other", () => {
    const clock = new Clock()
      .wait(IDLE_MS - 1)
      .act({type: "touch"})
      .wait(IDLE_MS - 1);
    expect(clock.booth.phase).toBe("choosing");
    clock.wait(1);
    expect(clock.booth).toMatchObject({phase: "idle", recording: MOON});
    expect(clock.wait(WHOLE_MS).booth).toMatchObject({phase: "idle", recording: TEA});
    expect(clock.wait(WHOLE_MS).booth).toMatchObject({phase: "idle", recording: MOON});
  });

  it("ends at a touch, which does nothing else", () => {
    const clock = new Clock().wait(IDLE_MS).act({type: "touch"});
    expect(clock.booth.phase).toBe("idle");
    expect(clock.act({type: "wake"}).booth).toMatchObject({phase: "choosing", due: 2 * IDLE_MS});
    expect(clock.choose().act({type: "wake"}).booth.phase).toBe("live");
  });

  it.each(["over", "paused"])("follows a trace that is %s and left alone", (how) => {
    const clock = new Clock().choose().step(FIRST).step(SECOND).finish();
    if (how === "paused") clock.act({type: "pause"});
    else clock.wait(2 * WEIGH_MS + CHOSEN_MS);
    clock
      .wait(IDLE_MS - 1)
      .act({type: "touch"})
      .wait(IDLE_MS - 1);
    expect(clock.booth.phase).toBe("playing");
    expect(clock.wait(1).booth.phase).toBe("idle");
  });
});

it("no phase is a dead end: from each, left alone, the booth comes back to where it waits", () => {
  for (const recordings of [SET, []]) {
    const rest = recordings.length > 0 ? "idle" : "choosing";
    const ways: ((clock: Clock) => Clock)[] = [
      (clock) => clock,
      (clock) => clock.choose(),
      (clock) => clock.choose().step(FIRST),
      (clock) => clock.choose().step(FIRST).step(SECOND).finish(),
      (clock) => clock.choose().step(FIRST).act({type: "pause"}),
      (clock) => clock.choose().refuse("busy"),
      (clock) => clock.choose().act({type: "link", link: "lost"}),
      (clock) => clock.choose("?", true).refuse("prompt_too_long"),
    ];
    for (const way of ways) {
      expect(way(new Clock(recordings)).wait(5 * IDLE_MS).booth.phase).toBe(rest);
    }
  }
});

describe("the alarm", () => {
  /** A clock whose timers end before their time, as a browser's may. */
  function early() {
    const waiting = new Map<number, () => void>();
    const delays: number[] = [];
    const clock = {
      time: 0.4,
      now: () => clock.time,
      after: (ms: number, then: () => void) => {
        waiting.set(delays.push(ms), then);
        return delays.length;
      },
      cancel: (timer: number) => void waiting.delete(timer),
    };
    const end = (at: number) => {
      clock.time = at;
      const ended = [...waiting.values()];
      waiting.clear();
      for (const then of ended) then();
    };
    return {clock, end, delays};
  }

  it("rings once and not before its time, even where a timer ends early", () => {
    const {clock, end, delays} = early();
    let rung = 0;
    alarm(100.3, () => rung++, clock);
    end(99.9);
    expect([rung, delays]).toEqual([0, [100, 1]]);
    end(100.3);
    end(200);
    expect([rung, delays]).toEqual([1, [100, 1]]);
  });

  it("is called off, also after a timer that ended early", () => {
    const {clock, end} = early();
    let rung = 0;
    const off = alarm(100, () => rung++, clock);
    end(99);
    off();
    end(200);
    expect(rung).toBe(0);
  });
});

it("the nearest recording has the same prompt, or most words in common", () => {
  expect(nearest("The moon is", SET)).toBe(MOON);
  expect(nearest("is the MOON made of cheese", SET)).toBe(MOON);
  expect(nearest("tea", SET)).toBe(TEA);
  expect(nearest("xyz", SET)).toBe(MOON);
  expect(nearest("xyz", [])).toBeNull();
});

describe("what the booth says of recordings", () => {
  const page = {model: MODEL, recordings: SET, of_served_model: true} as unknown as BoothPage;
  const another = {...page, of_served_model: false};

  it("names the model wherever it is another one", () => {
    expect(label(MOON, page)).toBe("Prepared earlier on this model — not live");
    expect(label(MOON, another)).toBe(
      `Prepared earlier on other weights of ${MODEL.alias} — not live`,
    );
    const served = {...another, model: {alias: "qwen", revision: "f".repeat(40)}};
    expect(label(MOON, served)).toBe(
      `Prepared earlier on another model, ${MODEL.alias} — not live`,
    );
  });

  it("tells an operator what to do where the served model has none", () => {
    expect(advice(page)).toBe("");
    expect(advice(another)).toMatch(/^No prepared traces for .*; run manage\.py record_traces\./);
    expect(advice({...another, recordings: []})).toBe(
      "No prepared traces for this model; run manage.py record_traces.",
    );
  });
});
