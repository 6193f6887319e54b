"""A headless Chromium, driven through its DevTools pipe: a page, what its console said, and scripts in it."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import select
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# No test depends on how long something takes: this only ends what hangs.
_PATIENCE_S = 120.0


class Browser:
    """One browser with one page. `with Browser(path) as browser: browser.open(file)`."""

    def __init__(self, chromium: str) -> None:
        self._chromium = chromium
        self._numbers = itertools.count(1)
        self._held = b""
        self._events: list[dict[str, Any]] = []
        self._session: str | None = None

    def __enter__(self) -> Browser:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # Chromium reads commands from descriptor 3 and answers on 4. (dash knows descriptors below 10 only.)
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        shell = f'exec 3<&{to_read} 4>&{to_write}; exec "$@"'
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                shell,
                "bash",
                self._chromium,
                *_FLAGS,
                f"--user-data-dir={self._folder.name}",
                "about:blank",
            ],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._folder.cleanup()

    def open(
        self, page: Path | str, *, width: int = 1280, height: int = 900, dark: bool = False, media: str = ""
    ) -> None:
        """Load `page`, a file or an address, and wait until it has drawn itself."""
        self._events.clear()
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", media=media, features=[theme])
        self._call("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._events.append(self._receive(_PATIENCE_S))
        self.settle()

    def settle(self) -> None:
        """Until two frames have been painted after all that is under way."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def run(self, script: str) -> Any:
        """The value of a script in the page; what it throws is raised."""
        answer = self._call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{script}: {json.dumps(answer['exceptionDetails'])[:2000]}")
        return answer["result"].get("value")

    def press(self, key: str, shift: bool = False) -> None:
        """One key to what has the focus."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if len(key) == 1 and kind == "keyDown" else {}
            self._call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 if shift else 0, **text)
        self.settle()

    def mouse(self, kind: str, x: float, y: float, button: str = "none") -> None:
        """`kind` is mousePressed, mouseMoved or mouseReleased."""
        self._call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            button=button,
            clickCount=1,
            buttons=int(button == "left"),
        )

    def wheel(self, x: float, y: float, by: float) -> None:
        """Turn the wheel; down is more than 0."""
        self._call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by)
        self.settle()

    def click(self, x: float, y: float) -> None:
        """One click of the left button."""
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, "left")
        self.mouse("mouseReleased", x, y, "left")
        self.settle()

    def complaints(self) -> list[str]:
        """Errors, warnings, violations of the policy and failed assertions since `open`."""
        self._drain()
        result = []
        for event in self._events:
            method, reported = event["method"], event["params"]
            if (
                method == "Runtime.exceptionThrown"
                or (method == "Log.entryAdded" and reported["entry"]["level"] in ("error", "warning"))
                or (
                    method == "Runtime.consoleAPICalled"
                    and reported["type"] in ("error", "warning", "assert")
                )
            ):
                result.append(json.dumps(reported)[:2000])
        return result

    def requests(self) -> list[str]:
        """Addresses that the page asked for since `open`."""
        self._drain()
        return [
            event["params"]["request"]["url"]
            for event in self._events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """A PNG of the page."""
        answer = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def printed(self) -> bytes:
        """The page as a PDF."""
        answer = self._call("Page.printToPDF", printBackground=True)
        return base64.b64decode(answer["data"])

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self._to, rest) :]
        while True:
            reported = self._receive(_PATIENCE_S)
            if reported.get("id") == number:
                assert "error" not in reported, f"{method}: {reported['error']}"
                answer: dict[str, Any] = reported["result"]
                return answer
            self._events.append(reported)

    def _drain(self) -> None:
        with contextlib.suppress(TimeoutError):
            while True:
                self._events.append(self._receive(0.0))

    def _receive(self, patience_s: float) -> dict[str, Any]:
        end = time.monotonic() + patience_s
        while b"\0" not in self._held:
            ready, _, _ = select.select([self._from], [], [], max(end - time.monotonic(), 0.0))
            if not ready:
                raise TimeoutError(f"chromium said nothing for {patience_s:g} s")
            overrides = os.read(self._from, 1 << 20)
            assert overrides, f"chromium ended with {self._process.wait()}"
            self._held += overrides
        message, _, self._held = self._held.partition(b"\0")
        reported: dict[str, Any] = json.loads(message)
        return reported
