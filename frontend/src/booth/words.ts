/** What the booth says. */

import type {Booth, Link, PreparedShow, Why} from "./machine";
import type {BoothPage, Recording} from "./page";

/** Over every recorded trace, whatever it is shown for. */
export function label(recording: Recording, page: BoothPage): string {
  if (page.of_served_model) return "Prepared earlier on this model — not live";
  const {alias} = recording.trace.model;
  return alias === page.model?.alias
    ? `Prepared earlier on other weights of ${alias} — not live`
    : `Prepared earlier on another model, ${alias} — not live`;
}

const REASONS: Readonly<Record<Why, string>> = {
  loading: "The model is still loading.",
  busy: "Too many people are asking the model at this moment.",
  slow: "The model takes too long at this moment.",
  gone: "The model cannot be reached at this moment.",
  failed: "The model did not answer.",
};

/** Why a recorded trace is shown, and whose prompt it has. */
export function reason({why, stands_in}: PreparedShow): string {
  return stands_in ? `${REASONS[why]} This is the nearest prompt that was recorded.` : REASONS[why];
}

const LINKS: Readonly<Record<Link, string>> = {
  connecting: "Looking for the model…",
  loading: "The model is loading",
  ready: "The model is ready",
  lost: "No connection to the model; trying again",
};

export function linkInWords(link: Link): string {
  return LINKS[link];
}

/** What an operator should know of the recordings; empty where all is well. */
export function advice({recordings, of_served_model, model}: BoothPage): string {
  if (of_served_model || !model) return "";
  const todo = "run manage.py record_traces";
  return recordings.length > 0
    ? `No prepared traces for ${model.alias}; ${todo}. Those of ${recordings[0]?.trace.model.alias ?? ""} stand in.`
    : `No prepared traces for this model; ${todo}.`;
}

/** "30 November 2026", as the recording's own clock had it. */
export function dateOf({made_at}: Recording): string {
  return new Date(made_at).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
}

/** For a screen reader: a sentence at each turn, not at each token. */
export function announcement(booth: Booth, page: BoothPage): string {
  switch (booth.phase) {
    case "live":
      return "Asking the model.";
    case "playing":
      return booth.show.whole ? "The model has written all of it." : "The model is writing.";
    case "prepared":
      return `${label(booth.recording, page)}. ${reason(booth)}`;
    case "recovering":
      return booth.message;
    default:
      return "";
  }
}
