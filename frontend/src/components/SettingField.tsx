import {useId} from "preact/hooks";

import type {Field} from "../domain/fields";

const SLIDER_STEP = 0.05;

interface Props {
  readonly field: Field;
  readonly value: string;
  readonly fault: string | undefined;
  readonly locked: boolean;
  readonly onInput: (value: string) => void;
}

/** One setting: a number, a slider for it where it has bounds, and a sentence of what it does. */
export function SettingField({field, value, fault, locked, onInput}: Props) {
  const {name, label, help, kind, minimum, maximum} = field;
  const id = useId();
  const described = fault ? `${name}-help ${name}-error` : `${name}-help`;
  const typed = (event: {currentTarget: HTMLInputElement}) => onInput(event.currentTarget.value);
  const slides = !locked && minimum !== null && maximum !== null;
  return (
    <div class="field">
      <label id={id} for={name}>
        {label}
      </label>
      <div class="dial">
        {slides && (
          <input
            type="range"
            // 0 is no top-p: it would keep nothing.
            min={name === "top_p" ? SLIDER_STEP : minimum}
            max={maximum}
            step={kind === "integer" ? 1 : SLIDER_STEP}
            value={Number(value) || 0}
            aria-labelledby={id}
            aria-describedby={`${name}-help`}
            onInput={typed}
          />
        )}
        <input
          id={name}
          name={name}
          type="text"
          inputMode={kind === "integer" ? "numeric" : "decimal"}
          maxLength={40}
          autocomplete="off"
          value={value}
          readOnly={locked}
          aria-describedby={described}
          {...(fault && {"aria-invalid": true})}
          onInput={typed}
        />
        {name === "seed" && !locked && (
          <button type="button" class="quiet" onClick={() => onInput(freshSeed())}>
            New seed
          </button>
        )}
      </div>
      {fault && (
        <p class="error" id={`${name}-error`}>
          {fault}
        </p>
      )}
      <p class="help" id={`${name}-help`}>
        {help}
      </p>
    </div>
  );
}

function freshSeed(): string {
  return String(Math.floor(Math.random() * 1_000_000));
}
