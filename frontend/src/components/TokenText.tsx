import {tokenParts} from "../domain/tokens";

interface Props {
  readonly bytes: readonly number[];
  readonly special?: boolean;
}

/** A token as one isolated run of text, its stand-ins named for a screen reader. */
export function TokenText({bytes, special = false}: Props) {
  return (
    <>
      <bdi class={special ? "token special" : "token"}>
        {tokenParts(bytes).map(({text, name}) =>
          name === null ? (
            text
          ) : (
            <span class="stand-in" role="img" aria-label={name}>
              {text}
            </span>
          ),
        )}
      </bdi>
      {special && (
        <>
          {" "}
          <span class="tag">special</span>
        </>
      )}
    </>
  );
}
