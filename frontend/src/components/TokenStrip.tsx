import type {VNode} from "preact";
import {useLayoutEffect, useMemo, useRef} from "preact/hooks";

import {bits, count, percent} from "../domain/format";
import {joinCharacters, type Group} from "../domain/joining";
import {SCALES, type Measure} from "../domain/scales";
import {directionOf, tokenSpoken} from "../domain/tokens";
import {visibleText} from "../domain/visible";
import {scoreOf, type Trace} from "../domain/trace";
import type {TokenScore} from "../wire";
import {TokenText} from "./TokenText";

interface Props {
  readonly trace: Trace;
  readonly measure: Measure;
  readonly step: number;
  /** While it plays, the tokens after the step are not there yet. */
  readonly playing: boolean;
  readonly onStep: (step: number) => void;
}

interface Piece {
  readonly bytes: readonly number[];
  readonly special: boolean;
  readonly score: TokenScore | null;
  /** Its step; null for a token of the prompt. */
  readonly step: number | null;
}

/** The prompt and what was drawn, as text that reads on, each token in its border and colour. */
export function TokenStrip({trace, measure, step, playing, onStep}: Props) {
  const strip = useRef<HTMLDivElement>(null);
  const pieces = useMemo(() => piecesOf(trace), [trace]);
  const groups = useMemo(() => joinCharacters(pieces.map(({bytes}) => bytes)), [pieces]);
  // Asked before the tokens change: one that is hidden while it has the focus loses it.
  const hadFocus = strip.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    if (hadFocus) strip.current?.querySelector<HTMLElement>("[aria-current]")?.focus();
  }, [step]);

  const draw = (index: number) => {
    const piece = pieces[index];
    if (!piece) return null;
    return (
      <Token
        key={index}
        piece={piece}
        measure={measure}
        current={piece.step === step}
        ahead={playing && piece.step !== null && piece.step > step}
        onStep={onStep}
      />
    );
  };
  return (
    <div
      class="strip"
      role="group"
      aria-label="The text, token by token"
      dir={directionOf(trace.start.prompt)}
      ref={strip}
    >
      {groups.flatMap((group) => [
        joined(group, draw),
        endsLine(pieces[group.end - 1]) && <br key={`line ${group.end}`} />,
      ])}
    </div>
  );
}

/** A token; or those that share a character, under what they are together. */
function joined({start, end, joined}: Group, draw: (index: number) => VNode | null): VNode | null {
  if (joined === null) return draw(start);
  return (
    <span class="joined" key={start}>
      <bdi class="whole">{visibleText(joined)}</bdi>
      <span class="pieces">
        {Array.from({length: end - start}, (_, offset) => draw(start + offset))}
      </span>
    </span>
  );
}

interface TokenProps {
  readonly piece: Piece;
  readonly measure: Measure;
  readonly current: boolean;
  readonly ahead: boolean;
  readonly onStep: (step: number) => void;
}

function Token({piece, measure, current, ahead, onStep}: TokenProps) {
  const {bytes, special, score, step} = piece;
  const level = score ? `level-${SCALES[measure].level(score)}` : "unmeasured";
  const text = <TokenText bytes={bytes} special={special} />;
  if (step === null) return <span class={`tok given ${level}`}>{text}</span>;
  return (
    <button
      type="button"
      class={ahead ? `tok ahead ${level}` : `tok ${level}`}
      tabIndex={current ? 0 : -1}
      aria-label={`Step ${step + 1}: ${tokenSpoken(bytes)}, ${score ? spoken(score, measure) : ""}`}
      {...(current && {"aria-current": "step"})}
      onClick={() => onStep(step)}
    >
      {text}
    </button>
  );
}

function piecesOf(trace: Trace): readonly Piece[] {
  return [
    ...trace.promptTokens.map(({bytes, special}, index) => ({
      bytes,
      special,
      score: trace.promptScores[index] ?? null,
      step: null,
    })),
    ...trace.steps.map((step) => ({
      bytes: step.analysis.selected_bytes,
      special: step.analysis.special,
      score: scoreOf(step),
      step: step.step,
    })),
  ];
}

function spoken(score: TokenScore, measure: Measure): string {
  switch (measure) {
    case "probability":
      return percent(score.probability);
    case "rank":
      return `rank ${count(score.rank + 1)}`;
    case "surprisal":
      return `surprisal ${bits(score.surprisal_bits)}`;
    case "entropy":
      return `entropy ${bits(score.entropy_bits)}`;
  }
}

function endsLine(piece: Piece | undefined): boolean {
  return piece?.bytes.includes(0x0a) ?? false;
}
