import type {ComponentChildren} from "preact";
import {useEffect, useId, useRef} from "preact/hooks";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialogue of the browser's own, open as long as it is there; the focus goes back by itself. */
export function Dialog({title, onClose, children}: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="sheet keeping-sheet" ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h3 id={id}>{title}</h3>
      {children}
      <p class="end">
        <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </p>
    </dialog>
  );
}
