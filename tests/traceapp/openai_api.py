"""Calling the OpenAI endpoints, and holding every answer to OpenAI's published schemas."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
from django.test import AsyncClient

PUBLISHED = Path(__file__).resolve().parents[1] / "data" / "openai-schemas.json"
COMPLETIONS = "/v1/completions"
CHAT = "/v1/chat/completions"


class Api:
    """A client of the endpoints. What it returns was valid by OpenAI's schemas."""

    def __init__(self) -> None:
        self._client = AsyncClient()

    async def send(self, path: str, body: Any, **headers: Any) -> Any:
        """The response to a body, as JSON unless it is text already."""
        text = body if isinstance(body, str) else json.dumps(body)
        return await self._client.post(path, text, content_type="application/json", **headers)

    async def ask(self, path: str = COMPLETIONS, **body: Any) -> Any:
        """The answer to a request that is not streamed."""
        response = await self.send(path, body)
        assert response.status_code == 200, response.content
        assert response["Content-Type"] == "application/json"
        answer = strict(response.content)
        check(answer, "CreateCompletionResponse" if path == COMPLETIONS else CHAT_ANSWER)
        return answer

    async def events(self, path: str = COMPLETIONS, **body: Any) -> list[Any]:
        """The events of a stream, [DONE] checked and left out."""
        response = await self.send(path, body | {"stream": True})
        assert response.status_code == 200, response.content
        assert response["Content-Type"] == "text/event-stream"
        assert response["X-Accel-Buffering"] == "no"
        assert response["Cache-Control"] == "no-cache"
        sent = b"".join([part async for part in response.streaming_content])
        *events, done, rest = sent.split(b"\n\n")
        assert (done, rest) == (b"data: [DONE]", b"")
        assert all(event.startswith(b"data: ") for event in events)
        return [strict(event.removeprefix(b"data: ")) for event in events]

    async def chunks(self, path: str = COMPLETIONS, **body: Any) -> list[Any]:
        """The chunks of a stream that came to its end: the last is the usage."""
        chunks = await self.events(path, **body)
        for chunk in chunks:
            check(chunk, "CreateCompletionResponse" if path == COMPLETIONS else CHAT_CHUNK)
        assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in chunks}) == 1
        assert [chunk["usage"] for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
        assert chunks[-1]["choices"] == []
        assert chunks[-1]["usage"] is not None
        return chunks

    async def refusal(self, status: int, path: str = COMPLETIONS, **body: Any) -> Any:
        """The `error` of an answer that must have this status."""
        return refused(await self.send(path, body), status)


CHAT_ANSWER = "CreateChatCompletionResponse"
CHAT_CHUNK = "CreateChatCompletionStreamResponse"


def refused(response: Any, status: int) -> Any:
    """The `error` of a refusal, whose whole body is checked."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/json"
    body = strict(response.content)
    check(body, "ErrorResponse")
    if status == 422:
        assert 1 <= len(body["detail"]) <= 10
        assert all(set(problem) == {"loc", "msg", "type"} for problem in body["detail"])
    else:
        assert body["object"] == "error"
        assert body["message"] == body["error"]["message"]
    return body["error"]


def joined(chunks: list[Any]) -> dict[int, str]:
    """The text of each choice of a completions stream."""
    texts: dict[int, str] = {}
    for chunk in chunks:
        for choice in chunk["choices"]:
            texts[choice["index"]] = texts.get(choice["index"], "") + choice["text"]
    return texts


def put_together(chunks: list[Any]) -> list[Any]:
    """The choices of a chat's stream, each as the answer would have it, but for calls' ids.

    As OpenAI's client does it: text is appended to text, whatever its field.
    """
    choices: dict[int, Any] = {}
    for chunk in chunks:
        for part in chunk["choices"]:
            empty = {"index": part["index"], "message": {"content": None}}
            choice = choices.setdefault(part["index"], empty)
            choice["finish_reason"] = part["finish_reason"]
            if part["logprobs"] is None:
                choice["logprobs"] = None
            else:
                entries = choice.setdefault("logprobs", {"content": [], "refusal": None})
                entries["content"] += part["logprobs"]["content"]
            _append(choice["message"], part["delta"])
    return [choices[index] for index in sorted(choices)]


def _append(message: Any, delta: Any) -> None:
    for name, value in delta.items():
        if name == "tool_calls":
            for part in value:
                calls = message.setdefault("tool_calls", [])
                if part["index"] == len(calls):
                    assert part["id"].startswith("call_")
                    calls.append({"type": part["type"], "function": dict(part["function"])})
                else:
                    assert part.keys() == {"index", "function"}
                    calls[part["index"]]["function"]["arguments"] += part["function"]["arguments"]
        elif value is not None:
            message[name] = (message.get(name) or "") + value


def strict(text: bytes) -> Any:
    """JSON to the letter: no NaN, no Infinity."""
    return json.loads(text, parse_constant=lambda name: 1 / 0)


def check(body: Any, schema: str) -> None:
    """Fail where a body is not valid by one of the published schemas."""
    _validator(schema).validate(body)


@cache
def _validator(schema: str) -> Any:
    """The schema, with null where our streams and prompts have one and the document does not."""
    published = json.loads(PUBLISHED.read_text())
    components = _with_null(published["components"])
    choice = components["schemas"]["CreateCompletionResponse"]["properties"]
    choice["usage"] = {"anyOf": [choice["usage"], {"type": "null"}]}
    item = choice["choices"]["items"]["properties"]
    item["finish_reason"]["enum"].append(None)
    item["finish_reason"]["type"] = ["string", "null"]
    lists = item["logprobs"]["anyOf"][0]["properties"]
    for name in ("token_logprobs", "top_logprobs"):
        lists[name]["items"] = {"anyOf": [lists[name]["items"], {"type": "null"}]}
    return jsonschema_rs.validator_for(
        {"$ref": f"#/components/schemas/{schema}", "components": components}
    )


def _with_null(node: Any) -> Any:
    """OpenAPI 3.0's `nullable` as JSON Schema says it."""
    if isinstance(node, list):
        return [_with_null(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    schema = {key: _with_null(value) for key, value in node.items() if key != "nullable"}
    if node.get("nullable") is not True:
        return schema
    if "enum" in schema:
        schema["enum"] = [*schema["enum"], None]
    return {"anyOf": [schema, {"type": "null"}]}
