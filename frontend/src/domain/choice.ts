/**
 * How one token was chosen, stage by stage: what the model said, what temperature made of it,
 * where top-p cut, what was left, and where the random number fell.
 */

import type {Lab, LabToken, Settings, TraceStep} from "../wire";
import {reshape, sharesOf, withToken, type Reshaped} from "./sampling";

/** A token, or a run of tokens that are not told apart, on the axis from 0 to 1. */
export interface Segment {
  readonly token: LabToken | null;
  readonly count: number;
  readonly start: number;
  readonly width: number;
  readonly chosen: boolean;
  readonly removed: boolean;
}

export type StageName = "raw" | "temperature" | "top-p" | "renormalised";

export interface Stage {
  readonly name: StageName;
  readonly segments: readonly Segment[];
  /** Where top-p cuts the axis; null at stages that do not cut. */
  readonly cut: number | null;
}

export interface Choice {
  readonly shares: readonly Reshaped[];
  readonly stages: readonly Stage[];
  /** Tokens in the draw, as the server counted them. */
  readonly kept: number;
  /** Tokens that top-p removed. */
  readonly removed: number;
}

/** Narrower than this on the axis, tokens are no longer told apart in the picture. */
const NARROW = 0.004;

export function choiceOf(step: TraceStep, lab: Lab, settings: Settings): Choice {
  const chosen: LabToken = {
    token_id: step.selected_token_id,
    token: step.selected_token,
    bytes: step.analysis.selected_bytes,
    logprob: Math.log(step.selected_probability),
  };
  const shares = reshape(withToken(sharesOf(lab), chosen), {
    temperature: settings.temperature,
    topK: null,
    topP: settings.temperature === 0 ? 1 : settings.top_p,
    minP: 0,
  });
  const total = shares.reduce((sum, share) => sum + share.count, 0);
  const kept = step.analysis.nucleus_size;
  const cuts = shares.some(({removedBy}) => removedBy === "top-p");
  const draw = (width: (share: Reshaped) => number) => segments(shares, chosen.token_id, width);
  const scaled = draw((share) => share.count * share.scaled);
  const keptHere = shares.reduce((sum, share) => sum + share.kept, 0);
  const cut = shares.reduce((mass, share) => mass + share.kept * share.scaled, 0);
  return {
    shares,
    kept,
    removed: cuts ? total - kept : 0,
    stages: [
      {name: "raw", segments: draw((share) => share.count * share.raw), cut: null},
      {name: "temperature", segments: scaled, cut: null},
      {
        name: "top-p",
        segments: cuts ? cutAt(scaled, cut, keptHere) : scaled,
        cut: cuts ? cut : null,
      },
      {name: "renormalised", segments: draw((share) => share.kept * share.chance), cut: null},
    ],
  };
}

function segments(
  shares: readonly Reshaped[],
  chosenId: number,
  width: (share: Reshaped) => number,
): readonly Segment[] {
  const found: Segment[] = [];
  let start = 0;
  for (const share of shares) {
    const wide = width(share);
    const chosen = share.token?.token_id === chosenId;
    const named = chosen || (share.token !== null && wide >= NARROW);
    const last = found.at(-1);
    if (!named && last?.token === null) {
      found[found.length - 1] = {
        ...last,
        count: last.count + share.count,
        width: last.width + wide,
      };
    } else if (wide > 0) {
      const token = named ? share.token : null;
      found.push({token, count: share.count, start, width: wide, chosen, removed: false});
    }
    start += wide;
  }
  return found;
}

/** The segments with those beyond the cut marked, and the one that it falls into divided. */
function cutAt(segments: readonly Segment[], cut: number, kept: number): readonly Segment[] {
  let before = 0;
  return segments.flatMap((segment) => {
    const left = Math.max(0, Math.min(segment.count, kept - before));
    before += segment.count;
    if (left === segment.count) return [segment];
    if (left === 0) return [{...segment, removed: true}];
    const width = cut - segment.start;
    return [
      {...segment, count: left, width},
      {
        ...segment,
        count: segment.count - left,
        start: cut,
        width: segment.width - width,
        removed: true,
      },
    ];
  });
}
