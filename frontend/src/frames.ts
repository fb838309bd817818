/** Frames of the screen. */

/** Longer than a frame; a page in the background has none, and goes on all the same. */
const WITHOUT_FRAMES_MS = 100;

/** Call once, with the next frame, or soon where none comes. */
export function onNextFrame(callback: () => void): void {
  const call = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    callback();
  };
  const frame = requestAnimationFrame(call);
  const timer = setTimeout(call, WITHOUT_FRAMES_MS);
}
