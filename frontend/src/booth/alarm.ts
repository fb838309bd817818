/** A timer for a time on the clock, which never rings before it. */

export interface Clock {
  /** Milliseconds, fractions included. */
  readonly now: () => number;
  readonly after: (ms: number, then: () => void) => number;
  readonly cancel: (timer: number) => void;
}

const BROWSER: Clock = {
  now: () => performance.now(),
  after: (ms, then) => window.setTimeout(then, ms),
  cancel: (timer) => window.clearTimeout(timer),
};

/**
 * Ring once, when the clock has come to `due`; gives what calls that off.
 *
 * A browser drops fractions of a delay, so that its timer may end before the time: one that rang
 * then would be heard by nobody, and the booth would stand still.
 */
export function alarm(due: number, ring: () => void, clock: Clock = BROWSER): () => void {
  let timer: number;
  const wait = () => {
    const left = due - clock.now();
    if (left > 0) timer = clock.after(Math.ceil(left), wait);
    else ring();
  };
  timer = clock.after(Math.max(0, Math.ceil(due - clock.now())), wait);
  return () => clock.cancel(timer);
}
