import {useState} from "preact/hooks";

/**
 * Whether what a `<details>` folds away is to be drawn.
 *
 * While tokens come, what nobody sees would be drawn anew with each of them; once the run is over
 * it is there, so that a search in the page finds it.
 */
export function useFold(isOver: boolean) {
  const [isOpen, setOpen] = useState(false);
  const onToggle = (event: {currentTarget: HTMLDetailsElement}) =>
    setOpen(event.currentTarget.open);
  return {onToggle, isDrawn: isOpen || isOver};
}
