/** What the server wrote into the page for the booth: the twin of traceapp/booth/pages.py. */

import type {ModelEntry, Settings, TraceAnswer} from "../wire";

export interface BoothPrompt {
  readonly slug: string;
  readonly prompt: string;
  readonly look_for: string;
  readonly settings: Settings;
}

/** A trace that was made before, on the model that it names. */
export interface Recording {
  readonly slug: string;
  /** As ISO 8601. */
  readonly made_at: string;
  readonly trace: Pick<TraceAnswer, "model" | "prompt" | "steps" | "finish_reason">;
}

export interface BoothPage {
  readonly model: Pick<ModelEntry, "alias" | "revision"> | null;
  /** What a visitor's own prompt may be; null where none may be typed. */
  readonly typed: {readonly characters: number; readonly settings: Settings} | null;
  readonly prompts: readonly BoothPrompt[];
  readonly recordings: readonly Recording[];
  /** Whether the recordings are of the model that is served. */
  readonly of_served_model: boolean;
}

export function readBooth(document: Document): BoothPage {
  return JSON.parse(document.getElementById("booth-page")?.textContent ?? "null") as BoothPage;
}
