/** Draws from a distribution, to set what happened beside what was to be expected. */

/** How often each place was hit in so many draws; `chances` sum to 1. */
export function drawMany(
  chances: readonly number[],
  draws: number,
  random: () => number,
): readonly number[] {
  const ends: number[] = [];
  chances.reduce((end, chance, i) => (ends[i] = end + chance), 0);
  const hits = chances.map(() => 0);
  for (let i = 0; i < draws; i++) {
    const place = placeOf(ends, random());
    hits[place] = (hits[place] ?? 0) + 1;
  }
  return hits;
}

/** The first place whose interval ends beyond u; the last that has one, should u be past all. */
function placeOf(ends: readonly number[], u: number): number {
  const place = ends.findIndex((end) => u < end);
  return place >= 0 ? place : ends.indexOf(ends.at(-1) ?? 0);
}

export function added(a: readonly number[], b: readonly number[]): readonly number[] {
  return b.map((value, i) => value + (a[i] ?? 0));
}
