/** Which recording to show for a prompt that has none of its own. */

import type {Recording} from "./page";

/** That of the same prompt, else of the one with most in common; null where there is none. */
export function nearest(prompt: string, recordings: readonly Recording[]): Recording | null {
  const wanted = wordsOf(prompt);
  let best: Recording | null = null;
  let most = -1;
  for (const recording of recordings) {
    if (recording.trace.prompt === prompt) return recording;
    const common = likeness(wanted, wordsOf(recording.trace.prompt));
    if (common > most) [best, most] = [recording, common];
  }
  return best;
}

/** The words that two have in common, as a share of all that either has. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = [...one].filter((word) => other.has(word)).length;
  return common === 0 ? 0 : common / (one.size + other.size - common);
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}
