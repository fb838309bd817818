/** From a frame to the page itself, in a tab of its own, with what is in the frame now. */
export function NewTab({address}: {readonly address: () => string}) {
  return (
    <p class="new-tab">
      <a class="brand" href={address()} target="_blank" rel="noopener">
        Token Trace: open in a new tab
      </a>
    </p>
  );
}
