/** Makes the server's plain page the booth. */

import {render} from "preact";

import {Booth} from "./Booth";
import {readBooth} from "./page";

const root = document.getElementById("booth");
if (root) {
  root.replaceChildren();
  render(<Booth page={readBooth(document)} />, root);
}
