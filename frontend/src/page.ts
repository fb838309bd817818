/** What the server wrote into the page for the script: the fields, the examples, the model. */

import type {Field, FieldName} from "./domain/fields";
import type {ModelEntry} from "./wire";

export interface Example {
  readonly slug: string;
  readonly prompt: string;
  readonly look_for: string;
  readonly settings: Readonly<Partial<Record<FieldName, string>>>;
}

export interface ServerField extends Field {
  /** What was wrong with it, if the page answers a form that was sent without this script. */
  readonly error: string;
}

export interface Page {
  readonly fields: readonly ServerField[];
  readonly examples: readonly Example[];
  readonly model: Pick<ModelEntry, "alias" | "repository"> | null;
  readonly ready: boolean;
}

/** The page itself, a frame in another's page, or a file on somebody's disk. */
export type Place = "page" | "embed" | "file";

/** Which of them this is, by the `data-page` of the element that the script fills. */
export function placeOf(root: HTMLElement): Place {
  const page = root.dataset.page ?? "";
  if (page === "file") return "file";
  return page.startsWith("embed") ? "embed" : "page";
}

export function readPage(document: Document): Page {
  const script = document.getElementById("explorer-page");
  return JSON.parse(script?.textContent ?? "null") as Page;
}

/** What is in the server's own fields now: a person may have typed before this script ran. */
export function readTyped(root: ParentNode, fields: readonly Field[]): Record<FieldName, string> {
  const typed = fields.map(({name, typed}) => {
    const control = root.querySelector<HTMLInputElement | HTMLTextAreaElement>(`[name="${name}"]`);
    return [name, control?.value ?? typed];
  });
  return Object.fromEntries(typed) as Record<FieldName, string>;
}
