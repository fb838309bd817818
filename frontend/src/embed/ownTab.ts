/** The link from a frame to the page itself, in a tab of its own. */

/** Let the link that the server wrote carry what the frame holds now. */
export function leadOwnTab(fragment: string): string {
  const link = document.querySelector<HTMLAnchorElement>(".source a");
  const address = new URL(link?.href ?? "/", location.href);
  address.hash = fragment;
  if (link) link.href = address.href;
  return address.href;
}
