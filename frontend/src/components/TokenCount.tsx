import {useEffect, useRef} from "preact/hooks";

import {count, plural} from "../domain/format";
import type {LiveState} from "./useLive";

const PAUSE_MS = 150;

/** How many tokens the prompt has, asked for whenever typing pauses. */
export function TokenCount({prompt, live}: {readonly prompt: string; readonly live: LiveState}) {
  const asked = useRef(0);
  const {connection, hello, send} = live;
  useEffect(() => {
    if (prompt === "" || connection !== "open" || !hello?.ready) return;
    const timer = setTimeout(() => {
      send({type: "count", id: `c${++asked.current}`, prompt});
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [prompt, connection, hello?.ready]);

  if (prompt === "" || live.count === null || connection !== "open") return null;
  const {tokens, limit} = live.count;
  return tokens > limit ? (
    <span class="over">
      {plural(tokens, "token")}: over the limit of {count(limit)}
    </span>
  ) : (
    <span>
      {plural(tokens, "token")} of at most {count(limit)}
    </span>
  );
}
