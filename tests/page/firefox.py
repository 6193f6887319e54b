"""A headless Firefox, driven through Marionette: a page, scripts and keys in it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

# No test depends on how long something takes: this only ends what hangs.
_PATIENCE_S = 120.0


class Firefox:
    """One browser with one page. `with Firefox(path) as firefox: firefox.open(file)`."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._number = 0
        self._held = b""

    def __enter__(self) -> Firefox:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        profile = Path(self._folder.name)
        # Port 0: any free one, which it writes into its profile.
        (profile / "user.js").write_text('user_pref("marionette.port", 0);\n')
        self._process = subprocess.Popen(
            [self._program, "--headless", "--no-remote", "--marionette", "--profile", str(profile)],
            env={**os.environ, "HOME": str(profile), "MOZ_HEADLESS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._connection = self._connected(profile / "MarionetteActivePort")
        self._message()  # its greeting
        self._call("WebDriver:NewSession", capabilities={})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._folder.cleanup()

    def open(self, page: Path, *, width: int = 1280, height: int = 1600) -> None:
        """Load a file and wait until its events have been handled."""
        self._call("WebDriver:SetWindowRect", width=width, height=height)
        self._call("WebDriver:Navigate", url=page.resolve().as_uri())
        self.settle()

    def settle(self) -> None:
        """Until two frames have been painted."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; what it throws is raised."""
        wrapped = f"const done = arguments[arguments.length - 1]; Promise.resolve({script}).then(done)"
        return self._call("WebDriver:ExecuteAsyncScript", script=wrapped, args=[])["value"]

    def press(self, key: str) -> None:
        """One key to what has the focus."""
        actions = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        self._call(
            "WebDriver:PerformActions", actions=[{"type": "key", "id": "keyboard", "actions": actions}]
        )
        self.settle()

    def click(self, x: float, y: float) -> None:
        """One click of the left button."""
        actions = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._call(
            "WebDriver:PerformActions", actions=[{"type": "pointer", "id": "mouse", "actions": actions}]
        )
        self.settle()

    def picture(self, path: Path) -> None:
        """A PNG of what is seen."""
        path.write_bytes(base64.b64decode(self._call("WebDriver:TakeScreenshot", full=False)["value"]))

    def _connected(self, port_file: Path) -> socket.socket:
        give_up = time.monotonic() + _PATIENCE_S
        while time.monotonic() < give_up:
            assert self._process.poll() is None, f"Firefox ended with {self._process.returncode}"
            with contextlib.suppress(OSError, ValueError):
                return socket.create_connection(("127.0.0.1", int(port_file.read_text())), _PATIENCE_S)
            time.sleep(0.05)
        raise TimeoutError(f"Firefox did not listen within {_PATIENCE_S:g} s")

    def _call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        text = json.dumps([0, self._number, method, parameters]).encode()
        self._connection.sendall(b"%d:%s" % (len(text), text))
        _, number, error, result = self._message()
        assert number == self._number
        assert error is None, f"{method}: {error}"
        return result

    def _message(self) -> Any:
        """The next one: its length, a colon, JSON."""
        while b":" not in self._held:
            self._held += self._received()
        size, _, self._held = self._held.partition(b":")
        while len(self._held) < int(size):
            self._held += self._received()
        text, self._held = self._held[: int(size)], self._held[int(size) :]
        return json.loads(text)

    def _received(self) -> bytes:
        part = self._connection.recv(1 << 16)
        assert part, "Firefox closed the connection"
        return part
