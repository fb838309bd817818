/** Makes the server's page live: puts the explorer in place of the form that works without it. */

import {render} from "preact";

import {Explorer} from "./components/Explorer";
import {readPage, readTyped} from "./page";

const root = document.getElementById("explorer");
// The pages of a shared trace are complete as they are.
if (root && ["home", "embed"].includes(root.dataset["page"] ?? "")) {
  const page = readPage(document);
  const typed = readTyped(root, page.fields);
  const focused = root.contains(document.activeElement) ? document.activeElement?.id : undefined;
  root.replaceChildren();
  render(<Explorer page={page} typed={typed} />, root);
  if (focused) document.getElementById(focused)?.focus();
}
