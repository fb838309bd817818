/** How to cite a trace: the twin of traceapp/sharing/wording.py, as the page of a shared one has it. */

import {settingsOf, type SavedTrace} from "./record";

const TITLE_CHARACTERS = 60;
/** White space as the server counts it. */
const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;
/** What could turn around or break the line; joiners hold an emoji or a word together. */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu;
const TEX: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
};

/** One line for a list of sources. */
export function citationOf(saved: SavedTrace): string {
  const {model, prompt} = saved.answer;
  const made = `revision ${model.revision.slice(0, 12)}, ${settingsOf(saved)}`;
  return (
    `Token Trace: “${oneLine(prompt)}”, continued by ${model.repository} (${made}) ` +
    `on ${dayOf(saved.at)}. ${saved.url}`
  );
}

/** The same as an entry for BibTeX; what TeX would read as a command is written out. */
export function bibtexOf(saved: SavedTrace): string {
  const {model, prompt} = saved.answer;
  const at = new Date(saved.at);
  const note = `${model.repository}, revision ${model.revision}, ${settingsOf(saved)}`;
  return [
    `@misc{tokentrace-${keyOf(saved)},`,
    `  title = {\`\`${tex(oneLine(prompt))}'' continued by ${tex(model.alias)}},`,
    "  author = {{Token Trace}},",
    `  year = {${at.getUTCFullYear()}},`,
    `  month = {${at.getUTCMonth() + 1}},`,
    `  note = {${tex(note)}},`,
    `  url = {${saved.url}}`,
    "}",
  ].join("\n");
}

function oneLine(text: string): string {
  const seen = [...text.replace(SPACE, " ").replace(UNSEEN, "").trim()];
  if (seen.length <= TITLE_CHARACTERS) return seen.join("");
  return `${seen
    .slice(0, TITLE_CHARACTERS - 1)
    .join("")
    .trimEnd()}…`;
}

/** The beginning of a stored trace's id; else the day. */
function keyOf({url, at}: SavedTrace): string {
  const id = /\/t\/([\w-]{22})$/.exec(url)?.[1] ?? at.slice(0, 10);
  return id.replace(/[^A-Za-z0-9]/g, "").slice(0, 10);
}

function tex(text: string): string {
  return text.replace(/[\\{}%$&#_~^]/g, (character) => TEX[character] ?? `\\${character}`);
}

function dayOf(at: string): string {
  return new Date(at).toLocaleDateString("en-GB", {dateStyle: "long", timeZone: "UTC"});
}
