import {bits, count, percent} from "../domain/format";
import {hex} from "../domain/tokens";
import {isOn, type Trace} from "../domain/trace";
import {TokenText} from "./TokenText";
import {useFold} from "./useFold";

/** What the model read: the tokens of the prompt, measured if that was asked for. */
export function PromptTable({trace}: {readonly trace: Trace}) {
  const {onToggle, isDrawn} = useFold(!isOn(trace));
  return (
    <details class="fold" onToggle={onToggle}>
      <summary>The tokens of the prompt as a table</summary>
      {isDrawn && <Tokens trace={trace} />}
    </details>
  );
}

function Tokens({trace: {promptTokens, promptScores}}: {readonly trace: Trace}) {
  const measured = promptScores.length > 0;
  return (
    <table class="plain">
      <caption>
        What the model reads.{" "}
        {measured
          ? "The first token has no probability: nothing comes before it."
          : "Check “Measure the prompt too” and run again to see how probable each was."}
      </caption>
      <thead>
        <tr>
          <th scope="col">Token</th>
          <th scope="col">Id</th>
          <th scope="col">Bytes</th>
          {measured && (
            <>
              <th scope="col">Probability</th>
              <th scope="col">Rank</th>
              <th scope="col">Surprisal</th>
              <th scope="col">Entropy</th>
            </>
          )}
        </tr>
      </thead>
      <tbody>
        {promptTokens.map(({token_id, bytes, special}, index) => {
          const score = promptScores[index];
          return (
            <tr key={index}>
              <th scope="row">
                <TokenText bytes={bytes} special={special} />
              </th>
              <td>{token_id}</td>
              <td class="bytes">{hex(bytes)}</td>
              {measured && (
                <>
                  <td>{score ? percent(score.probability) : "–"}</td>
                  <td>{score ? count(score.rank + 1) : "–"}</td>
                  <td>{score ? bits(score.surprisal_bits) : "–"}</td>
                  <td>{score ? bits(score.entropy_bits) : "–"}</td>
                </>
              )}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
