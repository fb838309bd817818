"""A site of somebody else's: pages by path, served on a port of its own, under two names."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class OtherSite:
    """`pages` says what stands at each path. A browser takes its two names for two sites."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        pages = self.pages

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = pages.get(self.path.partition("?")[0], "").encode()
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def listed(self) -> str:
        """Its address by the name that our server's list has."""
        return f"http://localhost:{self._server.server_port}"

    @property
    def foreign(self) -> str:
        """Its address by a name that is on no list."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> OtherSite:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
