import type {ComponentChildren} from "preact";

import {plural} from "../domain/format";
import {Bars} from "./Bars";
import {hasMore, isChosen, isOver, stepShown, stepsWritten, type Show} from "./show";
import {Written} from "./Written";

interface Props {
  readonly show: Show;
  /** What this is: live, or recorded, when and where. */
  readonly heading: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A trace that plays itself: the text, and what could come next. */
export function Stage({show, heading, children}: Props) {
  const step = stepShown(show);
  return (
    <section class="stage">
      {heading}
      <Written prompt={show.prompt} steps={stepsWritten(show)} fresh={isChosen(show)} />
      <h1 class="turn">{title(show)}</h1>
      {step ? <Bars step={step} chosen={isChosen(show)} /> : <div class="could" />}
      <div class="controls">{children}</div>
    </section>
  );
}

function title(show: Show): string {
  const number = stepShown(show)?.step ?? 0;
  if (isOver(show)) {
    const end = show.ended ? "The model ended the text" : "That is all for now";
    return `${end}: ${plural(show.steps.length, "token")}`;
  }
  if (!hasMore(show) && show.beat > 0 && !show.paused) return "Waiting for the next token…";
  return isChosen(show)
    ? `Token ${number + 1} is chosen`
    : `What could come as token ${number + 1}?`;
}
