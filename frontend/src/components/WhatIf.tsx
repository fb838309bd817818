import {useEffect, useRef, useState} from "preact/hooks";

import {tokenSpoken} from "../domain/tokens";
import type {TraceStep} from "../wire";
import {TokenText} from "./TokenText";
import type {LiveState} from "./useLive";

const PAUSE_MS = 200;

interface Props {
  readonly step: TraceStep;
  readonly live: LiveState;
  readonly onBranch: (tokenId: number) => void;
}

/** Go on with any token of the vocabulary, found by typing how it begins. */
export function WhatIf({step, live, onBranch}: Props) {
  const [text, setText] = useState("");
  const asked = useRef(0);
  useEffect(() => {
    if (text === "") return;
    const timer = setTimeout(() => {
      live.send({type: "find", id: `f${++asked.current}`, text});
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);

  const found = text !== "" && live.found?.id === `f${asked.current}` ? live.found.tokens : null;
  return (
    <div class="what-if">
      <label for="what-if">What if step {step.step + 1} were any other token?</label>
      <p class="help" id="what-if-help">
        Type how it begins; most words begin with a space. Then follow one of those found.
      </p>
      <input
        id="what-if"
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        maxLength={60}
        value={text}
        aria-describedby="what-if-help"
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div role="status">
        {found && (found.length === 0 ? <p class="help">No token begins so.</p> : null)}
      </div>
      {found && found.length > 0 && (
        <ul class="found" aria-label="Tokens that begin so">
          {found.map(({token_id, bytes, special}) => (
            <li key={token_id}>
              <button
                type="button"
                class="quiet"
                aria-label={`Follow ${tokenSpoken(bytes)}`}
                onClick={() => {
                  setText("");
                  onBranch(token_id);
                }}
              >
                <TokenText bytes={bytes} special={special} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
