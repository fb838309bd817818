/** What the page knows of its connection, and how each turn of events changes it. */

import type {Hello} from "../wire";

export type Connection = "connecting" | "open" | "lost";

export interface Link {
  readonly connection: Connection;
  /** What the server said of itself; null until it has, and once the connection is lost. */
  readonly hello: Hello | null;
  /** Whether the server was ever heard: a first connection is not "lost". */
  readonly met: boolean;
  /**
   * Whether to say that there is no connection: from a loss until the server is heard again. A
   * socket that opens and breaks at once changes nothing, or the page would jump with each try.
   */
  readonly isMissing: boolean;
}

export const FIRST: Link = {connection: "connecting", hello: null, met: false, isMissing: false};

export function linked(link: Link, event: Connection | Hello): Link {
  if (typeof event !== "string") return {...link, hello: event, met: true, isMissing: false};
  if (event !== "lost") return {...link, connection: event};
  return {...link, connection: event, hello: null, isMissing: true};
}

/** Whether a run would be taken now. */
export function isReady({connection, hello}: Link): boolean {
  return connection === "open" && hello?.ready === true;
}
