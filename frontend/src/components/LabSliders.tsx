import {count, plain} from "../domain/format";
import type {Reshaping} from "../domain/sampling";

/** Where the top-k slider stands for "all tokens". */
const ALL = 51;

interface Props {
  readonly tried: Reshaping;
  readonly onChange: (tried: Reshaping) => void;
  readonly onReset: () => void;
}

export function LabSliders({tried, onChange, onReset}: Props) {
  const {temperature, topK, topP, minP} = tried;
  return (
    <div class="lab-sliders">
      <Slider
        name="Temperature"
        help="Under 1 sharpens, over 1 flattens; 0 takes the most probable."
        shown={plain(temperature)}
        bounds={[0, 2, 0.05]}
        value={temperature}
        onInput={(value) => onChange({...tried, temperature: value})}
      />
      <Slider
        name="Top-k"
        help="Keeps only the k most probable."
        shown={topK === null ? "all" : count(topK)}
        bounds={[1, ALL, 1]}
        value={topK ?? ALL}
        onInput={(value) => onChange({...tried, topK: value >= ALL ? null : value})}
      />
      <Slider
        name="Top-p"
        help="Keeps the fewest that together reach p."
        shown={plain(topP)}
        bounds={[0.05, 1, 0.01]}
        value={topP}
        onInput={(value) => onChange({...tried, topP: value})}
      />
      <Slider
        name="Min-p"
        help="Keeps those that have at least this share of the first one’s probability."
        shown={plain(minP)}
        bounds={[0, 1, 0.01]}
        value={minP}
        onInput={(value) => onChange({...tried, minP: value})}
      />
      <button type="button" class="quiet" onClick={onReset}>
        As in the run
      </button>
    </div>
  );
}

interface SliderProps {
  readonly name: string;
  readonly help: string;
  readonly shown: string;
  readonly bounds: readonly [minimum: number, maximum: number, step: number];
  readonly value: number;
  readonly onInput: (value: number) => void;
}

function Slider({name, help, shown, bounds: [min, max, step], value, onInput}: SliderProps) {
  const id = `lab-${name.toLowerCase()}`;
  return (
    <div class="field">
      <label for={id}>
        {name} <output for={id}>{shown}</output>
      </label>
      <input
        id={id}
        type="range"
        min={min}
        max={max}
        step={step}
        value={value}
        aria-valuetext={shown}
        aria-describedby={`${id}-help`}
        onInput={(event) => onInput(Number(event.currentTarget.value))}
      />
      <p class="help" id={`${id}-help`}>
        {help}
      </p>
    </div>
  );
}
