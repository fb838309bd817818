/** One socket to the server, opened again whenever it is lost. Knows no DOM and no trace. */

import type {Connection} from "../domain/connection";
import {decode, encode, type ClientFrame, type ServerFrame} from "../wire";

/** What of WebSocket is used, so that tests can be the server. */
export interface Socket {
  onopen: (() => void) | null;
  onclose: (() => void) | null;
  onmessage: ((event: {data: unknown}) => void) | null;
  send(text: string): void;
  close(): void;
}

interface Options {
  readonly open: () => Socket;
  readonly onFrame: (frame: ServerFrame) => void;
  readonly onConnection: (connection: Connection) => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

export class Live {
  #options: Options;
  #socket: Socket | null = null;
  #isOpen = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#connect();
  }

  /** Whether the frame was sent; it is not while there is no connection. */
  send(frame: ClientFrame): boolean {
    if (!this.#isOpen) return false;
    this.#socket?.send(encode(frame));
    return true;
  }

  /** Connect now instead of after the wait. */
  retry(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#connect();
  }

  close(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    if (!socket) return;
    socket.onclose = null;
    socket.close();
  }

  #connect(): void {
    this.#timer = undefined;
    this.#options.onConnection("connecting");
    const socket = this.#options.open();
    this.#socket = socket;
    socket.onopen = () => {
      this.#isOpen = true;
      this.#failures = 0;
      this.#options.onConnection("open");
    };
    socket.onmessage = ({data}) => {
      if (typeof data === "string") this.#options.onFrame(decode(data));
    };
    socket.onclose = () => {
      this.#isOpen = false;
      this.#timer = setTimeout(() => this.#connect(), waitMs(this.#failures++));
      this.#options.onConnection("lost");
    };
  }
}

/** Twice as long after each failure, and up to a quarter more, that not all come back at once. */
function waitMs(failures: number): number {
  const wait = Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS);
  return wait * (1 + Math.random() / 4);
}
