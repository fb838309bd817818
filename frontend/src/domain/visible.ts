/** Running text with nothing in it that hides, reorders its neighbours or is unfit for XML. */

const HIDDEN =
  /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]|[\ufff9-\ufffb]/gu;

const NAMED: Readonly<Record<string, string>> = {"\n": "↵", "\t": "⇥", "\r": "␍", "\x7f": "␡"};

/**
 * The text with a visible sign for each control, bidi override and lone surrogate.
 *
 * Spaces stay spaces, and what joins letters or emoji stays as it is: this is to be read, where
 * tokens.ts shows what a token is made of.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (hidden) => {
    const code = hidden.codePointAt(0) ?? 0;
    if (code < 0x20) return NAMED[hidden] ?? String.fromCodePoint(0x2400 + code);
    return NAMED[hidden] ?? `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}
