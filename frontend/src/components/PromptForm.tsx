import type {ComponentChildren} from "preact";
import {useMemo} from "preact/hooks";

import type {Lockable} from "../share/link";
import type {Faults, Field, FieldName, Typed} from "../domain/fields";
import {SettingField} from "./SettingField";

interface Props {
  readonly fields: readonly Field[];
  readonly typed: Typed;
  readonly faults: Faults;
  readonly scorePrompt: boolean;
  readonly running: boolean;
  readonly locked: readonly Lockable[];
  readonly settingsHidden: boolean;
  /** How many tokens the prompt has, as words. */
  readonly tokens: ComponentChildren;
  /** Stands beside Run and Stop. */
  readonly tools: ComponentChildren;
  readonly onInput: (name: FieldName, value: string) => void;
  readonly onScorePrompt: (scored: boolean) => void;
  readonly onRun: () => void;
  readonly onStop: () => void;
}

/** On a phone the settings would stand between the prompt and its trace. */
const ROOM_FOR_SETTINGS = "(min-width: 46rem)";

/** The prompt, Run and Stop, and the settings. */
export function PromptForm(props: Props) {
  const {fields, typed, faults, scorePrompt, running, locked, settingsHidden} = props;
  const {tokens, tools} = props;
  const settingsLocked = locked.includes("settings");
  const {onInput, onScorePrompt, onRun, onStop} = props;
  const [prompt, ...settings] = fields;
  const startsOpen = useMemo(() => matchMedia(ROOM_FOR_SETTINGS).matches, []);
  if (!prompt) return null;
  return (
    <form
      class="ask"
      method="post"
      action="#trace"
      encType="multipart/form-data"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onRun();
      }}
    >
      <div class="field prompt">
        <label for="prompt">{prompt.label}</label>
        <p class="help" id="prompt-help">
          {prompt.help}
        </p>
        <textarea
          id="prompt"
          name="prompt"
          rows={3}
          dir="auto"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          readOnly={locked.includes("prompt")}
          value={typed.prompt}
          aria-describedby={faults.prompt ? "prompt-help prompt-error" : "prompt-help"}
          {...(faults.prompt && {"aria-invalid": true})}
          onInput={(event) => onInput("prompt", event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onRun();
          }}
        />
        {faults.prompt && (
          <p class="error" id="prompt-error">
            {faults.prompt}
          </p>
        )}
      </div>
      <div class="action">
        <button type="submit">Run</button>
        <button type="button" class="stop" aria-disabled={!running} onClick={onStop}>
          Stop
        </button>
        <span class="tokens">{tokens}</span>
        {tools}
      </div>
      {!settingsHidden && (
        <details class="fold" open={startsOpen}>
          <summary>Settings</summary>
          <div class="settings">
            {settings.map((field) => (
              <SettingField
                key={field.name}
                field={field}
                value={typed[field.name]}
                fault={faults[field.name]}
                locked={settingsLocked}
                onInput={(value) => onInput(field.name, value)}
              />
            ))}
            <div class="field">
              <label class="check">
                <input
                  type="checkbox"
                  checked={scorePrompt}
                  disabled={settingsLocked}
                  aria-describedby="score-help"
                  onChange={(event) => onScorePrompt(event.currentTarget.checked)}
                />
                Measure the prompt too
              </label>
              <p class="help" id="score-help">
                Also asks how probable the model found each token that you gave it; one more pass.
              </p>
            </div>
          </div>
        </details>
      )}
    </form>
  );
}
