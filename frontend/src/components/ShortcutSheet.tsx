import type {RefObject} from "preact";

import {SHORTCUTS} from "../domain/keys";

/** The keys, in a dialogue of the browser's own. */
export function ShortcutSheet({sheet}: {readonly sheet: RefObject<HTMLDialogElement | null>}) {
  return (
    <dialog class="sheet" ref={sheet} aria-labelledby="sheet-title">
      <h3 id="sheet-title">Keys</h3>
      <p>They work while the text or the buttons under it have the focus.</p>
      <dl>
        {SHORTCUTS.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button class="quiet">Close</button>
      </form>
    </dialog>
  );
}
