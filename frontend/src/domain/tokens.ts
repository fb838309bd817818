/** Tokens as text, from their bytes: nothing stays invisible, nothing reorders its neighbours. */

/** A stretch of a token as it is shown; `name` is said of what stands for something else. */
export interface Part {
  readonly text: string;
  readonly name: string | null;
}

const NAMED: Readonly<Record<string, Part>> = {
  " ": {text: "␣", name: "space"},
  "\n": {text: "↵", name: "newline"},
  "\t": {text: "⇥", name: "tab"},
  "\r": {text: "␍", name: "carriage return"},
  "\x7f": {text: "␡", name: "control character U+007F"},
};
const UNSEEN = /^[\p{Cc}\p{Cf}\p{Co}\p{Zs}\p{Zl}\p{Zp}\ufffd]/u;
/** Blank, though Unicode calls them letters, marks or symbols: fillers, selectors, blank braille. */
const BLANK =
  /^[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/u;

/**
 * A token cut where it stops being ordinary text.
 *
 * White space, control, format and bidi characters become visible, bytes that are only part of
 * a character are written as ⟨E2 80⟩, and a mark that combines gets a circle to sit on.
 */
export function tokenParts(bytes: readonly number[]): readonly Part[] {
  const stretches = decoded(bytes);
  if (stretches.length === 0) return [{text: "⟨⟩", name: "empty"}];
  const parts: Part[] = [];
  stretches.forEach((stretch, index) => {
    const combines = index === 0 && typeof stretch === "string" && /^\p{M}/u.test(stretch);
    const part = partOf(stretch);
    const shown = combines && part.name === null ? {...part, text: `◌${part.text}`} : part;
    const last = parts.at(-1);
    if (shown.name === null && last?.name === null) {
      parts[parts.length - 1] = {text: last.text + shown.text, name: null};
    } else {
      parts.push(shown);
    }
  });
  return parts;
}

/** A token with nothing left invisible: " the" is shown as "␣the". */
export function tokenLabel(bytes: readonly number[]): string {
  return tokenParts(bytes)
    .map((part) => part.text)
    .join("");
}

/** A token for the ear: " the" is "space the". */
export function tokenSpoken(bytes: readonly number[]): string {
  return tokenParts(bytes)
    .map((part) => part.name ?? part.text)
    .join(" ");
}

/** Bytes as people write them: E2 80 94. */
export function hex(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ");
}

const ENCODER = new TextEncoder();

/** The bytes of a token of which only the text is known. */
export function utf8(text: string): readonly number[] {
  return [...ENCODER.encode(text)];
}

/** How many bytes the character has that begins with this byte; 0 where none can. */
export function characterLength(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc2 || byte > 0xf4) return 0;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

const STRICT = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true});

/** The character that these bytes are, or null. */
export function character(bytes: readonly number[]): string | null {
  try {
    return STRICT.decode(Uint8Array.from(bytes));
  } catch {
    return null;
  }
}

/** Characters, and between them the runs of bytes that are part of none. */
function decoded(bytes: readonly number[]): (string | number[])[] {
  const stretches: (string | number[])[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = characterLength(bytes[at] ?? 0);
    const piece = bytes.slice(at, at + length);
    const whole = length > 0 && piece.length === length ? character(piece) : null;
    const last = stretches.at(-1);
    if (whole !== null) stretches.push(whole);
    else if (Array.isArray(last)) last.push(bytes[at] ?? 0);
    else stretches.push([bytes[at] ?? 0]);
    at += whole === null ? 1 : length;
  }
  return stretches;
}

function partOf(stretch: string | number[]): Part {
  if (typeof stretch !== "string") {
    return {text: `⟨${hex(stretch)}⟩`, name: `bytes ${hex(stretch)}`};
  }
  const named = NAMED[stretch];
  if (named) return named;
  const code = stretch.codePointAt(0) ?? 0;
  const point = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  if (code < 0x20) {
    return {text: String.fromCodePoint(0x2400 + code), name: `control character ${point}`};
  }
  if (UNSEEN.test(stretch) || BLANK.test(stretch)) {
    return {text: `⟨${point}⟩`, name: `character ${point}`};
  }
  return {text: stretch, name: null};
}

/** The direction in which a text is read, by its first letter that has one. */
export function directionOf(text: string): "ltr" | "rtl" {
  const letter = /\p{L}/u.exec(text)?.[0] ?? "";
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(letter) ? "rtl" : "ltr";
}
