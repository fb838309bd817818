import {textOf} from "../domain/trace";
import type {TraceStep} from "../wire";

interface Props {
  readonly prompt: string;
  /** Those whose token is chosen by now. */
  readonly steps: readonly TraceStep[];
  /** Whether the last of them was chosen this moment. */
  readonly fresh: boolean;
}

/** More than this is set smaller, so that it stays on the screen. */
const LONG = 150;

/** The text so far: the prompt, what the model added, and its newest token marked. */
export function Written({prompt, steps, fresh}: Props) {
  const whole = textOf(steps);
  const before = fresh ? common(textOf(steps.slice(0, -1)), whole) : whole;
  const newest = whole.slice(before.length);
  const space = /^\s+(?=\S)/.exec(newest)?.[0] ?? "";
  const isLong = prompt.length + whole.length > LONG;
  return (
    <p class={isLong ? "written long" : "written"} dir="auto">
      <span class="prompt">{prompt}</span>
      <span class="added">
        {before}
        {space}
      </span>
      {newest && <mark>{newest.slice(space.length)}</mark>}
    </p>
  );
}

/** Where a character is split over tokens, what stood for its first part is not in the whole. */
function common(before: string, whole: string): string {
  let end = before.length;
  while (!whole.startsWith(before.slice(0, end))) end--;
  return before.slice(0, end);
}
