import {Component, type VNode} from "preact";
import {useLayoutEffect, useMemo, useRef} from "preact/hooks";

import {bits, count, percent} from "../domain/format";
import {joinCharacters, type Group} from "../domain/joining";
import {SCALES, type Measure} from "../domain/scales";
import {directionOf, tokenSpoken, utf8} from "../domain/tokens";
import {scoreOf, type Trace} from "../domain/trace";
import type {TokenScore, TraceStep} from "../wire";
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
  const given = useMemo(() => piecesOfPrompt(trace), [trace.promptTokens, trace.promptScores]);
  const pieces = useMemo(() => [...given, ...trace.steps.map(pieceOf)], [given, trace.steps]);
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
      <span class="whole">
        <TokenText bytes={utf8(joined)} />
      </span>
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

/** One token. Drawn again only where it changes: a step comes for each, and they are many. */
class Token extends Component<TokenProps> {
  override shouldComponentUpdate(next: TokenProps) {
    const {piece, measure, current, ahead, onStep} = this.props;
    return (
      piece !== next.piece ||
      measure !== next.measure ||
      current !== next.current ||
      ahead !== next.ahead ||
      onStep !== next.onStep
    );
  }

  override render() {
    return tokenOf(this.props);
  }
}

function tokenOf({piece, measure, current, ahead, onStep}: TokenProps) {
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

function piecesOfPrompt({promptTokens, promptScores}: Trace): readonly Piece[] {
  return promptTokens.map(({bytes, special}, index) => ({
    bytes,
    special,
    score: promptScores[index] ?? null,
    step: null,
  }));
}

/** The piece of each step, so that the same step has the same one. */
const PIECES = new WeakMap<TraceStep, Piece>();

function pieceOf(step: TraceStep): Piece {
  const known = PIECES.get(step);
  if (known) return known;
  const {selected_bytes: bytes, special} = step.analysis;
  const piece = {bytes, special, score: scoreOf(step), step: step.step};
  PIECES.set(step, piece);
  return piece;
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
