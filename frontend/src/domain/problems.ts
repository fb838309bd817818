/** Every error in plain words, with what to do next. */

import type {ErrorFrame} from "../wire";
import {FIELD_NAMES, type FieldName} from "./fields";
import {plural} from "./format";

export interface Problem {
  readonly title: string;
  readonly text: string;
  readonly next: string;
  /** The field at fault, if one is. */
  readonly field: FieldName | null;
}

type Words = Pick<Problem, "title" | "next"> & {readonly text?: string};

const WORDS: Readonly<Record<string, Words>> = {
  invalid_request: {
    title: "This cannot be traced as it is",
    next: "Change what is named above and run again.",
  },
  prompt_too_long: {
    title: "The prompt is too long",
    next: "Shorten it: the count under the prompt says how many tokens it has.",
  },
  payload_too_large: {
    title: "The prompt is too long",
    text: "It is larger than the server takes in one message.",
    next: "Shorten it and run again.",
  },
  busy: {
    title: "Too many people are waiting",
    text: "Every place in the queue is taken.",
    next: "Run again in a moment; what you typed stays.",
  },
  rate_limited: {
    title: "Too many runs in one minute",
    text: "The server allows each visitor so many, that others get their turn.",
    next: "Wait, then run again; what you typed stays.",
  },
  not_ready: {
    title: "The model is still loading",
    text: "That takes from a few seconds to a minute.",
    next: "Run again when the page says that it is ready.",
  },
  timeout: {
    title: "It took too long",
    text: "The time for one run was up, waiting included.",
    next: "Run again, with fewer tokens to draw if it happens twice.",
  },
  inference_failed: {
    title: "The model failed while it ran",
    text: "This is a fault of the server, not of what you typed.",
    next: "Run again; if it fails again, tell whoever runs this server.",
  },
  origin_not_allowed: {
    title: "This page may not use the server",
    text: "It was opened at an address that the server does not know as its own.",
    next: "Open the page at the server’s own address.",
  },
};

const UNKNOWN: Words = {
  title: "Not traced",
  next: "Run again; if it fails again, tell whoever runs this server.",
};

const FIELDS: ReadonlySet<string> = new Set(FIELD_NAMES);

export function problemOf(error: ErrorFrame): Problem {
  const words = WORDS[error.code] ?? UNKNOWN;
  const wait = error.retry_after;
  return {
    title: words.title,
    text: words.text ?? sentence(error.message),
    next:
      wait === null ? words.next : `Run again in ${plural(wait, "second")}; what you typed stays.`,
    field: isField(error.param) ? error.param : null,
  };
}

function isField(name: string | null): name is FieldName {
  return name !== null && FIELDS.has(name);
}

function sentence(message: string): string {
  const ended = /[.!?]$/.test(message) ? message : `${message}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}
