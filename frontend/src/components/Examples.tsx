import type {Example} from "../page";

interface Props {
  readonly examples: readonly Example[];
  /** Folded away, once there is a trace to read. */
  readonly folded: boolean;
  readonly onChoose: (example: Example) => void;
}

/** Prompts to try, each a button that runs it, with a sentence of what to look for. */
export function Examples({examples, folded, onChoose}: Props) {
  const list = (
    <ul>
      {examples.map((example) => (
        <li key={example.slug}>
          <button
            type="button"
            value={example.slug}
            aria-describedby={`look-${example.slug}`}
            onClick={() => onChoose(example)}
          >
            <bdi>{example.prompt}</bdi>
          </button>
          <span id={`look-${example.slug}`}>{example.look_for}</span>
        </li>
      ))}
    </ul>
  );
  if (!folded) {
    return (
      <section class="examples" aria-labelledby="examples-title">
        <h2 id="examples-title">Or try one of these</h2>
        {list}
      </section>
    );
  }
  return (
    <details class="examples fold">
      <summary>Examples to try</summary>
      {list}
    </details>
  );
}
