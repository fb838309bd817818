import type {ComponentChildren} from "preact";

/** What a number is and how it is computed; opened by a press, not by hovering. */
export function Hint({about, children}: {readonly about: string; children: ComponentChildren}) {
  return (
    <details class="hint">
      <summary aria-label={`What is ${about}?`}>
        <span aria-hidden="true">?</span>
      </summary>
      <p>{children}</p>
    </details>
  );
}
