import {
  jointBits,
  letterOf,
  MOST_PATHS,
  piecesOf,
  treeOf,
  type Branch,
  type Node,
} from "../domain/branches";
import type {Act, Explorer} from "../domain/explorer";
import {bits, oneIn, plain, plural} from "../domain/format";
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
        after another. Each further token can only lower it, so compare paths of one length.
      </p>
      {explorer.branches.length >= MOST_PATHS && (
        <p class="notice" id="tree-full" tabIndex={-1}>
          The tree is full: it holds {MOST_PATHS} paths, and no other token is followed from here.
          Run begins an empty one.
        </p>
      )}
      <Paths nodes={treeOf(explorer.branches)} explorer={explorer} dispatch={dispatch} />
    </section>
  );
}

function Paths({nodes, ...props}: Props & {readonly nodes: readonly Node[]}) {
  return (
    <ul>
      {nodes.map((node) => (
        <li key={node.branch.id}>
          <Path node={node} {...props} />
          {node.children.length > 0 && <Paths nodes={node.children} {...props} />}
        </li>
      ))}
    </ul>
  );
}

function Path({node, explorer, dispatch}: Props & {readonly node: Node}) {
  const {branch, leaves} = node;
  const {steps} = branch.trace;
  const isTop = branch.parent === null;
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
        <b>{letter}</b>{" "}
        <span class="own">
          {!isTop && "… "}
          {piecesOf(steps.slice(leaves)).map(({bytes, special}) => (
            <TokenText bytes={bytes} special={special} />
          ))}
        </span>
      </button>
      <p class="joint">
        {isTop ? madeWith(branch) : leaving(node)} · {plural(steps.length, "token")} · joint
        probability {oneIn(joint)} ({bits(joint)})
      </p>
      {!isSelected && (
        <button
          type="button"
          class="quiet"
          aria-pressed={isCompared}
          onClick={() => dispatch({type: "compare", id: isCompared ? null : branch.id})}
        >
          Compare <span class="unseen">{letter} with the path that is read</span>
        </button>
      )}
    </div>
  );
}

function leaving({branch, leaves}: Node): string {
  return leaves < branch.trace.steps.length
    ? `leaves at step ${leaves + 1}`
    : "the same tokens so far";
}

function madeWith({trace}: Branch): string {
  const {temperature, top_p, seed} = trace.start.settings;
  if (temperature === 0) return "greedy";
  return `temperature ${plain(temperature)}, top-p ${plain(top_p)}, ${seed === null ? "no seed" : `seed ${seed}`}`;
}
