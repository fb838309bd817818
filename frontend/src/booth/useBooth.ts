import {useEffect, useMemo, useReducer, useRef} from "preact/hooks";

import {Live} from "../client/live";
import {FIRST, isReady, linked, type Connection, type Link as Known} from "../domain/connection";
import type {Hello, ServerFrame} from "../wire";
import {alarm} from "./alarm";
import {atStart, boothWith, openRun, type Act, type Booth, type Link} from "./machine";
import type {BoothPage} from "./page";

/** A page that finds another model than it was made for loads again, but not in a circle. */
const YOUNG_MS = 60_000;

export interface BoothState {
  readonly booth: Booth;
  readonly act: (act: Act) => void;
}

/** The booth's state, joined to the server by one socket, to the clock and to the screen. */
export function useBooth(page: BoothPage): BoothState {
  const reduce = useMemo(() => boothWith(page.recordings), []);
  const [booth, dispatch] = useReducer(reduce, null, () =>
    atStart("connecting", performance.now(), page.recordings),
  );
  const act = (what: Act) => dispatch({...what, now: performance.now()});
  const [link, happened] = useReducer(linked, FIRST);
  const live = useRef<Live | null>(null);

  useEffect(() => {
    const opened = new Live({
      open: () => new WebSocket(socketAddress()) as never,
      onFrame: (frame: ServerFrame) => {
        if (frame.type === "hello") happened(frame);
        else if (frame.type !== "count" && frame.type !== "found") act({type: "frame", frame});
      },
      onConnection: (state: Connection) => happened(state),
    });
    live.current = opened;
    const back = () => opened.retry();
    window.addEventListener("online", back);
    return () => {
      window.removeEventListener("online", back);
      opened.close();
    };
  }, []);

  useEffect(() => act({type: "link", link: linkOf(link)}), [link]);

  useEffect(() => {
    if (booth.due === null) return;
    return alarm(booth.due, () => act({type: "time"}));
  }, [booth.due]);

  useEffect(() => watchTouches(act), []);

  // A run is sent once there is a model for it, and stopped when nobody looks at it any more.
  const run = openRun(booth);
  const id = run?.start.id ?? null;
  useEffect(() => {
    if (run && !run.sent && booth.link === "ready" && live.current?.send(run.start)) {
      act({type: "sent", id: run.start.id});
    }
  }, [id, booth.link]);
  useEffect(() => {
    if (id === null) return;
    return () => void live.current?.send({type: "stop", id});
  }, [id]);

  const rests = booth.phase === "choosing" || booth.phase === "idle";
  useEffect(() => {
    if (rests && isAnotherModel(page, link.hello) && performance.now() > YOUNG_MS) {
      location.reload();
    }
  }, [rests, link.hello]);

  return {booth, act};
}

function socketAddress(): URL {
  const address = new URL("/ws/traces", location.href);
  address.protocol = address.protocol.replace("http", "ws");
  return address;
}

function linkOf(known: Known): Link {
  if (known.isMissing) return "lost";
  if (isReady(known)) return "ready";
  return known.hello ? "loading" : "connecting";
}

function isAnotherModel(page: BoothPage, hello: Hello | null): boolean {
  if (!hello?.model) return false;
  const {alias, revision} = hello.model;
  return alias !== page.model?.alias || revision !== page.model.revision;
}

/** Hear that somebody is there; gives what ends that. */
function watchTouches(act: (act: Act) => void): () => void {
  const touch = () => act({type: "touch"});
  const types = ["pointerdown", "keydown", "wheel"] as const;
  for (const type of types) window.addEventListener(type, touch, {passive: true});
  return () => {
    for (const type of types) window.removeEventListener(type, touch);
  };
}
