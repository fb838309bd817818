/**
 * What settings do to one step's distribution, worked out in the browser.
 *
 * The server sends the most probable tokens singly and the rest in narrow bins, so that sums run
 * over the whole vocabulary: probabilities have the true normaliser at every temperature. The
 * filters apply in transformers' order: temperature, top-k, top-p, min-p.
 */

import type {Lab, LabToken} from "../wire";

export interface Reshaping {
  readonly temperature: number;
  /** null keeps every token. */
  readonly topK: number | null;
  readonly topP: number;
  readonly minP: number;
}

export const UNCHANGED: Reshaping = {temperature: 1, topK: null, topP: 1, minP: 0};

/** One token, or a bin of tokens that are about equally probable. */
export interface Share {
  readonly token: LabToken | null;
  readonly count: number;
  /** Natural logarithm of the model's own probability of each of these tokens. */
  readonly logprob: number;
}

/** Sums of floats miss a bound that they meet exactly; without this, one token too many stays. */
const ROUNDING = 1e-9;

export type Filter = "temperature" | "top-k" | "top-p" | "min-p";

/** A share after the settings. Probabilities are of each token in it. */
export interface Reshaped extends Share {
  readonly raw: number;
  readonly scaled: number;
  /** How many of its tokens are still in the draw. */
  readonly kept: number;
  readonly removedBy: Filter | null;
  /** Chance in the draw of each token that is kept. */
  readonly chance: number;
}

/** The distribution in shares, most probable first. */
export function sharesOf(lab: Lab): readonly Share[] {
  return [
    ...lab.top.map((token) => ({token, count: 1, logprob: token.logprob})),
    ...lab.tail.map(([count, logprob]) => ({token: null, count, logprob})),
  ];
}

/** The shares with one token of the bins set out by itself, where it stands by its logprob. */
export function withToken(shares: readonly Share[], token: LabToken): readonly Share[] {
  if (shares.some((share) => share.token?.token_id === token.token_id)) return shares;
  const bin = nearestBin(shares, token.logprob);
  const others = shares
    .map((share) => (share === bin ? {...share, count: share.count - 1} : share))
    .filter((share) => share.count > 0);
  const before = others.findIndex((share) => share.token === null && share.logprob < token.logprob);
  const place = before < 0 ? others.length : before;
  return [
    ...others.slice(0, place),
    {token, count: 1, logprob: token.logprob},
    ...others.slice(place),
  ];
}

/** Every share after temperature, top-k, top-p and min-p. */
export function reshape(shares: readonly Share[], settings: Reshaping): readonly Reshaped[] {
  const scaled = scale(shares, settings.temperature);
  // A token whose probability has become exactly 0 is never drawn.
  const possible = shares.map(({count}, i) => (at(scaled, i) > 0 ? count : 0));
  const afterTopK = keepTopK(possible, settings.topK);
  const afterTopP = keepTopP(scaled, afterTopK, settings.topP);
  const afterMinP = keepMinP(scaled, afterTopP, settings.minP);
  const mass = sum(scaled.map((probability, i) => probability * at(afterMinP, i)));
  return shares.map((share, i) => ({
    ...share,
    raw: Math.exp(share.logprob),
    scaled: at(scaled, i),
    kept: at(afterMinP, i),
    removedBy: removedBy(share.count, [
      ["temperature", at(possible, i)],
      ["top-k", at(afterTopK, i)],
      ["top-p", at(afterTopP, i)],
      ["min-p", at(afterMinP, i)],
    ]),
    chance: at(afterMinP, i) > 0 ? at(scaled, i) / mass : 0,
  }));
}

/** The first filter that took some of so many tokens away. */
function removedBy(
  count: number,
  left: readonly (readonly [filter: Filter, count: number])[],
): Filter | null {
  return left.find(([, kept]) => kept < count)?.[0] ?? null;
}

/** Probabilities at a temperature; at 0 the most probable token has everything. */
function scale(shares: readonly Share[], temperature: number): readonly number[] {
  const largest = shares[0]?.logprob ?? 0;
  if (temperature === 0) return shares.map((_, i) => (i === 0 ? 1 : 0));
  const weights = shares.map(({logprob}) => Math.exp((logprob - largest) / temperature));
  const total = sum(weights.map((weight, i) => weight * (shares[i]?.count ?? 0)));
  return weights.map((weight) => weight / total);
}

function keepTopK(counts: readonly number[], topK: number | null): readonly number[] {
  let left = topK ?? Infinity;
  return counts.map((count) => {
    const kept = Math.min(count, left);
    left -= kept;
    return kept;
  });
}

/** The fewest tokens that together reach topP of what is left; the crossing one is kept. */
function keepTopP(
  scaled: readonly number[],
  counts: readonly number[],
  topP: number,
): readonly number[] {
  if (topP >= 1) return counts;
  const target = topP * sum(scaled.map((probability, i) => probability * at(counts, i)));
  let mass = 0;
  return counts.map((count, i) => {
    const probability = at(scaled, i);
    if (mass >= target || probability === 0) return 0;
    const kept = Math.min(count, Math.max(1, Math.ceil((target - mass) / probability - ROUNDING)));
    mass += kept * probability;
    return kept;
  });
}

function keepMinP(
  scaled: readonly number[],
  counts: readonly number[],
  minP: number,
): readonly number[] {
  const least = minP * at(scaled, 0);
  return counts.map((count, i) => (at(scaled, i) < least ? 0 : count));
}

function nearestBin(shares: readonly Share[], logprob: number): Share | undefined {
  const bins = shares.filter((share) => share.token === null);
  const distance = (share: Share) => Math.abs(share.logprob - logprob);
  return bins.reduce<Share | undefined>(
    (best, bin) => (best === undefined || distance(bin) < distance(best) ? bin : best),
    undefined,
  );
}

function at(values: readonly number[], index: number): number {
  return values[index] ?? 0;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
