import {useEffect, useState} from "preact/hooks";

/** Whether the page fills the screen, and what changes that; null where the browser cannot. */
export function useFullscreen(): {readonly full: boolean; readonly toggle: () => void} | null {
  const [full, setFull] = useState(document.fullscreenElement !== null);
  useEffect(() => {
    const changed = () => setFull(document.fullscreenElement !== null);
    document.addEventListener("fullscreenchange", changed);
    return () => document.removeEventListener("fullscreenchange", changed);
  }, []);
  if (!document.fullscreenEnabled) return null;
  // Refused, by a policy or without a touch: the page stays as it is.
  const stay = () => undefined;
  const toggle = () => {
    if (full) document.exitFullscreen().catch(stay);
    else document.documentElement.requestFullscreen().catch(stay);
  };
  return {full, toggle};
}
