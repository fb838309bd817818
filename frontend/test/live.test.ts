import {afterEach, beforeEach, describe, expect, it, vi} from "vitest";

import {Live, type Socket} from "../src/client/live";
import type {Connection} from "../src/domain/connection";
import type {ServerFrame} from "../src/wire";

/** A server at the other end, that does what the test says. */
class FakeSocket implements Socket {
  onopen: (() => void) | null = null;
  onclose: (() => void) | null = null;
  onmessage: ((event: {data: unknown}) => void) | null = null;
  readonly sent: string[] = [];
  closed = false;

  send(text: string) {
    this.sent.push(text);
  }

  close() {
    this.closed = true;
    this.onclose?.();
  }
}

const SECOND = 1000;

describe("the socket", () => {
  let sockets: FakeSocket[];
  let connections: Connection[];
  let frames: ServerFrame[];
  let live: Live;
  const newest = () => sockets.at(-1) ?? expect.fail("no socket");

  beforeEach(() => {
    vi.useFakeTimers();
    [sockets, connections, frames] = [[], [], []];
    live = new Live({
      open: () => {
        const socket = new FakeSocket();
        sockets.push(socket);
        return socket;
      },
      onFrame: (frame) => frames.push(frame),
      onConnection: (connection) => connections.push(connection),
    });
  });
  afterEach(() => vi.useRealTimers());

  it("sends nothing before it is open, and says so", () => {
    expect(live.send({type: "stop", id: "r1"})).toBe(false);
    newest().onopen?.();
    expect(live.send({type: "stop", id: "r1"})).toBe(true);
    expect(newest().sent).toEqual(['{"type":"stop","id":"r1"}']);
  });

  it("hands on frames", () => {
    newest().onmessage?.({data: '{"type":"stopped","id":"r1"}'});
    expect(frames).toEqual([{type: "stopped", id: "r1"}]);
  });

  it("connects again by itself after it was lost", () => {
    newest().onopen?.();
    newest().onclose?.();
    expect(connections).toEqual(["connecting", "open", "lost"]);
    vi.advanceTimersByTime(SECOND);
    expect(sockets).toHaveLength(2);
    newest().onopen?.();
    expect(connections.at(-1)).toBe("open");
  });

  it("waits longer after each failure, and never longer than 12.5 s", () => {
    newest().onclose?.();
    vi.advanceTimersByTime(SECOND);
    newest().onclose?.();
    vi.advanceTimersByTime(0.9 * SECOND);
    expect(sockets).toHaveLength(2);
    for (let failures = 2; failures < 9; failures++) {
      vi.advanceTimersByTime(12.5 * SECOND);
      newest().onclose?.();
      expect(sockets).toHaveLength(failures + 1);
    }
  });

  it("does not wait when it is told to try now", () => {
    newest().onclose?.();
    live.retry();
    expect(sockets).toHaveLength(2);
    live.retry();
    expect(sockets).toHaveLength(2);
  });

  it("stays closed once it was closed", () => {
    newest().onopen?.();
    live.close();
    vi.advanceTimersByTime(60 * SECOND);
    expect(newest().closed).toBe(true);
    expect(sockets).toHaveLength(1);
  });
});
