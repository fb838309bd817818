import {useMemo} from "preact/hooks";

import {leadOwnTab} from "./ownTab";

/**
 * Stands in a frame that is closed off (`sandbox` without `allow-same-origin`): the browser gives
 * it no origin there, and so the server does not answer it.
 */
export function ClosedFrame() {
  const address = useMemo(() => leadOwnTab(location.hash), []);
  return (
    <div class="notice">
      <p>
        <strong>The model cannot be asked from inside this frame.</strong> The page around it keeps
        it closed off: its sandbox has no <code>allow-same-origin</code>. Open it in a tab of its
        own, by the link below or at this address:
      </p>
      <p>
        <code>{address}</code>
      </p>
    </div>
  );
}
