import {describe, expect, it} from "vitest";

import {reshape, sharesOf, UNCHANGED, withToken, type Reshaping} from "../src/domain/sampling";
import type {Lab} from "../src/wire";
import {labOf} from "./specimens";

const after = (lab: Lab, settings: Partial<Reshaping>) =>
  reshape(sharesOf(lab), {...UNCHANGED, ...settings});
const chances = (lab: Lab, settings: Partial<Reshaping>) =>
  after(lab, settings).map((share) => Number(share.chance.toFixed(6)));

/** A half, a quarter, and the last quarter spread over 25 tokens. */
const LAB = labOf([0.5, 0.25], [[25, 0.01]]);

describe("temperature", () => {
  it("leaves the probabilities at 1", () => {
    expect(chances(LAB, {})).toEqual([0.5, 0.25, 0.01]);
  });

  it("squares the odds at a half, with every token in the normaliser", () => {
    const total = 0.25 + 0.0625 + 25 * 0.0001;
    expect(chances(LAB, {temperature: 0.5})).toEqual(
      [0.25, 0.0625, 0.0001].map((weight) => Number((weight / total).toFixed(6))),
    );
  });

  it("gives everything to the first token at 0", () => {
    expect(chances(LAB, {temperature: 0})).toEqual([1, 0, 0]);
  });

  it("leaves one token in the draw at 0", () => {
    const shares = after(LAB, {temperature: 0});
    expect(shares.map(({kept}) => kept)).toEqual([1, 0, 0]);
    expect(shares[1]?.removedBy).toBe("temperature");
  });

  it("stays finite next to 0", () => {
    expect(chances(LAB, {temperature: 1e-6})).toEqual([1, 0, 0]);
  });
});

describe("the filters", () => {
  it("top-k keeps the first k, also out of the middle of a bin", () => {
    const shares = after(LAB, {topK: 4});
    expect(shares.map(({kept}) => kept)).toEqual([1, 1, 2]);
    expect(shares[2]?.removedBy).toBe("top-k");
    expect(shares[0]?.chance).toBeCloseTo(0.5 / 0.77, 12);
  });

  it("top-p keeps the token that crosses p", () => {
    expect(after(LAB, {topP: 0.6}).map(({kept}) => kept)).toEqual([1, 1, 0]);
  });

  it("top-p keeps no more than it needs when p is met exactly", () => {
    expect(after(LAB, {topP: 0.5}).map(({kept}) => kept)).toEqual([1, 0, 0]);
  });

  it("top-p keeps part of a bin", () => {
    expect(after(LAB, {topP: 0.795}).map(({kept}) => kept)).toEqual([1, 1, 5]);
  });

  it("top-p keeps one token however small p is", () => {
    expect(after(LAB, {topP: 1e-9}).map(({kept}) => kept)).toEqual([1, 0, 0]);
  });

  it("top-p looks at what top-k left", () => {
    expect(after(LAB, {topK: 2, topP: 0.66}).map(({kept}) => kept)).toEqual([1, 0, 0]);
  });

  it("min-p keeps those with that share of the first one’s probability", () => {
    const shares = after(LAB, {minP: 0.5});
    expect(shares.map(({kept}) => kept)).toEqual([1, 1, 0]);
    expect(shares[2]?.removedBy).toBe("min-p");
  });

  it.each([
    {topK: 3},
    {topP: 0.8},
    {minP: 0.1},
    {topK: 20, topP: 0.9, minP: 0.01, temperature: 1.5},
  ])("chances sum to 1 after %o", (settings) => {
    const sum = after(LAB, settings).reduce((total, {kept, chance}) => total + kept * chance, 0);
    expect(sum).toBeCloseTo(1, 12);
  });
});

describe("a token out of the bins", () => {
  it("stands by itself where its probability puts it, and the count stays", () => {
    const token = {token_id: 99, token: "z", bytes: [122], logprob: Math.log(0.011)};
    const shares = withToken(sharesOf(LAB), token);
    expect(shares.map((share) => [share.token?.token_id ?? null, share.count])).toEqual([
      [0, 1],
      [1, 1],
      [99, 1],
      [null, 24],
    ]);
  });

  it("changes nothing if it is listed already", () => {
    const shares = sharesOf(LAB);
    expect(withToken(shares, {token_id: 1, token: "b", bytes: [98], logprob: Math.log(0.25)})).toBe(
      shares,
    );
  });
});

/** As many logits as a small vocabulary, drawn from a fixed sequence: bell-shaped, as real ones. */
function manyLogits(count: number): number[] {
  let state = 12345;
  const uniform = () => {
    state = (1103515245 * state + 12345) % 2 ** 31;
    return state / 2 ** 31;
  };
  return Array.from({length: count}, () => {
    const [a, b] = [1 - uniform(), uniform()];
    return 3 * Math.sqrt(-2 * Math.log(a)) * Math.cos(2 * Math.PI * b);
  });
}

/** The same distribution as the server sends it: 50 singly, the rest in bins of this width. */
function binned(logprobs: readonly number[], width: number): Lab {
  const sorted = [...logprobs].sort((a, b) => b - a);
  const bins = new Map<number, number[]>();
  for (const logprob of sorted.slice(50)) {
    const bin = Math.floor(logprob / width);
    bins.set(bin, [...(bins.get(bin) ?? []), logprob]);
  }
  return {
    top: sorted
      .slice(0, 50)
      .map((logprob, i) => ({token_id: i, token: `t${i}`, bytes: [116], logprob})),
    tail: [...bins.values()].map((values) => {
      const mass = values.reduce((sum, value) => sum + Math.exp(value), 0);
      return [values.length, Math.log(mass / values.length)] as const;
    }),
  };
}

describe("against every token of a vocabulary of 8,000", () => {
  const logits = manyLogits(8000);
  const normaliser = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
  const logprobs = logits.map((logit) => logit - normaliser);
  const lab = binned(logprobs, 0.05);

  it.each([0.05, 0.1, 0.3, 0.7, 1, 1.3, 1.7, 2])("is exact to 0.1%% at temperature %d", (t) => {
    const weights = logprobs.map((logprob) => Math.exp(logprob / t)).sort((a, b) => b - a);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const shares = after(lab, {temperature: t});
    let [mass, exact, place] = [0, 0, 0];
    for (const share of shares) {
      mass += share.count * share.scaled;
      for (let i = 0; i < share.count; i++) exact += (weights[place++] ?? 0) / total;
      expect(Math.abs(mass - exact)).toBeLessThan(0.001);
    }
    expect(place).toBe(8000);
  });
});
