import type {TraceStep} from "../wire";

const HEIGHT = 96;
const SLOT = 20;

interface Props {
  readonly title: string;
  readonly values: readonly number[];
  readonly written: (value: number) => string;
  readonly steps: readonly TraceStep[];
  readonly onStep: (step: number) => void;
}

/** One bar a step from 0 up. The table of all steps has the same numbers. */
export function StepChart({title, values, written, steps, onStep}: Props) {
  const largest = Math.max(...values);
  const at = values.indexOf(largest);
  const width = SLOT * values.length;
  const label = `${title}: ${values.length} bars, the largest ${written(largest)} at step ${at + 1}.`;
  return (
    <figure class="chart">
      <figcaption>
        {title}{" "}
        <span class="under">
          up to {written(largest)}, at step {at + 1}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        {values.map((value, index) => {
          const height = largest > 0 ? (HEIGHT * value) / largest : 0;
          return (
            <g key={index} onClick={() => onStep(steps[index]?.step ?? index)}>
              <rect class="slot" x={SLOT * index} width={SLOT} height={HEIGHT} />
              <rect
                class="column"
                x={SLOT * index + 2}
                y={HEIGHT - height}
                width={SLOT - 4}
                height={height}
              />
            </g>
          );
        })}
      </svg>
    </figure>
  );
}
