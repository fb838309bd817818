import {useEffect, useState} from "preact/hooks";

import type {Measure} from "../domain/scales";
import {isOn, type Trace} from "../domain/trace";
import {runningTrace, selectedBranch} from "../domain/explorer";
import {initial, judge, type Faults, type FieldName, type Typed} from "../domain/fields";
import {problemOf} from "../domain/problems";
import {leadOwnTab} from "../embed/ownTab";
import type {Example, Page} from "../page";
import {KeepBar} from "../share/KeepBar";
import {fitting, PLAIN, writeLink, type Hidable} from "../share/link";
import {LinkDialog} from "../share/LinkDialog";
import {LinkNotice} from "../share/LinkNotice";
import {useLink} from "../share/useLink";
import type {ErrorFrame} from "../wire";
import {Announcer} from "./Announcer";
import {Examples} from "./Examples";
import {ConnectionNotice, ModelLine, ProblemNotice} from "./Notices";
import {PromptForm} from "./PromptForm";
import {nextRunId} from "./runIds";
import {TokenCount} from "./TokenCount";
import {TraceView} from "./TraceView";
import {useLive} from "./useLive";

interface Props {
  readonly page: Page;
  readonly typed: Typed;
  /** Whether it is a small page in a frame of another site's. */
  readonly embedded: boolean;
}

/** The whole live page. */
export function Explorer({page, typed: first, embedded}: Props) {
  const live = useLive();
  const link = useLink(page.fields);
  const options = link?.options ?? PLAIN;
  const {lock} = options;
  const {explorer, dispatch, hello} = live;
  const [typed, setTyped] = useState<Typed>(first);
  const [faults, setFaults] = useState<Faults>(() => faultsOf(page));
  const [measure, setMeasure] = useState<Measure>("probability");
  const [scorePrompt, setScorePrompt] = useState(false);
  const [linking, setLinking] = useState(false);
  const branch = selectedBranch(explorer);
  const running = runningTrace(explorer);
  // Whatever went wrong before the newest press of Run is over, whether that was taken or not.
  const [past, setPast] = useState<ErrorFrame | null>(null);
  const failed = branch?.trace.status === "failed" ? branch.trace.problem : live.stray;
  const problem = failed && failed !== past ? problemOf(failed) : null;
  const notice = problem && <ProblemNotice problem={problem} />;
  const shown = branch !== null && isShown(branch.trace) ? branch : null;

  const shows = (part: Hidable) => !options.hide.includes(part);
  const input = (name: FieldName, value: string) => {
    if (lock.includes(name === "prompt" ? "prompt" : "settings")) return;
    setTyped((now) => ({...now, [name]: value}));
    setFaults(({[name]: _, ...others}) => others);
  };
  const run = (now: Typed, scored = scorePrompt) => {
    setPast(failed);
    const judged = judge(page.fields, now);
    setFaults(judged.ok ? {} : judged.faults);
    if (!judged.ok) return focusOn(Object.keys(judged.faults)[0]);
    const {prompt, settings} = judged;
    const start = {type: "start", id: nextRunId(), prompt, settings, forced: []} as const;
    dispatch({type: "run", start: {...start, score_prompt: scored}});
    forgetPosted();
  };
  const choose = (example: Example) => {
    const settings = lock.includes("settings")
      ? typed
      : {...initial(page.fields), ...example.settings};
    const chosen = {...settings, prompt: example.prompt};
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

  useEffect(() => {
    if (!link) return;
    const now = {...initial(page.fields), ...link.typed};
    setTyped(now);
    setFaults({});
    setMeasure(options.measure);
    setScorePrompt(options.scorePrompt);
    if (options.run) run(now, options.scorePrompt);
  }, [link]);

  const now = {...options, scorePrompt, measure};
  useEffect(() => {
    if (embedded) leadOwnTab(writeLink({typed: fitting(typed, page.fields), options: now}));
  });
  const sharing = hello?.limits.sharing ? hello.limits.sharing_days : null;
  return (
    <>
      <LinkNotice link={link} />
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
        locked={lock}
        settingsHidden={!shows("settings")}
        tokens={<TokenCount prompt={typed.prompt} live={live} />}
        tools={
          shows("share") &&
          !embedded && (
            <button
              type="button"
              class="quiet"
              aria-haspopup="dialog"
              onClick={() => setLinking(true)}
            >
              Copy link
            </button>
          )
        }
        onInput={input}
        onScorePrompt={setScorePrompt}
        onRun={() => run(typed)}
        onStop={stop}
      />
      {linking && (
        <LinkDialog
          fields={page.fields}
          typed={typed}
          first={now}
          onClose={() => setLinking(false)}
        />
      )}
      {!shown && notice}
      <Announcer trace={branch?.trace ?? null} />
      {shown && (
        <TraceView
          reading={live}
          live={live}
          branch={shown}
          hidden={options.hide}
          scrolls={!embedded}
          keeping={
            shows("share") &&
            !embedded && (
              <KeepBar
                trace={shown.trace}
                step={explorer.step}
                made={madeHere}
                days={sharing}
                isFile={false}
              />
            )
          }
          notice={notice}
          measure={measure}
          onMeasure={setMeasure}
          onStop={stop}
        />
      )}
      {shows("examples") && !lock.includes("prompt") && !embedded && (
        <Examples examples={page.examples} folded={branch !== null} onChoose={choose} />
      )}
    </>
  );
}

/** When and where a trace of this page was made, near enough. */
function madeHere() {
  return {at: new Date().toISOString(), url: new URL("/", location.href).href, provenance: null};
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
