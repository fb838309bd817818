import {useMemo, useState} from "preact/hooks";

import {added, drawMany} from "../domain/draws";
import {count, percent, plural} from "../domain/format";
import {LINEAR} from "../domain/scales";
import {reshape, sharesOf, type Reshaping} from "../domain/sampling";
import type {Lab as Frozen, Settings, TraceStep} from "../wire";
import {LabSliders} from "./LabSliders";
import {LabTable, labRows} from "./LabTable";
import {useFold} from "./useFold";

interface Props {
  /** Whether its run is over. */
  readonly isOver: boolean;
  readonly lab: Frozen;
  readonly step: TraceStep;
  readonly settings: Settings;
}

/** One step held still: what other settings would make of it, at once and in this browser. */
export function Lab(props: Props) {
  const {onToggle, isDrawn} = useFold(props.isOver);
  return (
    <details class="lab fold" onToggle={onToggle}>
      <summary>
        <h3>Sampling lab: try other settings on step {props.step.step + 1}</h3>
      </summary>
      {isDrawn && <Bench {...props} />}
    </details>
  );
}

function Bench({lab, settings}: Props) {
  const own: Reshaping = {
    temperature: settings.temperature,
    topK: null,
    topP: settings.top_p,
    minP: 0,
  };
  const [tried, setTried] = useState<Reshaping>(own);
  const shares = useMemo(() => reshape(sharesOf(lab), tried), [lab, tried]);
  const rows = useMemo(() => labRows(shares), [shares]);
  const [drawn, setDrawn] = useState<{rows: typeof rows; hits: readonly number[]} | null>(null);
  const hits = drawn?.rows === rows ? drawn.hits : rows.map(() => 0);
  const draws = hits.reduce((sum, value) => sum + value, 0);
  const draw = (times: number) => {
    const chances = rows.map((row) => row.chance);
    setDrawn({rows, hits: added(hits, drawMany(chances, times, Math.random))});
  };
  const kept = shares.reduce((sum, share) => sum + share.kept, 0);
  return (
    <>
      <p class="help">
        The model is not asked again: it said once what is probable here, and the settings only
        reshape that. They apply in this order: temperature, top-k, top-p, min-p.
      </p>
      <div class="lab-grid">
        <LabSliders tried={tried} onChange={setTried} onReset={() => setTried(own)} />
        <div>
          <p class="lab-kept">
            <strong>{plural(kept, "token")}</strong> in the draw
            {shares[0] && <>, the first with {percent(shares[0].chance)}</>}.
          </p>
          <LabTable rows={rows} hits={hits} draws={draws} axis={LINEAR} />
          <div class="draws">
            <span>Draw</span>
            {[1, 100, 1000].map((times) => (
              <button key={times} type="button" class="quiet" onClick={() => draw(times)}>
                {count(times)} <span class="unseen">times</span>
              </button>
            ))}
            <button
              type="button"
              class="quiet"
              aria-disabled={draws === 0}
              onClick={() => setDrawn(null)}
            >
              Clear
            </button>
            <span role="status">{draws > 0 && `${plural(draws, "draw")} so far`}</span>
          </div>
        </div>
      </div>
    </>
  );
}
