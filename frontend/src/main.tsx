/** Makes the server's page live: puts the explorer in place of what works without it. */

import {render, type VNode} from "preact";

import {Explorer} from "./components/Explorer";
import {ClosedFrame} from "./embed/ClosedFrame";
import {announceHeight} from "./embed/height";
import {placeOf, readPage, readTyped} from "./page";
import {readStored} from "./share/stored";
import {StoredView} from "./share/StoredView";

const root = document.getElementById("explorer");
if (root) {
  const view = viewOf(root);
  const focused = root.contains(document.activeElement) ? document.activeElement?.id : undefined;
  root.replaceChildren();
  render(view, root);
  if (focused) document.getElementById(focused)?.focus();
}

function viewOf(root: HTMLElement): VNode {
  const place = placeOf(root);
  if (place === "embed") announceHeight(document.documentElement, window);
  const found = readStored(document);
  if (found) return <StoredView {...found} place={place} />;
  if (window.origin === "null") return <ClosedFrame />;
  const page = readPage(document);
  return <Explorer page={page} typed={readTyped(root, page.fields)} embedded={place === "embed"} />;
}
