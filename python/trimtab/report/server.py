"""The page and its tiles over HTTP, for this machine and whoever knows the address.

Any program and any web page on this machine can send requests to a port of it. So each address begins with a random word, a
request must name this server as its host (a name that an attacker's DNS leads here is refused), and nothing can be changed.
"""

from __future__ import annotations

import secrets
from functools import lru_cache
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from trimtab.report.lane_page import LanePage

_LOOPBACK = "127.0.0.1"
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_TOKEN_BYTES = 24
# Seconds until somebody who sends nothing is no longer listened to.
_PATIENCE = 30
_TILES_KEPT = 64


class PageServer(ThreadingHTTPServer):
    """Serves one page. Its methods that answer are called by many threads."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, page: bytes, lanes: LanePage | None, port: int) -> None:
        """Listens from now on.

        Raises:
            OSError: the port is taken, or may not be used.
        """
        self.page, self.token = page, secrets.token_urlsafe(_TOKEN_BYTES)
        self._lanes, self._lock = lanes, Lock()
        self._kept = lru_cache(_TILES_KEPT)(self._made)
        super().__init__((_LOOPBACK, port), _Answer)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{_LOOPBACK}:{self.server_port}/{self.token}/"

    @property
    def hosts(self) -> set[str]:
        """What a request may name as its host."""
        return {f"{name}:{self.server_port}" for name in (_LOOPBACK, "localhost")}

    def tile(self, name: str) -> bytes:
        """A tile of the lanes.

        Raises:
            KeyError: there is none of that name.
        """
        # What tiles are cut from is computed once, whoever asks first.
        with self._lock:
            return self._kept(name)

    def _made(self, name: str) -> bytes:
        if self._lanes is None:
            raise KeyError(name)
        return self._lanes.tile(name)


class _Answer(BaseHTTPRequestHandler):
    server: PageServer
    timeout = _PATIENCE
    protocol_version = "HTTP/1.1"
    server_version = "trimtab"
    sys_version = ""

    def do_GET(self) -> None:
        token, _, path = self.path.lstrip("/").partition("/")
        is_known = compare_digest(token.encode(), self.server.token.encode())
        if self.headers.get("Host") not in self.server.hosts or not is_known:
            self._refuse(HTTPStatus.FORBIDDEN)
        elif path == "":
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)
        elif path.startswith("tile/"):
            try:
                content = self.server.tile(path.removeprefix("tile/"))
            except KeyError:
                self._refuse(HTTPStatus.NOT_FOUND)
            else:
                self._send(HTTPStatus.OK, "application/octet-stream", content)
        else:
            self._refuse(HTTPStatus.NOT_FOUND)

    def _refuse(self, status: HTTPStatus) -> None:
        self._send(status, "text/plain; charset=utf-8", f"{status.phrase}\n".encode())

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Of the base class, for what is no GET: without a page that repeats what was sent."""
        self.close_connection = True
        status = HTTPStatus.METHOD_NOT_ALLOWED if code == HTTPStatus.NOT_IMPLEMENTED else HTTPStatus(code)
        self._refuse(status)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: only the command prints."""
