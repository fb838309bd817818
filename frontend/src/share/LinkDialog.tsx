import {useState} from "preact/hooks";

import {Choices} from "../components/Choices";
import type {Field, Typed} from "../domain/fields";
import {iframeOf} from "../embed/snippet";
import {CopyRow} from "./CopyRow";
import {Dialog} from "./Dialog";
import {
  fitting,
  HIDABLE,
  LOCKABLE,
  THEMES,
  writeLink,
  type Hidable,
  type LinkOptions,
  type Lockable,
} from "./link";

interface Props {
  readonly fields: readonly Field[];
  readonly typed: Typed;
  /** What the page itself was opened with, and shows now. */
  readonly first: LinkOptions;
  readonly onClose: () => void;
}

const LOCKED: Readonly<Record<Lockable, string>> = {
  prompt: "The prompt cannot be changed",
  settings: "The settings cannot be changed",
};
const HIDDEN: Readonly<Record<Hidable, string>> = {
  settings: "Settings",
  examples: "Examples",
  lab: "Sampling lab",
  branches: "Other paths",
  numbers: "The run in numbers",
  tables: "Tables",
  share: "Links, sharing, saving",
  reading: "What the numbers mean",
};
const THEME_NAMES = {auto: "As the device", light: "Light", dark: "Dark"};

/** Makes a link to the page as it is, or as a class is to find it. */
export function LinkDialog({fields, typed, first, onClose}: Props) {
  const [options, setOptions] = useState(first);
  const carried = fitting(typed, fields);
  const left = fields.filter(({name}) => carried[name] === undefined);
  const set = (more: Partial<LinkOptions>) => setOptions((now) => ({...now, ...more}));
  const fragment = writeLink({typed: carried, options});
  return (
    <Dialog title="A link to this page" onClose={onClose}>
      <p>
        It carries the prompt and every setting, after a # in the address: that part stays in the
        browser, and no server writes it down. Whoever has the link can read the prompt.
      </p>
      {left.length > 0 && (
        <p class="notice">
          Left out, for it does not fit: {left.map(({label}) => label).join(", ")}.
        </p>
      )}
      <CopyRow label="Link" text={new URL(`/#${fragment}`, location.href).href} />
      <details class="fold">
        <summary>For a class</summary>
        <Check on={options.run} onChange={(run) => set({run})}>
          Run as soon as it is open
        </Check>
        <fieldset>
          <legend>Lock</legend>
          <Several
            values={LOCKABLE}
            names={LOCKED}
            on={options.lock}
            onChange={(lock) => set({lock})}
          />
        </fieldset>
        <fieldset>
          <legend>Hide</legend>
          <Several
            values={HIDABLE}
            names={HIDDEN}
            on={options.hide}
            onChange={(hide) => set({hide})}
          />
        </fieldset>
        <Choices
          label="Colours"
          values={THEMES}
          names={THEME_NAMES}
          value={options.theme}
          onChange={(theme) => set({theme})}
        />
        <p class="help">
          A lock keeps a class together; it is no secret, and the address can be edited.
        </p>
      </details>
      <details class="fold">
        <summary>To show it in another page</summary>
        <CopyRow
          label="HTML of a frame"
          rows={4}
          text={iframeOf(new URL(`/embed#${fragment}`, location.href).href, "Token Trace")}
        />
        <p class="help">Whoever runs this server says which sites may show it in a frame.</p>
      </details>
    </Dialog>
  );
}

interface CheckProps {
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
  readonly children: string;
}

function Check({on, onChange, children}: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={on}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {children}
    </label>
  );
}

interface SeveralProps<Value extends string> {
  readonly values: readonly Value[];
  readonly names: Readonly<Record<Value, string>>;
  readonly on: readonly Value[];
  readonly onChange: (on: readonly Value[]) => void;
}

function Several<Value extends string>({values, names, on, onChange}: SeveralProps<Value>) {
  const toggled = (value: Value, isOn: boolean) =>
    values.filter((each) => (each === value ? isOn : on.includes(each)));
  return (
    <>
      {values.map((value) => (
        <Check
          key={value}
          on={on.includes(value)}
          onChange={(isOn) => onChange(toggled(value, isOn))}
        >
          {names[value]}
        </Check>
      ))}
    </>
  );
}
