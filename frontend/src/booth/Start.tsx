import {useState} from "preact/hooks";

import {lengthOf} from "../domain/fields";
import type {Settings} from "../wire";
import type {BoothPage} from "./page";

interface Props {
  readonly page: BoothPage;
  readonly onChoose: (prompt: string, settings: Settings, typed: boolean) => void;
}

/** The start: prompts as large buttons, and, where the operator allows it, a line to type. */
export function Start({page, onChoose}: Props) {
  return (
    <section class="start">
      <h1>Watch a language model choose each word</h1>
      <p>Choose how the text begins. You see what the model could say next, and what it picks.</p>
      <ul class="prompts">
        {page.prompts.map(({slug, prompt, look_for, settings}) => (
          <li key={slug}>
            <button type="button" onClick={() => onChoose(prompt, settings, false)}>
              <bdi>{prompt}</bdi>
              {look_for && <small>{look_for}</small>}
            </button>
          </li>
        ))}
      </ul>
      {page.typed && <OwnPrompt {...page.typed} onChoose={onChoose} />}
    </section>
  );
}

interface OwnProps {
  readonly characters: number;
  readonly settings: Settings;
  readonly onChoose: Props["onChoose"];
}

function OwnPrompt({characters, settings, onChoose}: OwnProps) {
  const [text, setText] = useState("");
  const over = lengthOf(text) - characters;
  const submit = (event: Event) => {
    event.preventDefault();
    if (text.trim() !== "" && over <= 0) onChoose(text, settings, true);
  };
  return (
    <form class="own" onSubmit={submit}>
      <span class="line">
        <label for="own">Or begin it yourself</label>
        <input
          id="own"
          type="text"
          value={text}
          dir="auto"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-describedby={over > 0 ? "own-fault" : undefined}
          aria-invalid={over > 0}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit">Go</button>
      </span>
      {over > 0 && (
        <p class="fault" id="own-fault" role="alert">
          At most {characters} characters: {over} too many.
        </p>
      )}
    </form>
  );
}
