import {useEffect, useState} from "preact/hooks";

import type {Measure} from "../domain/scales";
import {isOn, type Trace} from "../domain/trace";
import {runningTrace, selectedBranch} from "../domain/explorer";
import {judge, type Faults, type FieldName, type Typed} from "../domain/fields";
import {problemOf} from "../domain/problems";
import type {Example, Page} from "../page";
import type {ErrorFrame} from "../wire";
import {Announcer} from "./Announcer";
import {Examples} from "./Examples";
import {ConnectionNotice, ModelLine, ProblemNotice} from "./Notices";
import {PromptForm} from "./PromptForm";
import {nextRunId} from "./runIds";
import {TokenCount} from "./TokenCount";
import {TraceView} from "./TraceView";
import {useLive} from "./useLive";

/** The whole live page. */
export function Explorer({page, typed: first}: {readonly page: Page; readonly typed: Typed}) {
  const live = useLive();
  const {explorer, dispatch, hello} = live;
  const [typed, setTyped] = useState<Typed>(first);
  const [faults, setFaults] = useState<Faults>(() => faultsOf(page));
  const [measure, setMeasure] = useState<Measure>("probability");
  const [scorePrompt, setScorePrompt] = useState(false);
  const branch = selectedBranch(explorer);
  const running = runningTrace(explorer);
  // Whatever went wrong before the newest press of Run is over, whether that was taken or not.
  const [past, setPast] = useState<ErrorFrame | null>(null);
  const failed = branch?.trace.status === "failed" ? branch.trace.problem : live.stray;
  const problem = failed && failed !== past ? problemOf(failed) : null;
  const notice = problem && <ProblemNotice problem={problem} />;
  const shown = branch !== null && isShown(branch.trace) ? branch : null;

  const input = (name: FieldName, value: string) => {
    setTyped((now) => ({...now, [name]: value}));
    setFaults(({[name]: _, ...others}) => others);
  };
  const run = (now: Typed) => {
    setPast(failed);
    const judged = judge(page.fields, now);
    setFaults(judged.ok ? {} : judged.faults);
    if (!judged.ok) return focusOn(Object.keys(judged.faults)[0]);
    const {prompt, settings} = judged;
    const start = {type: "start", id: nextRunId(), prompt, settings, forced: []} as const;
    dispatch({type: "run", start: {...start, score_prompt: scorePrompt}});
    forgetPosted();
  };
  const choose = (example: Example) => {
    const defaults = Object.fromEntries(page.fields.map(({name, typed}) => [name, typed]));
    const chosen = {...defaults, prompt: example.prompt, ...example.settings} as Typed;
    setTyped(chosen);
    run(chosen);
  };
  const stop = () => {
    if (!running) return;
    if (!live.send({type: "stop", id: running.start.id}) || running.status === "unsent") {
      dispatch({type: "stop", id: running.start.id});
    }
  };

  useEffect(() => {
    if (problem?.field) setFaults({[problem.field]: problem.text});
  }, [failed]);

  return (
    <>
      <ModelLine model={hello?.model ?? page.model} ready={hello?.ready ?? page.ready} />
      <ConnectionNotice
        {...live}
        onRetry={live.retry}
        onPost={() => document.querySelector<HTMLFormElement>("form.ask")?.submit()}
      />
      <PromptForm
        fields={page.fields}
        typed={typed}
        faults={faults}
        scorePrompt={scorePrompt}
        running={running !== null}
        tokens={<TokenCount prompt={typed.prompt} live={live} />}
        onInput={input}
        onScorePrompt={setScorePrompt}
        onRun={() => run(typed)}
        onStop={stop}
      />
      {!shown && notice}
      <Announcer trace={branch?.trace ?? null} />
      {shown && (
        <TraceView
          live={live}
          branch={shown}
          notice={notice}
          measure={measure}
          onMeasure={setMeasure}
          onStop={stop}
        />
      )}
      <Examples examples={page.examples} folded={branch !== null} onChoose={choose} />
    </>
  );
}

function isShown(trace: Trace): boolean {
  return isOn(trace) || trace.promptTokens.length > 0;
}

function faultsOf(page: Page): Faults {
  return Object.fromEntries(
    page.fields.filter(({error}) => error).map(({name, error}) => [name, error]),
  );
}

function focusOn(id: string | undefined): void {
  if (id) document.getElementById(id)?.focus();
}

/** Take away the trace, or the fault, that the server drew in answer to a form without script. */
function forgetPosted(): void {
  for (const posted of document.querySelectorAll("[data-posted]")) posted.remove();
}
