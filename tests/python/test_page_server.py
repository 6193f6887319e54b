"""`trimtab view`: who may ask what."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from trimtab.report.lane_page import LanePage
from trimtab.report.server import PageServer

PAGE = b"<!doctype html>page"


def tiles() -> Any:
    return SimpleNamespace(
        bounds=[0, 5, 10],
        levels=[None],
        tiles_of=lambda level: 2,
        level_tile=lambda level, tile: f"level {level} {tile}".encode(),
        stretch_tile=lambda tile: f"stretches {tile}".encode(),
    )


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer(PAGE, LanePage({}, {}, [cast(Any, tiles())]), 0) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def ask(
    server: PageServer, path: str, method: str = "GET", host: str | None = None
) -> tuple[int, bytes, http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host if host is not None else f"127.0.0.1:{server.server_port}")
    connection.endheaders()
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content, answer


def test_the_page_and_its_tiles(server: PageServer) -> None:
    assert server.address == f"http://127.0.0.1:{server.server_port}/{server.token}/"
    status, content, answer = ask(server, f"/{server.token}/")
    assert (status, content) == (200, PAGE)
    assert answer.headers["Cache-Control"] == "no-store" and answer.headers["X-Frame-Options"] == "DENY"
    assert ask(server, f"/{server.token}/tile/0.0.1")[:2] == (200, b"level 0 1")
    assert ask(server, f"/{server.token}/tile/0.s.1")[:2] == (200, b"stretches 1")


@pytest.mark.parametrize("path", ["/", "/x/", "/{}!/", "/tile/0.0.0", "/{}%00/", "//{}/x/"])
def test_without_the_word_nothing_is_shown(server: PageServer, path: str) -> None:
    status, content, _ = ask(server, path.format(server.token[:-1]))
    assert status == 403 and content == b"Forbidden\n"


@pytest.mark.parametrize("host", ["", "evil.example", "127.0.0.1", "evil.example:{}", "127.0.0.1.evil:{}"])
def test_another_name_of_the_host_is_refused(server: PageServer, host: str) -> None:
    assert ask(server, f"/{server.token}/", host=host.format(server.server_port))[0] == 403
    assert ask(server, f"/{server.token}/", host=f"localhost:{server.server_port}")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "<script>"])
def test_only_get(server: PageServer, method: str) -> None:
    status, content, _ = ask(server, f"/{server.token}/", method)
    assert status == 405 and content == b"Method Not Allowed\n"


@pytest.mark.parametrize(
    "name",
    ["", "0", "0.0", "1.0.0", "0.1.0", "0.0.2", "0.s.2", "0.s.-1", "0.x.0", "../run.json"],
)
def test_other_tiles_are_not_found(server: PageServer, name: str) -> None:
    assert ask(server, f"/{server.token}/tile/{name}".encode().decode("latin-1"))[0] == 404
