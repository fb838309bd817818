import {useMemo} from "preact/hooks";

import {choiceOf, type Choice, type Stage} from "../domain/choice";
import {count, interval, percent, plain, plural} from "../domain/format";
import type {Lab, Settings, TraceStep} from "../wire";
import {ChoiceTable} from "./ChoiceTable";
import {StageStrip} from "./StageStrip";
import {TokenText} from "./TokenText";

interface Props {
  readonly step: TraceStep;
  readonly lab: Lab | null;
  readonly settings: Settings;
  /** Whether its run is over. */
  readonly isOver: boolean;
}

/** From the model's probabilities to one token: temperature, top-p, and where chance fell. */
export function ChoicePanel({step, lab, settings, isOver}: Props) {
  const choice = useMemo(() => (lab ? choiceOf(step, lab, settings) : null), [step, lab, settings]);
  return (
    <section class="pane choice" aria-labelledby="choice-title">
      <h4 id="choice-title">How the choice was made</h4>
      <Verdict step={step} settings={settings} />
      {lab === null && (
        <p class="help">
          What each setting made of the probabilities is drawn from the whole distribution, which is
          not stored with a trace: run it yourself to see that.
        </p>
      )}
      {choice && (
        <>
          <ol class="stages">
            {choice.stages.map((stage) => (
              <li key={stage.name}>
                <p>{explained(stage, choice, step, settings)}</p>
                <StageStrip stage={stage} draw={drawOf(stage, step)} />
              </li>
            ))}
          </ol>
          <ChoiceTable choice={choice} step={step} isOver={isOver} />
        </>
      )}
    </section>
  );
}

/** The choice in one sentence. */
function Verdict({step, settings}: Pick<Props, "step" | "settings">) {
  const {forced, draw, sampling_probability, selected_bytes} = step.analysis;
  const token = <TokenText bytes={selected_bytes} />;
  if (forced) {
    return (
      <p class="verdict">
        You gave {token}: nothing was drawn here. The settings would have given it a chance of{" "}
        {percent(sampling_probability)}.
      </p>
    );
  }
  if (settings.temperature === 0 || draw === null) {
    return (
      <p class="verdict">
        Greedy: at temperature 0 the most probable token, {token}, is taken, and nothing is left to
        chance.
      </p>
    );
  }
  const shown = interval(draw.u, draw.lower, draw.upper);
  return (
    <p class="verdict">
      The random number u = {shown.u} fell between {shown.lower} and {shown.upper}, the place of{" "}
      {token} on the last axis. Its chance was {percent(sampling_probability)}.
    </p>
  );
}

function explained(stage: Stage, choice: Choice, step: TraceStep, settings: Settings) {
  const {temperature, top_p} = settings;
  switch (stage.name) {
    case "raw":
      return (
        <>
          <b>The model’s own</b> All tokens side by side, most probable first, each as wide as it is
          probable.
        </>
      );
    case "temperature":
      return (
        <>
          <b>After temperature {plain(temperature)}</b> {ofTemperature(temperature)}
        </>
      );
    case "top-p":
      return (
        <>
          <b>After top-p {plain(top_p)}</b> {ofTopP(choice, settings)}
        </>
      );
    case "renormalised":
      return (
        <>
          <b>In the draw</b> {count(choice.kept)} {choice.kept === 1 ? "token has" : "tokens share"}{" "}
          the whole axis again
          {ofDraw(step, settings)}
        </>
      );
  }
}

function ofDraw({analysis}: TraceStep, {temperature}: Settings): string {
  if (analysis.forced) return "; the token was given, so u was not asked.";
  if (temperature === 0 || !analysis.draw) return ": there is nothing to draw.";
  return "; u points at one place on it.";
}

function ofTemperature(temperature: number): string {
  if (temperature === 0) return "Greedy: the most probable token gets everything.";
  if (temperature === 1) return "1 changes nothing.";
  return temperature < 1
    ? "Under 1 the probable tokens gain and the others lose."
    : "Over 1 the improbable tokens gain and the others lose.";
}

function ofTopP({kept, removed}: Choice, {temperature, top_p}: Settings): string {
  if (temperature === 0) return "Without effect at temperature 0.";
  if (removed === 0) return "Nothing is cut: every token stays.";
  return (
    `The first ${plural(kept, "token")} together reach ${plain(top_p)} and stay; ` +
    `the other ${count(removed)} beyond the line are removed.`
  );
}

function drawOf(stage: Stage, step: TraceStep) {
  return stage.name === "renormalised" ? step.analysis.draw : null;
}
