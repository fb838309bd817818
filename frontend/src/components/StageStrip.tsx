import type {Segment, Stage} from "../domain/choice";
import {barLength} from "../domain/format";
import {tokenLabel} from "../domain/tokens";
import type {DrawInterval} from "../wire";

/** Wide enough for a label, as a share of the axis. */
const LABEL_FROM = 0.09;

interface Props {
  readonly stage: Stage;
  readonly draw: DrawInterval | null;
}

/** Tokens side by side on the axis from 0 to 1. The table under the stages says the same. */
export function StageStrip({stage, draw}: Props) {
  return (
    <div class={draw ? "stage drawing" : "stage"} aria-hidden="true">
      {draw && (
        <svg class="dart" focusable="false">
          <text x={barLength(draw.u)} y="11" text-anchor={anchor(draw.u)}>
            u
          </text>
          <line x1={barLength(draw.u)} x2={barLength(draw.u)} y1="14" y2="100%" />
        </svg>
      )}
      <svg class="segments" focusable="false">
        {stage.segments.map((segment, index) => (
          <rect
            key={index}
            class={classOf(segment, index)}
            x={barLength(segment.start)}
            width={barLength(segment.width)}
            height="100%"
          />
        ))}
        {stage.segments.map(
          ({token, start, width, chosen}) =>
            token &&
            width >= LABEL_FROM && (
              <svg x={barLength(start)} width={barLength(width)} height="100%">
                <text x="6" y="50%" class={chosen ? "label chosen" : "label"}>
                  {tokenLabel(token.bytes)}
                </text>
              </svg>
            ),
        )}
        {stage.cut !== null && (
          <line class="cut" x1={barLength(stage.cut)} x2={barLength(stage.cut)} y2="100%" />
        )}
      </svg>
      <span class="axis">
        <span>0</span>
        <span>0.25</span>
        <span>0.5</span>
        <span>0.75</span>
        <span>1</span>
      </span>
    </div>
  );
}

function classOf({token, chosen, removed}: Segment, index: number): string {
  const kind = chosen ? "chosen" : token ? (index % 2 ? "odd" : "even") : "rest";
  return removed ? `${kind} removed` : kind;
}

function anchor(u: number): "start" | "middle" | "end" {
  return u < 0.05 ? "start" : u > 0.95 ? "end" : "middle";
}
