let runs = 0;

/** An id that no other run of this page has. */
export function nextRunId(): string {
  return `r${++runs}`;
}
