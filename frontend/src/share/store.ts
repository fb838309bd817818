/** Stores a trace on the server, at its author's wish; the page keeps what comes back. */

import {plural} from "../domain/format";

/** The answer of POST /v1/shared-traces. */
export interface SharedLinks {
  readonly url: string;
  /** Whoever has it can remove the trace; the server shows it once. */
  readonly delete_url: string;
  readonly expires_at: string;
}

export type Sharing =
  | {readonly is: "shared"; readonly links: SharedLinks}
  /** Why it was not stored, and what to do, in plain words. */
  | {readonly is: "refused"; readonly why: string};

/** Sends the trace, as JSON, with its receipt. Never rejects. */
export async function share(
  trace: string,
  receipt: string,
  send: typeof fetch = (...asked) => fetch(...asked),
): Promise<Sharing> {
  try {
    const answer = await send("/v1/shared-traces", {
      method: "POST",
      headers: {"Content-Type": "application/json"},
      body: `{"trace":${trace},"receipt":${JSON.stringify(receipt)}}`,
    });
    const body: unknown = await answer.json();
    if (answer.status === 201) return {is: "shared", links: body as SharedLinks};
    return {is: "refused", why: wordsFor(codeOf(body), answer.headers.get("Retry-After"))};
  } catch {
    // No answer, or none of this server's own: something between us gave it.
    return {is: "refused", why: "The server could not be reached. Try again when it is there."};
  }
}

function codeOf(body: unknown): string {
  return (body as {error?: {code?: string}} | null)?.error?.code ?? "";
}

function wordsFor(code: string, retryAfter: string | null): string {
  const seconds = Number(retryAfter ?? "");
  switch (code) {
    case "rate_limited":
    case "busy":
      return `You asked this server for much in one minute. Try again ${
        seconds > 0 ? `in ${plural(seconds, "second")}` : "in a minute"
      }.`;
    case "payload_too_large":
      return "The trace is larger than this server stores. Save it as a file instead.";
    case "sharing_off":
      return "Whoever runs this server has turned sharing off. Save the trace as a file instead.";
    case "invalid_receipt":
      return "The server does not know this trace as its own any more. Run it again, then share.";
    case "origin_not_allowed":
      return "This page was opened at an address that may not store traces.";
    default:
      return "The server could not store it. Try again; if it fails again, save a file instead.";
  }
}
