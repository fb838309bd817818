"""Servers on this machine that answer as the hub and the Python package index do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from inference.weights.files import git_blob_sha1_of, sha256_of


@dataclass(frozen=True)
class Answer:
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class StandIn:
    address: str
    answers: dict[str, Answer]  # by path; anything else is 404
    requests: list[str]  # what was asked for, in order


@contextmanager
def serving(answers: dict[str, Answer]) -> Iterator[StandIn]:
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        headers: Message

        def do_HEAD(self) -> None:
            self.answer(with_body=False)

        def do_GET(self) -> None:
            self.answer(with_body=True)

        def answer(self, *, with_body: bool) -> None:
            path = urlsplit(self.path).path
            requests.append(f"{self.command} {path}")
            found = answers.get(path)
            body = found.body if found else b'{"error": "nothing here"}'
            self.send_response(200 if found else 404)
            for name, value in (found.headers if found else {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield StandIn(f"http://127.0.0.1:{server.server_address[1]}", answers, requests)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def hub_answers(repository: str, revision: str, folder: Path) -> dict[str, Answer]:
    """What the hub says of a repository that holds the folder's files, weights in LFS."""
    answers, tree, siblings = {}, [], []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name, size = path.relative_to(folder).as_posix(), path.stat().st_size
        entry: dict[str, object] = {"type": "file", "path": name, "size": size}
        entry["oid"] = etag = git_blob_sha1_of(path)
        headers = {"X-Repo-Commit": revision}
        if path.suffix in {".safetensors", ".bin"}:
            etag = sha256_of(path)
            entry["lfs"] = {"oid": etag, "size": size, "pointerSize": 130}
            headers |= {"X-Linked-Etag": f'"{etag}"', "X-Linked-Size": str(size)}
        headers["ETag"] = f'"{etag}"'
        tree.append(entry)
        siblings.append({"rfilename": name, "size": size})
        answers[f"/{repository}/resolve/{revision}/{name}"] = Answer(path.read_bytes(), headers)
    info = {"id": repository, "sha": revision, "siblings": siblings}
    for kind, said in {"tree": tree, "revision": info}.items():
        address = f"/api/models/{repository}/{kind}/{revision}"
        answers[address] = Answer(json.dumps(said).encode(), {"Content-Type": "application/json"})
    return answers


def index_answers(wheel: Path) -> dict[str, Answer]:
    """What a package index says that holds this one wheel."""
    name = wheel.name.partition("-")[0].replace("_", "-")
    link = f'<a href="/files/{wheel.name}">{wheel.name}</a>'
    page = f"<!DOCTYPE html><html><body>{link}</body></html>"
    return {
        f"/simple/{name}/": Answer(page.encode(), {"Content-Type": "text/html"}),
        f"/files/{wheel.name}": Answer(wheel.read_bytes()),
    }
