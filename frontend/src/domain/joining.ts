/** Characters that are split over several tokens, put together again. */

import {character, characterLength} from "./tokens";

/** Tokens from `start` to before `end` that belong together. */
export interface Group {
  readonly start: number;
  readonly end: number;
  /** The text that the tokens are only together; null for a token that is whole by itself. */
  readonly joined: string | null;
}

/** Tokens in groups: each alone, save those that share a character. */
export function joinCharacters(tokens: readonly (readonly number[])[]): readonly Group[] {
  const groups: Group[] = [];
  for (let start = 0; start < tokens.length;) {
    const group = joinedFrom(tokens, start) ?? {start, end: start + 1, joined: null};
    groups.push(group);
    start = group.end;
  }
  return groups;
}

function joinedFrom(tokens: readonly (readonly number[])[], start: number): Group | null {
  const bytes: number[] = [...(tokens[start] ?? [])];
  for (let end = start + 1; endsOpen(bytes); end++) {
    const next = tokens[end];
    if (next === undefined) return null;
    bytes.push(...next);
    const joined = character(bytes);
    if (joined !== null) return {start, end: end + 1, joined};
  }
  return null;
}

/** Whether the last character has begun and misses bytes. */
function endsOpen(bytes: readonly number[]): boolean {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0x80 && byte < 0xc0) continue;
    return characterLength(byte) > back;
  }
  return false;
}
