import {describe, expect, it} from "vitest";

import {initial, judge, type Field, type FieldName} from "../src/domain/fields";
import {problemOf} from "../src/domain/problems";
import type {ErrorFrame} from "../src/wire";
import {encode, traceBody} from "../src/wire";
import {START} from "./specimens";

const field = (name: FieldName, kind: Field["kind"], bounds: [number, number] | null): Field => ({
  name,
  kind,
  label: name,
  help: "",
  must: "right",
  typed: {prompt: "", max_new_tokens: "16", top_k: "5", temperature: "0", top_p: "1", seed: ""}[
    name
  ],
  minimum: bounds?.[0] ?? null,
  maximum: bounds?.[1] ?? null,
});
const FIELDS = [
  field("prompt", "prompt", [1, 10]),
  field("max_new_tokens", "integer", [1, 32]),
  field("top_k", "integer", [1, 10]),
  field("temperature", "number", [0, 2]),
  field("top_p", "number", [0, 1]),
  field("seed", "integer", null),
];
const TYPED = {...initial(FIELDS), prompt: "Hi"};

describe("the form", () => {
  it("gives the request with its defaults", () => {
    expect(judge(FIELDS, TYPED)).toEqual({
      ok: true,
      prompt: "Hi",
      settings: {max_new_tokens: 16, top_k: 5, temperature: 0, top_p: 1, seed: null},
    });
  });

  it.each<[FieldName, string]>([
    ["prompt", ""],
    ["prompt", "12345678901"],
    ["max_new_tokens", "0"],
    ["max_new_tokens", "33"],
    ["max_new_tokens", "1.5"],
    ["max_new_tokens", ""],
    ["top_k", "eleven"],
    ["temperature", "-1"],
    ["temperature", "2.1"],
    ["temperature", "NaN"],
    ["temperature", "Infinity"],
    ["top_p", "0"],
    ["top_p", "1.01"],
    ["seed", "-1"],
    ["seed", "9223372036854775808"],
    ["seed", "0x10"],
  ])("refuses %s %j by name", (name, typed) => {
    const judged = judge(FIELDS, {...TYPED, [name]: typed});
    expect(judged.ok ? [] : Object.keys(judged.faults)).toEqual([name]);
  });

  it("says what it must be and what it is", () => {
    const judged = judge(FIELDS, {...TYPED, top_k: "x", prompt: ""});
    expect(judged).toMatchObject({
      faults: {
        top_k: "top_k must be right; this is “x”.",
        prompt: "prompt must be right; this is empty.",
      },
    });
  });

  it("counts characters as the server does", () => {
    expect(judge(FIELDS, {...TYPED, prompt: "😀".repeat(10)}).ok).toBe(true);
  });

  it.each([
    ["temperature", ".5", 0.5],
    ["temperature", " 1e-3 ", 0.001],
    ["max_new_tokens", "08", 8],
  ])("takes %s %j", (name, typed, value) => {
    expect(judge(FIELDS, {...TYPED, [name]: typed})).toMatchObject({settings: {[name]: value}});
  });
});

describe("a start frame", () => {
  it("keeps every digit of a seed of 63 bits", () => {
    const settings = {...START.settings, seed: "9223372036854775807"};
    const text = encode({...START, settings});
    expect(text).toContain('"seed":9223372036854775807}');
    expect(JSON.parse(text)).toMatchObject({
      type: "start",
      id: "r1",
      lab: true,
      forced: [],
      trace: {prompt: "The moon is", max_new_tokens: 3, temperature: 1},
    });
  });

  it("says null where there is no seed", () => {
    expect(JSON.parse(traceBody("a", {...START.settings, seed: null}))).toHaveProperty(
      "seed",
      null,
    );
  });
});

describe("errors in plain words", () => {
  const error = (more: Partial<ErrorFrame>): ErrorFrame => ({
    type: "error",
    id: "r1",
    code: "busy",
    message: "m",
    param: null,
    retry_after: null,
    ...more,
  });

  it.each([
    "invalid_request",
    "prompt_too_long",
    "payload_too_large",
    "busy",
    "rate_limited",
    "not_ready",
    "timeout",
    "inference_failed",
    "origin_not_allowed",
    "something_new",
  ])("%s says what to do next and shows no code", (code) => {
    const problem = problemOf(error({code}));
    expect(problem.next).not.toBe("");
    expect(JSON.stringify(problem)).not.toContain(code);
  });

  it("says how long to wait", () => {
    expect(problemOf(error({retry_after: 1})).next).toBe(
      "Run again in 1 second; what you typed stays.",
    );
  });

  it("names the field at fault, if it is one of the form’s", () => {
    const fault = {code: "prompt_too_long", message: "300 tokens; the limit is 256"};
    expect(problemOf(error({...fault, param: "prompt"}))).toMatchObject({
      field: "prompt",
      text: "300 tokens; the limit is 256.",
    });
    expect(problemOf(error({...fault, param: "model"})).field).toBeNull();
  });
});
