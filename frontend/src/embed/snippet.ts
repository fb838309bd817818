/** The HTML that puts a page of ours into another: one plain frame, no script. */

import {text} from "../export/svg";

/** A height at which a trace can be read, for pages that do not listen for a better one. */
const HEIGHT = 640;

/** `title` is what a screen reader says of the frame. */
export function iframeOf(address: string, title: string): string {
  return (
    `<iframe src="${text(address)}" title="${text(title)}" width="100%" height="${HEIGHT}" ` +
    'loading="lazy" style="border:0"></iframe>'
  );
}
