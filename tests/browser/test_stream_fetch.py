"""A page of another's making that reads a stream with fetch, chunk by chunk, in Chromium."""

from __future__ import annotations

import json
import time

import pytest

pytestmark = pytest.mark.browser

# Gives what came, in the order and the pieces in which the browser handed it out.
READ = """
async ([path, body]) => {
  const response = await fetch(path, {
    method: "POST",
    headers: {"Content-Type": "application/json", "Authorization": "Bearer any"},
    body: JSON.stringify(body),
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const pieces = [];
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    pieces.push([value, performance.now()]);
  }
  return {status: response.status, type: response.headers.get("Content-Type"), pieces};
}
"""

# Leaves after the first piece; gives what the browser then says of the reader.
LEAVE = """
async ([path, body]) => {
  const leaving = new AbortController();
  const response = await fetch(path, {
    method: "POST",
    body: JSON.stringify(body),
    signal: leaving.signal,
  });
  const reader = response.body.getReader();
  await reader.read();
  leaving.abort();
  try {
    for (;;) if ((await reader.read()).done) return "ended";
  } catch (error) {
    return error.name;
  }
}
"""

CHAT = {
    "messages": [{"role": "user", "content": "Tell me a story about a fox."}],
    "temperature": 0,
    "max_tokens": 24,
}
COMPLETION = {"prompt": "1, 2, 3, 4, 5, 6,", "temperature": 0, "max_tokens": 24}


def text_of(choice):
    return choice["text"] if "text" in choice else choice["delta"].get("content", "")


def answer_of(choice):
    return choice["text"] if "text" in choice else choice["message"]["content"]


@pytest.mark.parametrize(
    ("path", "body"), [("/v1/chat/completions", CHAT), ("/v1/completions", COMPLETION)]
)
def test_a_stream_arrives_in_the_browser_piece_by_piece(page, server, path, body):
    page.goto(server)
    read = page.evaluate(READ, [path, body | {"stream": True}])
    assert read["status"] == 200
    assert read["type"] == "text/event-stream"
    whole = "".join(piece for piece, _ in read["pieces"])
    *events, done, end = whole.split("\n\n")
    assert (done, end) == ("data: [DONE]", "")
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    said = "".join(text_of(choice) for chunk in chunks for choice in chunk["choices"])
    answer = page.request.post(f"{server}{path}", data=body).json()
    assert said == answer_of(answer["choices"][0])
    assert chunks[-1]["usage"] == answer["usage"]

    # Hardly any two came together, and so not all of them at the end.
    times = [at for _, at in read["pieces"]]
    assert len(times) > len(chunks) / 2 > 5
    assert times[0] < times[len(times) // 2] < times[-1]


def test_a_stream_that_the_page_leaves_frees_the_model(page, server):
    page.goto(server)
    long, short = COMPLETION | {"max_tokens": 200}, COMPLETION | {"max_tokens": 1}

    def post(body):
        assert page.request.post(f"{server}/v1/completions", data=body).status == 200

    begun = time.monotonic()
    post(long)
    whole = time.monotonic() - begun
    begun = time.monotonic()
    assert page.evaluate(LEAVE, ["/v1/completions", long | {"stream": True}]) == "AbortError"
    post(short)
    assert time.monotonic() - begun < 0.7 * whole
