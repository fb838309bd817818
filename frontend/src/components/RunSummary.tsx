import {bits, count, milliseconds, oneIn, plural} from "../domain/format";
import {effectiveChoices, summaryOf} from "../domain/summary";
import type {Trace} from "../domain/trace";
import type {Hello} from "../wire";
import {Hint} from "./Hint";
import {MadeWith} from "./MadeWith";
import {StepChart} from "./StepChart";

interface Props {
  readonly trace: Trace;
  readonly hello: Hello | null;
  readonly onStep: (step: number) => void;
}

/** The run in a few numbers, and all that is needed to repeat it. */
export function RunSummary({trace, hello, onStep}: Props) {
  const {steps} = trace;
  const summary = summaryOf(steps);
  return (
    <section class="summary" aria-labelledby="summary-title">
      <h3 id="summary-title">The run in numbers</h3>
      <dl class="cards">
        <Card name="Perplexity" value={count(summary.perplexity)}>
          2 to the power of the mean surprisal ({bits(summary.meanSurprisalBits)} a token): on
          average the run was as hard to foresee as a choice between so many equally likely tokens.
          It says how expected the text is, not whether it is true.
        </Card>
        <Card name="Mean entropy" value={bits(summary.meanEntropyBits)}>
          The entropy of each step over the whole vocabulary, averaged: how open the model was
          before each draw. 2 to its power gives the effective choices, here{" "}
          {count(effectiveChoices(summary.meanEntropyBits))}.
        </Card>
        <Card name="Joint probability" value={oneIn(summary.jointBits)}>
          All the tokens’ probabilities multiplied: how likely exactly this text is, of all that the
          model could have written. Each token can only lower it, so compare texts of one length
          only.
        </Card>
        <Card name="To the first token" value={time(summary.firstTokenMs)}>
          From the request until the first token was drawn: waiting for the turn, and reading the
          prompt (prefill), with any tokens that were given. What this page’s runs have in common is
          read once.
        </Card>
        <Card name="Each later token" value={time(summary.laterTokenMs)}>
          The mean of the tokens drawn after the first, each one pass over one token (decode),
          measured on the server.
        </Card>
        <Card name="Tokens" value={plural(summary.tokens, "token")}>
          How many steps the run has{summary.forced > 0 && `; ${count(summary.forced)} were given`}.
          A token is a piece of text, not always a word.
        </Card>
      </dl>
      <div class="charts">
        <StepChart
          title="Entropy of each step, in bits"
          values={steps.map((step) => step.analysis.entropy_bits)}
          written={bits}
          steps={steps}
          onStep={onStep}
        />
        <StepChart
          title="Surprisal of each token, in bits"
          values={steps.map((step) => step.analysis.surprisal_bits)}
          written={bits}
          steps={steps}
          onStep={onStep}
        />
        <StepChart
          title={
            summary.forced > 0 ? "Time of each step; given ones have none" : "Time of each step"
          }
          values={steps.map((step) => (step.analysis.forced ? 0 : step.step_ms))}
          written={milliseconds}
          steps={steps}
          onStep={onStep}
        />
      </div>
      <MadeWith trace={trace} hello={hello} />
    </section>
  );
}

/** A time, or a dash where nothing was timed. */
function time(value: number | null): string {
  return value === null ? "–" : milliseconds(value);
}

interface CardProps {
  readonly name: string;
  readonly value: string;
  readonly children: preact.ComponentChildren;
}

function Card({name, value, children}: CardProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span class="value">{value}</span>
        <Hint about={name.toLowerCase()}>{children}</Hint>
      </dd>
    </div>
  );
}
