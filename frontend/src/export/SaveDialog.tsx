import {useState} from "preact/hooks";

import {CopyRow} from "../share/CopyRow";
import {Dialog} from "../share/Dialog";
import {exactJson} from "../share/exact";
import {bibtexOf, citationOf} from "./citation";
import {toCsv} from "./csv";
import {download} from "./download";
import {runFigure, stepFigure} from "./figure";
import {offlinePage, ownSources} from "./offline";
import {toPng} from "./png";
import {fileName, type SavedTrace} from "./record";

interface Props {
  readonly saved: SavedTrace;
  /** The step that is inspected, from 0. */
  readonly step: number;
  /** Whether this page is such a file itself, and cannot read its own source. */
  readonly isFile: boolean;
  readonly onClose: () => void;
}

const SVG = "image/svg+xml";

/** Files, figures and a citation of a trace, all made here from what the page holds. */
export function SaveDialog({saved, step, isFile, onClose}: Props) {
  const [said, setSaid] = useState("");
  const save = (name: string, make: () => string | Blob | Promise<string | Blob>, type: string) => {
    Promise.resolve()
      .then(make)
      .then((content) => {
        download(name, content, type);
        setSaid(`Saved as ${name}.`);
      })
      .catch(() => setSaid(`${name} could not be made. Reload the page and try again.`));
  };
  const file = (ending: string, part = "") => `${fileName(saved, part)}.${ending}`;
  const figures = [
    {
      name: `Figure of step ${step + 1}`,
      part: `step-${step + 1}`,
      svg: () => stepFigure(saved, step),
    },
    {name: "Figure of the run", part: "run", svg: () => runFigure(saved)},
  ];
  return (
    <Dialog title="Save this trace" onClose={onClose}>
      <p>All of this is made in your browser, from what the page shows. Nothing is sent.</p>
      <dl class="formats">
        {!isFile && (
          <Format name="Page that replays" help="one file, works without a network">
            <Save
              kind="HTML"
              of="Page that replays"
              onPress={() =>
                save(
                  file("html"),
                  async () => offlinePage(saved, await ownSources(document)),
                  "text/html",
                )
              }
            />
          </Format>
        )}
        {figures.map(({name, part, svg}) => (
          <Format key={part} name={name} help="with caption, settings and citation">
            <Save kind="SVG" of={name} onPress={() => save(file("svg", part), svg, SVG)} />
            <Save
              kind="PNG"
              of={name}
              onPress={() => save(file("png", part), () => toPng(svg()), "image/png")}
            />
          </Format>
        ))}
        <Format name="Data" help="the whole trace; or a row for each token listed">
          <Save
            kind="JSON"
            of="Data"
            onPress={() =>
              save(file("json"), () => exactJson(saved.answer, saved.seed, 1), "application/json")
            }
          />
          <Save
            kind="CSV"
            of="Data"
            onPress={() => save(file("csv"), () => toCsv(saved), "text/csv")}
          />
        </Format>
      </dl>
      <p role="status">{said}</p>
      <CopyRow label="Citation" rows={3} text={citationOf(saved)} />
      <CopyRow label="Citation for BibTeX" rows={4} text={bibtexOf(saved)} />
    </Dialog>
  );
}

interface FormatProps {
  readonly name: string;
  readonly help: string;
  readonly children: preact.ComponentChildren;
}

function Format({name, help, children}: FormatProps) {
  return (
    <div>
      <dt>
        {name} <span class="help">{help}</span>
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

interface SaveProps {
  readonly kind: string;
  readonly of: string;
  readonly onPress: () => void;
}

function Save({kind, of, onPress}: SaveProps) {
  return (
    <button type="button" class="quiet" aria-label={`${kind}: ${of}`} onClick={onPress}>
      {kind}
    </button>
  );
}
