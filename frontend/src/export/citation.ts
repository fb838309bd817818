/** How to cite a trace. */

import {visibleText} from "../domain/visible";
import {modelOf, settingsOf, type SavedTrace} from "./record";

const LONGEST_TITLE = 60;

/** One line for a list of references. */
export function citationOf(saved: SavedTrace): string {
  return (
    `Token Trace: “${titleOf(saved)}”, continued by ${modelOf(saved)}, ${settingsOf(saved)}; ` +
    `${saved.at.slice(0, 10)}, ${saved.url}`
  );
}

/** The same as an entry for BibTeX. */
export function bibtexOf(saved: SavedTrace): string {
  const fields = {
    title: `Token trace of ``${titleOf(saved)}''`,
    note: `Model ${modelOf(saved)}, ${settingsOf(saved)}`,
    year: saved.at.slice(0, 4),
    urldate: saved.at.slice(0, 10),
  };
  return fields.title;
}

function titleOf({answer}: SavedTrace): string {
  const shown = visibleText(answer.prompt);
  const short = [...shown].slice(0, LONGEST_TITLE).join("");
  return short.length < shown.length ? `${short}…` : short;
}
