/** What a person must send to get the same tokens again, and what then is the same. */

import {encode, traceBody, type Start} from "../wire";
import {plain, plural} from "./format";

export interface Request {
  /** Where it goes: a method and a path, or the socket. */
  readonly to: string;
  readonly text: string;
  /** What has to be known of it; empty where nothing has. */
  readonly note: string;
}

/** A run of the prompt alone is a request of the public API; a branch is a frame of the socket. */
export function requestOf(start: Start): Request {
  if (start.forced.length === 0) {
    return {to: "POST /v1/traces", text: traceBody(start.prompt, start.settings), note: ""};
  }
  return {
    to: "WebSocket /ws/traces",
    text: encode(start),
    note:
      "This path begins with given tokens, and the public API cannot force tokens: no request to " +
      "it gives this path. This start frame on the live socket does.",
  };
}

/** The settings of a run, and whether asking again gives the same tokens. */
export function settingsSaid({settings, forced}: Start): string {
  const {temperature, top_p, seed, max_new_tokens} = settings;
  const how =
    temperature === 0
      ? "Greedy (temperature 0): top-p and seed have no effect."
      : `Drawn at temperature ${plain(temperature)}, top-p ${plain(top_p)}, ` +
        (seed === null
          ? "without a seed: another run may differ."
          : `seed ${seed}: the same ${forced.length > 0 ? "frame" : "request"} gives the same ` +
            "tokens again on this server.");
  const given =
    forced.length > 0
      ? ` It began with ${plural(forced.length, "given token")}, which no seed or setting chose.`
      : "";
  return `${how} At most ${plural(max_new_tokens, "token")}.${given}`;
}
