/** Hands a file to the visitor. */

export function download(name: string, content: string | Blob, type: string): void {
  const blob = typeof content === "string" ? new Blob([content], {type}) : content;
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads it after this turn; a minute is more than it needs.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
