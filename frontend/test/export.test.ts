import {readFileSync} from "node:fs";
import {describe, expect, it} from "vitest";

import {bibtexOf, citationOf} from "../src/export/citation";
import {COLUMNS, guarded, toCsv} from "../src/export/csv";
import {runFigure, stepFigure} from "../src/export/figure";
import {offlinePage} from "../src/export/offline";
import {fileName, type SavedTrace} from "../src/export/record";
import {clipped, wrapped} from "../src/export/svg";
import {exactJson} from "../src/share/exact";
import {brokenBytes, exactSeed, traceOf, type Stored} from "../src/share/stored";
import {utf8} from "../src/domain/tokens";
import {answerOf, stepOf} from "./specimens";

const HOSTILE =
  "=1+1\0\x07\x1b\x7f\x85 </script><!-- ]]> & \"quoted\" 'it' \u202eevil\u2066 😀👩‍👧 \ud800 \ufffe\r\n\tend";
const BIG_SEED = "9223372036854775807";
const STEPS = [
  stepOf(0, " a", {probability: 0.5, alternatives: [[30, "=cmd", 0.25], [31, "</script>", 0.125]]}),
  stepOf(1, "\u202e<b>", {rank: 1, probability: 0.25, alternatives: [[32, '"', 0.5], [33, ",", 0.1]]}),
]; // prettier-ignore

function savedOf(prompt: string, more: Partial<SavedTrace> = {}): SavedTrace {
  const answer = answerOf(STEPS, {prompt});
  return {
    answer,
    seed: BIG_SEED,
    at: "2026-11-30T12:00:00Z",
    url: "http://a.example/",
    promptBytes: [],
    provenance: null,
    ...more,
  };
}

/** RFC 4180, read back. */
function cellsOf(csv: string): string[][] {
  const rows: string[][] = [[]];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (const [, quoted, bare, end] of csv.matchAll(pattern)) {
    rows.at(-1)?.push(quoted === undefined ? (bare ?? "") : quoted.replaceAll('""', '"'));
    if (end === "\r\n") rows.push([]);
  }
  expect(rows.pop()).toEqual([]);
  return rows;
}

describe("JSON", () => {
  it("is the trace to the last digit, in the server's order", () => {
    const {answer} = savedOf(HOSTILE);
    const text = exactJson(answer, BIG_SEED, 1);
    expect(text).toContain(`"seed": ${BIG_SEED},`);
    expect(exactSeed(text)).toBe(BIG_SEED);
    expect(Object.keys(JSON.parse(text) as object)).toEqual(Object.keys(answer));
    const rounded = {...answer, decoding: {...answer.decoding, seed: Number(BIG_SEED)}};
    expect(JSON.parse(text)).toEqual(rounded);
    expect(JSON.parse(exactJson(answer, null))).toHaveProperty("decoding.seed", null);
  });

  it("finds no seed in a text that talks of one", () => {
    const {answer} = savedOf('"seed": 5, \\"seed\\": 6');
    expect(exactSeed(exactJson(answer, null, 1))).toBeNull();
    expect(exactSeed(exactJson(answer, "12"))).toBe("12");
  });
});

describe("a stored trace", () => {
  const storedOf = (more: Partial<Stored> = {}): Stored => ({
    trace: answerOf(STEPS),
    provenance: null,
    shared_at: "2026-11-30T12:00:00Z",
    url: "http://a.example/t/x",
    ...more,
  });

  it("has the bytes of its prompt's tokens, which are parts of characters, again", () => {
    // 😀 and 👧 as a tokenizer cuts them, a whole letter between.
    const pieces = [[0xf0, 0x9f, 0x98], [0x80], [0x61], [0xf0, 0x9f], [0x91, 0xa7]];
    const texts = ["\ufffd", "\ufffd", "a", "\ufffd", "\ufffd\ufffd"];
    const tokens = texts.map((token, i) => ({
      token_id: i,
      token,
      bytes: pieces[i] ?? [],
      special: false,
    }));
    const prompt_tokens = tokens.map(({token_id, token}) => ({token_id, token}));
    const prompt_bytes = brokenBytes(tokens);
    expect(prompt_bytes).toEqual(["f09f98", "80", "f09f", "91a7"]);
    const trace = answerOf(STEPS, {prompt: "😀a👧", prompt_tokens});
    expect(traceOf(storedOf({trace, prompt_bytes}), null).promptTokens).toEqual(tokens);
    const [first] = traceOf(storedOf({trace}), null).promptTokens;
    expect(first?.bytes).toEqual(utf8("\ufffd")); // all that is known
  });

  it("is a run that could be asked for again", () => {
    const {start, status} = traceOf(storedOf(), BIG_SEED);
    expect(status).toBe("finished");
    const settings = {max_new_tokens: 2, top_k: 2, temperature: 1, top_p: 1, seed: BIG_SEED};
    expect(start.settings).toEqual(settings);
  });
});

describe("CSV", () => {
  it("has a row for each token that a step lists, and one for all others", () => {
    const rows = cellsOf(toCsv(savedOf("Hi")).replace("\ufeff", ""));
    const [head = [], ...body] = rows;
    expect(head).toEqual(Object.keys(COLUMNS));
    expect(rows.every((row) => row.length === head.length)).toBe(true);
    const shown = body.map((row) => row.slice(0, 9).join("|"));
    expect(shown).toEqual([
      "1|drawn|1|10| a|20 61|1|0.5|0.5",
      "1|alternative|2|30|'=cmd|3D 63 6D 64|1|0.25|0.75",
      "1|alternative|3|31|</script>|3C 2F 73 63 72 69 70 74 3E|1|0.125|0.875",
      "1|rest|||||97|0.125|1",
      "2|alternative|1|32|\"|22|1|0.5|0.5",
      "2|drawn|2|11|\u202e<b>|E2 80 AE 3C 62 3E|1|0.25|0.75",
      "2|alternative|3|33|,|2C|1|0.1|0.85",
      "2|rest|||||97|0.15000000000000002|1",
    ]);
    expect(body.every((row) => row[head.indexOf("seed")] === BIG_SEED)).toBe(true);
  }); // prettier-ignore

  it("keeps a hostile prompt whole, and inert", () => {
    const [head = [], first = []] = cellsOf(toCsv(savedOf(HOSTILE)).replace("\ufeff", ""));
    const cell = first[head.indexOf("prompt")] ?? "";
    expect(cell.startsWith("'=")).toBe(true);
    expect(cell.slice(1)).toBe(HOSTILE);
  });

  it.each([
    "=1",
    "+1",
    "-1",
    "@a",
    "\ta",
    "\ra",
    "\na",
    " =1",
    "\u3000@a",
    "＝1",
    "＠a",
    "'",
    "'=1",
  ])("guards %j so that it can be had again", (text) => expect(guarded(text)).toBe(`'${text}`));

  it.each(["", "a", "1", " a", "a=1", '"', "😀", "#", "␣="])("leaves %j as it is", (text) =>
    expect(guarded(text)).toBe(text),
  );

  it("docs/sharing.md lists every column", () => {
    const page = readFileSync("../docs/sharing.md", "utf8").split("## CSV")[1] ?? "";
    const listed = [...(page.split("\n## ")[0]?.matchAll(/^\| `(\w+)` \|/gm) ?? [])];
    expect(listed.map(([, name]) => name)).toEqual(Object.keys(COLUMNS));
  });
});

describe("a figure", () => {
  const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

  it.each([
    ["of a step", (saved: SavedTrace) => stepFigure(saved, 1)],
    ["of a run", runFigure],
  ])("%s holds anyone's text as text, and nothing from elsewhere", (_, draw) => {
    const svg = draw(savedOf(HOSTILE));
    expect(svg).not.toMatch(NOT_XML);
    expect(svg).not.toMatch(/<\/?script|<b>|<image|<style|href|url\(|\u202e/);
    expect(svg).toContain("␀␇␛␡⟨U+0085⟩ &lt;/script&gt;&lt;!-- ]]&gt; &amp; &quot;quoted&quot;");
    expect(svg).toContain("⟨U+D800⟩ ⟨U+FFFE⟩␍↵⇥end");
    const open = [...svg.matchAll(/<(\w+)(?: [^<>]*)?(?<!\/)>/g)].map(([, name]) => name);
    const closed = [...svg.matchAll(/<\/(\w+)>/g)].map(([, name]) => name);
    expect(open.toSorted()).toEqual(closed.toSorted());
  });

  it("says how it was made and what to cite", () => {
    const svg = runFigure(savedOf("Hi")).replace(/<[^>]+>/g, " ").replace(/\s+/g, " "); // prettier-ignore
    expect(svg).toContain(`2 tokens, temperature 1, top-p 1, seed ${BIG_SEED}.`);
    expect(svg).toContain("continued by someone/tiny (revision 0123456789ab, temperature 1");
    expect(svg).toContain("on 30 November 2026. http://a.example/");
  });

  it("draws bars in proportion", () => {
    const widths = [...stepFigure(savedOf("Hi"), 0).matchAll(/width="([\d.]+)" height="16"/g)];
    const [first = 0, ...others] = widths.map(([, width]) => Number(width));
    expect(others.map((each) => (each / first).toFixed(3))).toEqual(["0.500", "0.250", "0.250"]);
  });

  it("breaks lines between words, and words that are too long", () => {
    expect(wrapped("one two three", 8)).toEqual(["one two ", "three"]);
    expect(wrapped("漢字漢字漢", 4)).toEqual(["漢字", "漢字", "漢"]);
    expect(wrapped("👩‍👧👩‍👧", 2)).toEqual(["👩‍👧", "👩‍👧"]);
    expect(clipped("a long name", 6)).toBe("a\u00a0lon…");
    expect(clipped("short", 6)).toBe("short");
  });
});

describe("a file that replays offline", () => {
  const sources = {
    script: 'const a="</script><!--";',
    styles: [{css: "a{b:'</style>'}", media: "print"}],
    reading: "<h2>What the numbers mean</h2>",
  };
  const page = offlinePage(savedOf(HOSTILE), sources); // prettier-ignore

  it("ends no element early, whatever the prompt says", () => {
    expect(page.match(/<\/script/gi)).toHaveLength(2);
    expect(page.match(/<\/style/gi)).toHaveLength(1);
    expect(page).not.toContain("<!-- ");
    expect(page).toContain('const a="\\u003c/script>\\u003c!--";');
  });

  it("has the trace whole", () => {
    const block = /id="stored-trace">([^<]*)</.exec(page)?.[1] ?? "";
    expect(JSON.parse(block)).toMatchObject({
      trace: {prompt: HOSTILE},
      shared_at: "2026-11-30T12:00:00Z",
      url: "http://a.example/",
    });
    expect(exactSeed(block)).toBe(BIG_SEED);
  });

  it("may fetch nothing", () => {
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/\ssrc=|href="(?!data:,)/);
  });
});

describe("a citation", () => {
  const url = "https://a.example/t/AbCd-fGhIjKlMnOpQrStUv";

  it("names prompt, model, revision, settings, day and place in a line", () => {
    expect(citationOf(savedOf("Hi\n\u202e\0all ", {url}))).toBe(
      "Token Trace: “Hi all”, continued by someone/tiny (revision 0123456789ab, " +
        `temperature 1, top-p 1, seed ${BIG_SEED}) on 30 November 2026. ${url}`,
    );
    expect(citationOf(savedOf("a".repeat(61)))).toContain(`“${"a".repeat(59)}…”`);
    expect(citationOf(savedOf("👩\u200d👧"))).toContain("“👩\u200d👧”");
  });

  it("is an entry for BibTeX whose braces match", () => {
    const entry = bibtexOf(savedOf("50% of {a_b} \\ $1 & #2 ^ ~", {url}));
    expect(entry).toMatch(/^@misc\{tokentrace-AbCdfGhIjK,$/m);
    expect(entry).toContain(
      "title = {``50\\% of \\{a\\_b\\} \\textbackslash{} \\$1 \\& \\#2 " +
        "\\textasciicircum{} \\textasciitilde{}'' continued by tiny},",
    );
    const plain = entry.replace(/\\[{}]/g, "");
    expect(plain.split("{").length).toBe(plain.split("}").length);
  });
});

it.each([
  ["The moon is", "", "token-trace-the-moon-is-2026-11-30"],
  ["../../etc/passwd\0", "step-3", "token-trace-etc-passwd-step-3-2026-11-30"],
  ["नमस्ते دنیا", "run", "token-trace-नमस्ते-دنیا-run-2026-11-30"],
  ["?*:<>|", "", "token-trace-2026-11-30"],
  ["a".repeat(500), "", `token-trace-${"a".repeat(40)}-2026-11-30`],
])("a file with %j is named so that every system takes it", (prompt, part, name) => {
  expect(fileName(savedOf(prompt), part)).toBe(name);
});
