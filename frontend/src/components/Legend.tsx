import {LEVELS, MEASURES, SCALES, type Measure} from "../domain/scales";
import {Choices} from "./Choices";

const NAMES = Object.fromEntries(
  MEASURES.map((measure) => [measure, SCALES[measure].label]),
) as Record<Measure, string>;

interface SwitchProps {
  readonly measure: Measure;
  readonly onMeasure: (measure: Measure) => void;
}

/** By what the tokens are coloured. */
export function MeasureSwitch({measure, onMeasure}: SwitchProps) {
  return (
    <Choices
      label="Colour by"
      values={MEASURES}
      names={NAMES}
      value={measure}
      onChange={onMeasure}
    />
  );
}

/** The colours and ticks of the five levels, the same for every trace. */
export function Legend({measure}: {readonly measure: Measure}) {
  return (
    <ul class="legend" aria-label={`Colours of ${SCALES[measure].label.toLowerCase()}`}>
      {LEVELS.map((level) => (
        <li key={level}>
          <span class={`swatch level-${level}`} aria-hidden="true" />
          {SCALES[measure].levels[level - 1]}
        </li>
      ))}
    </ul>
  );
}
