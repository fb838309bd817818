import type {ReadLink} from "./link";

const SHOWN = 5;

/** What a link said that was left out, and what it fixes. */
export function LinkNotice({link}: {readonly link: ReadLink | null}) {
  if (!link) return null;
  const {dropped, options} = link;
  const more = dropped.length - SHOWN;
  return (
    <>
      {dropped.length > 0 && (
        <div class="notice" role="status">
          <p>
            <strong>Not all of the link could be used.</strong> The rest of it holds.
          </p>
          <ul>
            {dropped.slice(0, SHOWN).map((why) => (
              <li key={why}>
                <bdi>{why}</bdi>
              </li>
            ))}
            {more > 0 && <li>And {more} more.</li>}
          </ul>
        </div>
      )}
      {options.lock.length > 0 && (
        <p class="help">The link fixes the {options.lock.join(" and the ")}.</p>
      )}
    </>
  );
}
