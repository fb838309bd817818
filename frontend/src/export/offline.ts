/** A trace as one HTML file that replays without a network: this page's own script and styles. */

import {percent} from "../domain/format";
import {tokenLabel} from "../domain/tokens";
import {exactJson} from "../share/exact";
import {citationOf} from "./citation";
import {howMade, modelOf, type SavedTrace} from "./record";
import {element, text} from "./svg";

/** What the page is made of, as text. */
export interface Sources {
  readonly script: string;
  readonly styles: readonly {readonly css: string; readonly media: string}[];
  /** What the numbers mean, as the server wrote it: HTML. */
  readonly reading: string;
}

/** Nothing may be fetched: what the file needs is in it. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

export function offlinePage(saved: SavedTrace, {script, styles, reading}: Sources): string {
  const title = `Token Trace: ${[...saved.answer.prompt].slice(0, 60).join("")}`;
  const {answer, seed, at, url, provenance, promptBytes} = saved;
  // The provenance's seed is without its last digits here; the trace has them.
  const rest = {
    shared_at: at,
    url,
    prompt_bytes: promptBytes,
    provenance: provenance && {...provenance, seed: undefined},
  };
  const block = `{"trace":${exactJson(answer, seed)},${JSON.stringify(rest).slice(1)}`;
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<link rel="icon" href="data:,">',
    `<title>${text(title)}</title>`,
    ...styles.map(
      ({css, media}) => `<style media="${text(media || "all")}">${inStyle(css)}</style>`,
    ),
    `<script type="application/json" id="stored-trace">${inBlock(block)}</script>`,
    '</head>\n<body>\n<header class="site"><span class="brand">Token Trace</span>',
    '<span class="motto">a saved trace: it replays without a network</span></header>',
    '<main id="main">',
    "<h1>A saved trace</h1>",
    `<p>${text(howMade(saved))}. Model: ${text(modelOf(saved))}.</p>`,
    `<p>${text(citationOf(saved))}</p>`,
    `<div id="explorer" data-page="file">${withoutScript(saved)}</div>`,
    reading,
    "</main>",
    `<script type="module">${inScript(script)}</script>`,
    "</body>\n</html>\n",
  ].join("\n");
}

/** This page's own files. Rejects where the server cannot be reached and none is kept. */
export async function ownSources(document: Document): Promise<Sources> {
  const script = document.querySelector<HTMLScriptElement>('script[src*="explorer"]');
  const sheets = [...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')];
  const [code = "", ...css] = await Promise.all(
    [script?.src ?? "", ...sheets.map(({href}) => href)].map(fetched),
  );
  return {
    script: code,
    styles: sheets.map(({media}, index) => ({css: css[index] ?? "", media})),
    reading: document.querySelector(".reading")?.outerHTML ?? "",
  };
}

async function fetched(address: string): Promise<string> {
  const answer = await fetch(address, {cache: "force-cache"});
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.text();
}

/** Data: every "<" of JSON stands in a string. */
function inBlock(json: string): string {
  return json.replaceAll("<", "\\u003c");
}

/** Code: what the parser looks for, the element's end and comments, stands only in strings. */
function inScript(code: string): string {
  return code.replace(/<(?=\/script|!--)/gi, "\\u003c");
}

function inStyle(css: string): string {
  return css.replace(/<\//g, "\\3c /");
}

/** The trace to read where scripts are off. */
function withoutScript({answer}: SavedTrace): string {
  const rows = answer.steps.map((step) =>
    element(
      "tr",
      {},
      element("td", {}, text(String(step.step + 1))),
      element("td", {}, element("bdi", {}, text(tokenLabel(step.analysis.selected_bytes)))),
      element("td", {}, text(percent(step.selected_probability))),
    ),
  );
  return (
    `<p class="text" dir="auto">${text(answer.prompt)}<mark>${text(answer.generated_text)}</mark></p>` +
    '<table class="plain"><caption>Each token with the model’s own probability.</caption>' +
    '<thead><tr><th scope="col">Step</th><th scope="col">Token</th><th scope="col">Probability' +
    `</th></tr></thead><tbody>${rows.join("")}</tbody></table>`
  );
}
