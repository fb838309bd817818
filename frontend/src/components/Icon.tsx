const PATHS = {
  first: "M5 5h2v14H5zM19 5v14L8 12z",
  back: "M17 5v14L6 12z",
  play: "M7 4v16l13-8z",
  pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  forward: "M7 5v14l11-7z",
  last: "M17 5h2v14h-2zM5 5v14l11-7z",
} as const;

export function Icon({name}: {readonly name: keyof typeof PATHS}) {
  return (
    <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} fill="currentColor" />
    </svg>
  );
}
