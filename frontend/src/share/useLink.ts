import {useEffect, useLayoutEffect, useRef, useState} from "preact/hooks";

import type {Field} from "../domain/fields";
import {PLAIN, readLink, type ReadLink} from "./link";

/** What the page's address says, read again whenever it changes; null where it says nothing. */
export function useLink(fields: readonly Field[]): ReadLink | null {
  const [link, setLink] = useState(() => readLink(location.hash, fields));
  useEffect(() => {
    // A fragment that is only a place to scroll to changes nothing.
    const changed = () => setLink((before) => readLink(location.hash, fields) ?? before);
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  const {theme, hide} = link?.options ?? PLAIN;
  // What the server wrote holds where the link asks for nothing.
  const given = useRef(document.documentElement.dataset.theme);
  useLayoutEffect(() => {
    const {dataset} = document.documentElement;
    const asked = theme === "auto" ? given.current : theme;
    if (asked === undefined) delete dataset.theme;
    else dataset.theme = asked;
    dataset.hide = hide.join(" ");
  }, [theme, hide]);
  return link;
}
