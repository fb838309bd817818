import {describe, expect, it} from "vitest";

import {heightMessages} from "../src/embed/height";
import {iframeOf} from "../src/embed/snippet";
import {share} from "../src/share/store";

const LINKS = {url: "http://a/t/x", delete_url: "http://a/t/x/delete#token=y", expires_at: "z"};

function answering(status: number, body: unknown, headers: Record<string, string> = {}) {
  return () => Promise.resolve(Response.json(body, {status, headers}));
}

describe("sharing", () => {
  it("sends the trace with its receipt and gives the links", async () => {
    let sent: [unknown, RequestInit | undefined] | undefined;
    const send = (address: unknown, request?: RequestInit) => {
      sent = [address, request];
      return answering(201, LINKS)();
    };
    const shared = await share('{"seed":9223372036854775807}', 'a"b', send as typeof fetch);
    expect(shared).toEqual({is: "shared", links: LINKS});
    expect(sent?.[0]).toBe("/v1/shared-traces");
    expect(sent?.[1]?.body).toBe('{"trace":{"seed":9223372036854775807},"receipt":"a\\"b"}');
  });

  it.each([
    ["rate_limited", 429, {"Retry-After": "1"}, "Try again in 1 second."],
    ["rate_limited", 429, {}, "Try again in a minute."],
    ["payload_too_large", 413, {}, "larger than this server stores"],
    ["sharing_off", 403, {}, "turned sharing off"],
    ["invalid_receipt", 422, {}, "Run it again, then share."],
    ["origin_not_allowed", 403, {}, "may not store traces"],
    ["internal_error", 500, {}, "save a file instead"],
  ])("says %s in plain words", async (code, status, headers, words) => {
    const body = {error: {code, message: "m"}};
    const refused = await share("{}", "r", answering(status, body, headers as Record<string, string>));
    expect(refused).toMatchObject({is: "refused", why: expect.stringContaining(words)});
    expect(JSON.stringify(refused)).not.toContain(code);
  }); // prettier-ignore

  it.each([
    ["no answer", () => Promise.reject(new TypeError("Failed to fetch"))],
    ["a page that is not ours", () => Promise.resolve(new Response("<html>", {status: 502}))],
    ["nothing", () => Promise.resolve(new Response(null, {status: 204}))],
  ])("says that the server was not reached where there is %s", async (_, send) => {
    const refused = await share("{}", "r", send);
    expect(refused).toMatchObject({is: "refused", why: expect.stringContaining("not be reached")});
  });
});

describe("a frame", () => {
  it("is one element whatever its address and title say", () => {
    const html = iframeOf('http://a/embed#prompt="><script>&run=1', "“a” & <b> \u202e");
    expect(html).toBe(
      '<iframe src="http://a/embed#prompt=&quot;&gt;&lt;script&gt;&amp;run=1" ' +
        'title="“a” &amp; &lt;b&gt; ⟨U+202E⟩" width="100%" height="640" loading="lazy" ' +
        'style="border:0"></iframe>',
    );
  });

  it("tells its height in our words and in Canvas's", () => {
    expect(heightMessages(480)).toEqual([
      {type: "token-trace:height", height: 480},
      {subject: "lti.frameResize", height: 480},
    ]);
  });
});
