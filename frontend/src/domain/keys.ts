/** What the keys do where the text with its tokens has the focus. */

import type {Act, Explorer} from "./explorer";

export const SHORTCUTS: readonly (readonly [keys: string, does: string])[] = [
  ["← →", "the step before, the step after"],
  ["Home, End", "the first step, the last step"],
  ["Space", "play and pause"],
  ["?", "this list"],
  ["Ctrl Enter", "in the prompt: run"],
];

interface Situation {
  readonly explorer: Explorer;
  readonly steps: number;
  /** Whether the focus is on a control that Space itself presses. */
  readonly onControl: boolean;
}

export function actOfKey(key: string, {explorer, steps, onControl}: Situation): Act | null {
  switch (key) {
    case "ArrowLeft":
      return {type: "go", step: explorer.step - 1};
    case "ArrowRight":
      return {type: "go", step: explorer.step + 1};
    case "Home":
      return {type: "go", step: 0};
    case "End":
      return {type: "go", step: steps - 1};
    case " ":
      if (onControl) return null;
      return {type: explorer.playing ? "pause" : "play"};
    default:
      return null;
  }
}
