import {jointBits, letterOf, ownText, treeOf, type Branch, type Node} from "../domain/branches";
import type {Act, Explorer} from "../domain/explorer";
import {bits, oneIn, plain, plural} from "../domain/format";
import {utf8} from "../domain/tokens";
import {TokenText} from "./TokenText";

interface Props {
  readonly explorer: Explorer;
  readonly dispatch: (act: Act) => void;
}

/** Every path that was traced from this prompt, each under the one that it left. */
export function BranchTree({explorer, dispatch}: Props) {
  return (
    <section class="tree" aria-labelledby="tree-title">
      <h3 id="tree-title">Paths from this prompt</h3>
      <p class="help">
        Each with the joint probability of its tokens: how likely the model finds exactly these, one
        after another. Longer paths are always less likely.
      </p>
      <Paths nodes={treeOf(explorer.branches)} explorer={explorer} dispatch={dispatch} />
    </section>
  );
}

function Paths({nodes, ...props}: Props & {readonly nodes: readonly Node[]}) {
  return (
    <ul>
      {nodes.map(({branch, children}) => (
        <li key={branch.id}>
          <Path branch={branch} {...props} />
          {children.length > 0 && <Paths nodes={children} {...props} />}
        </li>
      ))}
    </ul>
  );
}

function Path({branch, explorer, dispatch}: Props & {readonly branch: Branch}) {
  const {steps} = branch.trace;
  const letter = letterOf(explorer.branches.indexOf(branch));
  const isSelected = branch.id === explorer.selected;
  const isCompared = branch.id === explorer.compared;
  const joint = jointBits(steps);
  return (
    <div class="path" {...(isSelected && {"aria-current": true})}>
      <button
        type="button"
        class="quiet read"
        aria-pressed={isSelected}
        onClick={() => dispatch({type: "select", id: branch.id})}
      >
        <b>{letter}</b>
        <span class="own">
          {branch.parent !== null && "… "}
          <TokenText bytes={utf8(ownText(branch))} />
        </span>
      </button>
      <p class="joint">
        {branch.parent === null ? madeWith(branch) : `leaves at step ${branch.fork + 1}`} ·{" "}
        {plural(steps.length, "token")} · joint probability {oneIn(joint)} ({bits(joint)})
      </p>
      {!isSelected && (
        <button
          type="button"
          class="quiet"
          aria-pressed={isCompared}
          onClick={() => dispatch({type: "compare", id: isCompared ? null : branch.id})}
        >
          Compare<span class="unseen"> {letter} with the path that is read</span>
        </button>
      )}
    </div>
  );
}

function madeWith({trace}: Branch): string {
  const {temperature, top_p, seed} = trace.start.settings;
  if (temperature === 0) return "greedy";
  return `temperature ${plain(temperature)}, top-p ${plain(top_p)}, ${seed === null ? "no seed" : `seed ${seed}`}`;
}
