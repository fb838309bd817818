import {tokenParts, tokenSpoken} from "../domain/tokens";

interface Props {
  readonly bytes: readonly number[];
  readonly special?: boolean;
}

/**
 * A token as one isolated run of text.
 *
 * One with stand-ins is named as a whole: names of its own parts would run into the text beside
 * them, "space" and "the" into "spacethe".
 */
export function TokenText({bytes, special = false}: Props) {
  const parts = tokenParts(bytes);
  const named = parts.some(({name}) => name !== null);
  return (
    <>
      <bdi
        class={special ? "token special" : "token"}
        {...(named && {role: "img", "aria-label": tokenSpoken(bytes)})}
      >
        {parts.map(({text, name}) => (name === null ? text : <span class="stand-in">{text}</span>))}
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
