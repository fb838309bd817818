import type {Choice} from "../domain/choice";
import {count, percent} from "../domain/format";
import type {Reshaped} from "../domain/sampling";
import type {TraceStep} from "../wire";
import {TokenText} from "./TokenText";
import {useFold} from "./useFold";

const LISTED = 10;

interface Props {
  readonly choice: Choice;
  readonly step: TraceStep;
}

/** The stages of a choice as a table: what the picture shows, and why a token was removed. */
export function ChoiceTable({isOver, ...shown}: Props & {readonly isOver: boolean}) {
  const {onToggle, isDrawn} = useFold(isOver);
  return (
    <details class="fold" onToggle={onToggle}>
      <summary>The same as a table</summary>
      {isDrawn && <Stages {...shown} />}
    </details>
  );
}

function Stages({choice, step}: Props) {
  const {selected_token_id} = step;
  const isListed = (share: Reshaped, place: number) =>
    share.token !== null && (place < LISTED || share.token.token_id === selected_token_id);
  const listed = choice.shares.filter(isListed);
  const rest = choice.shares.filter((share, place) => !isListed(share, place));
  const mass = (of: (share: Reshaped) => number) =>
    rest.reduce((total, share) => total + of(share), 0);
  return (
    <table class="plain">
      <caption>What each setting made of the probabilities, stage by stage.</caption>
      <thead>
        <tr>
          <th scope="col">Token</th>
          <th scope="col">Model</th>
          <th scope="col">After temperature</th>
          <th scope="col">In the draw</th>
        </tr>
      </thead>
      <tbody>
        {listed.map((share) => (
          <tr
            key={share.token?.token_id}
            class={share.token?.token_id === selected_token_id ? "drawn" : ""}
          >
            <th scope="row">{share.token && <TokenText bytes={share.token.bytes} />}</th>
            <td>{percent(share.raw)}</td>
            <td>{percent(share.scaled)}</td>
            <td>
              {share.removedBy === null ? percent(share.chance) : `removed by ${share.removedBy}`}
            </td>
          </tr>
        ))}
        <tr>
          <th scope="row">The other {count(mass((share) => share.count))} tokens</th>
          <td>
            {percent(
              Math.min(
                1,
                mass((share) => share.count * share.raw),
              ),
            )}
          </td>
          <td>
            {percent(
              Math.min(
                1,
                mass((share) => share.count * share.scaled),
              ),
            )}
          </td>
          <td>
            {percent(
              Math.min(
                1,
                mass((share) => share.kept * share.chance),
              ),
            )}{" "}
            ({count(mass((share) => share.kept))} kept)
          </td>
        </tr>
      </tbody>
    </table>
  );
}
