import {useId, useRef, useState} from "preact/hooks";

interface Props {
  readonly label: string;
  readonly text: string;
  readonly rows?: number;
}

/** A text to take along: readable, selectable, and copied by a button. */
export function CopyRow({label, text, rows = 2}: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [copied, setCopied] = useState<{text: string; done: boolean} | null>(null);
  const id = useId();
  const said = copied?.text === text ? copied : null;
  const copy = async () => {
    if (field.current) setCopied({text, done: await copyText(text, field.current)});
  };
  return (
    <div class="copy">
      <label for={id}>{label}</label>
      <div class="copy-row">
        <textarea
          id={id}
          ref={field}
          rows={rows}
          readOnly
          spellcheck={false}
          value={text}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" class="quiet" onClick={() => void copy()}>
          Copy<span class="unseen"> {label}</span>
        </button>
      </div>
      <p class="help" role="status">
        {said && (said.done ? "Copied." : "It is selected: press Ctrl C, or ⌘ C, to copy it.")}
      </p>
    </div>
  );
}

/** Whether it was copied; where it was not, it is selected. */
async function copyText(text: string, field: HTMLTextAreaElement): Promise<boolean> {
  try {
    // Not there where the page came without TLS from another machine.
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    field.focus();
    field.select();
    return document.execCommand("copy");
  }
}
