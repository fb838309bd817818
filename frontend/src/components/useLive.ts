import {useEffect, useReducer, useRef, useState} from "preact/hooks";

import {Live} from "../client/live";
import {FIRST, isReady, linked, type Connection, type Link} from "../domain/connection";
import {EMPTY, reduce, runningTrace, type Act, type Explorer} from "../domain/explorer";
import {onNextFrame} from "../frames";
import type {ClientFrame, CountFrame, ErrorFrame, FoundFrame, Hello, ServerFrame} from "../wire";

/** What is enough to read a trace by. */
export interface Reading {
  readonly explorer: Explorer;
  readonly dispatch: (act: Act) => void;
  readonly hello: Hello | null;
}

export interface LiveState extends Reading, Link {
  readonly count: CountFrame | null;
  readonly found: FoundFrame | null;
  /** An error that is about no run. */
  readonly stray: ErrorFrame | null;
  readonly send: (frame: ClientFrame) => boolean;
  readonly retry: () => void;
}

/** The state of the page, joined to the server by one socket. */
export function useLive(): LiveState {
  const [explorer, dispatch] = useReducer(reduce, EMPTY);
  const [link, happened] = useReducer(linked, FIRST);
  const [count, setCount] = useState<CountFrame | null>(null);
  const [found, setFound] = useState<FoundFrame | null>(null);
  const [stray, setStray] = useState<ErrorFrame | null>(null);
  const live = useRef<Live | null>(null);

  useEffect(() => {
    // Steps can arrive faster than they are drawn: what came since the last frame is drawn together.
    const pending: (Act & {type: "frame"})[] = [];
    const draw = () => pending.splice(0).forEach(dispatch);
    const drawSoon = (act: Act & {type: "frame"}) => {
      if (pending.push(act) === 1) onNextFrame(draw);
    };
    const onFrame = (frame: ServerFrame) => {
      if (frame.type === "hello") happened(frame);
      else if (frame.type === "count") setCount(frame);
      else if (frame.type === "found") setFound(frame);
      else if (frame.type !== "error" || isAboutRun(frame)) drawSoon({type: "frame", frame});
      else setStray(frame);
    };
    const onConnection = (state: Connection) => {
      happened(state);
      if (state !== "lost") return;
      draw();
      dispatch({type: "disconnected"});
    };
    const address = new URL("/ws/traces", location.href);
    address.protocol = address.protocol.replace("http", "ws");
    const opened = new Live({
      open: () => new WebSocket(address) as never,
      onFrame,
      onConnection,
    });
    live.current = opened;
    const back = () => opened.retry();
    window.addEventListener("online", back);
    return () => {
      window.removeEventListener("online", back);
      opened.close();
    };
  }, []);

  const send = (frame: ClientFrame) => live.current?.send(frame) ?? false;
  const ready = isReady(link);
  const waiting = runningTrace(explorer);
  useEffect(() => {
    if (ready && waiting?.status === "unsent" && send(waiting.start)) {
      setStray(null);
      dispatch({type: "sent", id: waiting.start.id});
    }
  }, [ready, waiting]);

  const retry = () => live.current?.retry();
  return {...link, explorer, dispatch, count, found, stray, send, retry};
}

/** Runs have ids that begin with r; counts and searches do not. */
function isAboutRun(frame: ErrorFrame): frame is ErrorFrame & {readonly id: string} {
  return frame.id?.startsWith("r") ?? false;
}
