/** Tells the page around us how high our content is, that its frame can fit. */

/** Ours, and the one that Canvas listens for. */
export function heightMessages(height: number): readonly object[] {
  return [
    {type: "token-trace:height", height},
    {subject: "lti.frameResize", height},
  ];
}

/** What of the window is used, so that tests can be the page around. */
interface Framed {
  readonly parent: {postMessage(message: object, targetOrigin: string): void};
}

/**
 * Post the height of an element now and whenever it changes. Nothing is ever listened for.
 *
 * To any origin ("*"): we do not know who frames us, and a height is nobody's secret.
 */
export function announceHeight(element: Element, framed: Framed): () => void {
  if (framed.parent === (framed as unknown)) return () => undefined;
  let last = 0;
  const observer = new ResizeObserver(() => {
    const height = Math.ceil(element.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    for (const message of heightMessages(height)) framed.parent.postMessage(message, "*");
  });
  observer.observe(element);
  return () => observer.disconnect();
}
