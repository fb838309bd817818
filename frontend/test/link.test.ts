import {readFileSync} from "node:fs";
import {describe, expect, it} from "vitest";

import type {Typed} from "../src/domain/fields";
import {fitting, HIDABLE, LONGEST, OPTIONS, PLAIN, readLink, writeLink} from "../src/share/link";
import {FIELDS} from "./specimens";

const SETTINGS = {
  max_new_tokens: "7",
  top_k: "3",
  temperature: "0.7",
  top_p: "0.9",
  seed: "9223372036854775807",
};
const read = (fragment: string) => readLink(fragment, FIELDS) ?? expect.fail("not a link");

/** A small generator with a seed, so that a failure can be had again. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const AWKWARD = [
  "\0", "\r", "\n", "\t", " ", "+", "%", "%00", "&", "=", "#", "?", '"', "'", "`", "<", "</script>",
  "<!--", "\u202e", "\u2066", "\u200d", "😀", "👩‍👩‍👧", "é", "नि", "\ufffd", "\ufeff", "\u{10ffff}",
]; // prettier-ignore

describe("a link", () => {
  it("brings back any prompt of up to 1,000 characters unchanged", () => {
    const next = numbers(7);
    for (let round = 0; round < 300; round++) {
      let prompt = "";
      const length = 1 + Math.floor(next() * 1000);
      while ([...prompt].length < length) {
        const point = Math.floor(next() * 0x11_0000);
        const surrogate = point >= 0xd800 && point < 0xe000;
        const awkward = AWKWARD[Math.floor(next() * AWKWARD.length)] ?? "";
        prompt += next() < 0.5 || surrogate ? awkward : String.fromCodePoint(point);
      }
      prompt = [...prompt].slice(0, length).join("");
      const typed: Typed = {...SETTINGS, prompt};
      const fragment = writeLink({typed, options: PLAIN});
      expect(fragment).toMatch(/^[\w.*+%&=-]+$/);
      // As a browser keeps it in an address.
      const {hash, search} = new URL(`http://a.example/#${fragment}`);
      expect(read(hash)).toEqual({typed, options: PLAIN, dropped: []});
      expect(search).toBe("");
    }
  });

  it("fits its own bound at its longest", () => {
    const typed = {...SETTINGS, prompt: "\u{10ffff}".repeat(1000)};
    const options = {...PLAIN, run: true, hide: HIDABLE, lock: ["prompt", "settings"]} as const;
    expect(writeLink({typed, options}).length).toBeLessThan(LONGEST);
  });

  it("brings back every option", () => {
    const options = {
      run: true,
      scorePrompt: true,
      measure: "rank",
      hide: ["settings", "lab"],
      lock: ["prompt", "settings"],
      theme: "dark",
    } as const;
    const fragment = writeLink({typed: {prompt: "a"}, options});
    expect(fragment).toBe(
      "prompt=a&measure_prompt=1&colour=rank&run=1&hide=settings%2Clab&lock=1&theme=dark",
    );
    expect(read(fragment)).toEqual({typed: {prompt: "a"}, options, dropped: []});
  });

  it("leaves out what does not fit the form, rather than carry it", () => {
    const typed = {...SETTINGS, prompt: "", temperature: "9", seed: ""};
    expect(writeLink({typed: fitting(typed, FIELDS), options: PLAIN})).toBe(
      "max_new_tokens=7&top_k=3&top_p=0.9",
    );
  });

  it("is not what leads to a place on the page", () => {
    expect(["", "#", "#main", "#trace", "#prompt"].map((each) => readLink(each, FIELDS))).toEqual(
      Array(5).fill(null),
    );
  });
});

describe("a link with something wrong in it", () => {
  it.each([
    ["temperature=9", "temperature must be right; this is “9”."],
    ["temperature=NaN", "temperature must be right; this is “NaN”."],
    ["temperature=", "temperature must be right; this is empty."],
    ["temperature=%E2%80%AE9", "temperature must be right; this is “⟨U+202E⟩9”."],
    ["max_new_tokens=1e9", "max_new_tokens must be right; this is “1e9”."],
    ["seed=9223372036854775808", "seed must be right; this is “9223372036854775808”."],
    ["prompt=", "prompt must be right; this is empty."],
    [`prompt=${"a".repeat(1001)}`, "prompt must be right; this is 1001 characters long."],
    ["prompt=%ff", "“prompt” is not encoded as a link needs it."],
    ["prompt=%zz", "“prompt” is not encoded as a link needs it."],
    ["run=yes", "run must be 0 or 1; this is “yes”."],
    ["theme=pink", "theme must be auto, light, dark; this is “pink”."],
    ["colour=__proto__", "colour must be probability, rank, surprisal, entropy; this is “__proto__”."],
    ["hide=everything", `hide must be any of ${HIDABLE.join(", ")}; this is “everything”.`],
    ["lock=all", "lock must be 1, or any of prompt, settings; this is “all”."],
    ["__proto__=1", "“__proto__” is no option of a link."],
    ["onload=alert(1)", "“onload” is no option of a link."],
    ["%E2%80%AEx=1", "“⟨U+202E⟩x” is no option of a link."],
  ])("%s: says so and keeps the default", (part, why) => {
    expect(read(part)).toEqual({typed: {}, options: PLAIN, dropped: [why]});
  }); // prettier-ignore

  it("keeps what is right beside it", () => {
    expect(read("top_k=99&hide=lab,door,lab&prompt=a=b&prompt=c&run=1")).toEqual({
      typed: {prompt: "a=b"},
      options: {...PLAIN, run: true, hide: ["lab"]},
      dropped: [
        "top_k must be right; this is “99”.",
        `hide must be any of ${HIDABLE.join(", ")}; this is “door”.`,
        "“prompt” is named twice; the first holds.",
      ],
    });
  });

  it("locks no empty prompt, and runs none", () => {
    expect(read("lock=1&run=1")).toEqual({
      typed: {},
      options: {...PLAIN, lock: ["settings"]},
      dropped: [
        "The prompt is not locked: the link has none.",
        "Nothing is run: the link has no prompt.",
      ],
    });
  });

  it("is not read at all where it is huge", () => {
    const {typed, options, dropped} = read(`#prompt=a&run=1&x=${"a".repeat(LONGEST)}`);
    expect([typed, options]).toEqual([{}, PLAIN]);
    expect(dropped).toEqual([`The link is ${LONGEST + 17} characters long: nothing was taken from it.`]);
  }); // prettier-ignore
});

it("docs/sharing.md lists every field and option of a link", () => {
  const page = readFileSync("../docs/sharing.md", "utf8");
  const table = page.split("## The options of a link")[1]?.split("\n## ")[0] ?? "";
  const rows = [...table.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map((row) => [row[1], row[2]]);
  const named = Object.fromEntries(rows);
  expect(Object.keys(named)).toEqual([...FIELDS.map(({name}) => name), ...Object.keys(OPTIONS)]);
  for (const [name, values] of Object.entries(OPTIONS)) expect(named[name]).toBe(values);
});
