import {NewTab} from "./NewTab";

/**
 * Stands in a frame that is closed off (`sandbox` without `allow-same-origin`): the browser gives
 * it no origin there, and so the server does not answer it.
 */
export function ClosedFrame() {
  const here = new URL(`/${location.hash}`, location.href).href;
  return (
    <div class="notice">
      <p>
        <strong>The model cannot be asked from inside this frame.</strong> The page around it keeps
        it closed off (its sandbox has no <code>allow-same-origin</code>).
      </p>
      <NewTab address={() => here} />
      <p class="help">
        If nothing opens, copy this address: <code>{here}</code>
      </p>
    </div>
  );
}
