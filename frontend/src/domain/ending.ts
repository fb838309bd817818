/** Why a trace has no more tokens, in one sentence. */

import {isOn, type Trace} from "./trace";

/** Empty while tokens may still come. */
export function endingOf(trace: Trace): string {
  if (isOn(trace)) return "";
  const wasGiven = trace.steps.at(-1)?.analysis.forced ?? false;
  switch (trace.answer?.finish_reason ?? trace.status) {
    case "eos":
      return wasGiven
        ? "It ended because the token that you gave is one that ends a text: the model drew nothing after it."
        : "It ended by itself: the model chose the token that ends a text.";
    case "length":
      return wasGiven
        ? "It ended with the token that you gave, the last of as many as were asked for: nothing was left to draw. Ask for more tokens, run, and follow it again to see how it goes on."
        : "It ended because it had as many tokens as were asked for.";
    case "stopped":
      return "You stopped it.";
    case "failed":
      return "It failed here; what had come stays.";
    case "interrupted":
      return "The connection broke here; follow a token of the last step to go on.";
    default:
      return "";
  }
}
