import {useId} from "preact/hooks";

interface Props<Value extends string> {
  readonly label: string;
  readonly values: readonly Value[];
  readonly names: Readonly<Record<Value, string>>;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A switch between a few values: radio buttons in one frame. */
export function Choices<Value extends string>(props: Props<Value>) {
  const {label, values, names, value, onChange} = props;
  const id = useId();
  return (
    <fieldset class="choices">
      <legend>{label}</legend>
      {values.map((each) => (
        <label key={each}>
          <input type="radio" name={id} checked={each === value} onChange={() => onChange(each)} />
          <span>{names[each]}</span>
        </label>
      ))}
    </fieldset>
  );
}
