"""How fast lanes over time are: `python tests/page/measure_lane_view.py [--json] PAGE.html` prints the first picture and steps of zooming.

Not a test: a machine that is busy with something else says nothing.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from browser import Browser

STEPS = 120
# The tiles of a long run are unpacked after the page is loaded.
FIRST = (
    "new Promise(done => { const look = () => { const [first] = performance.getEntriesByName('lanes'); "
    "if (first) done(first.startTime + first.duration); else requestAnimationFrame(look); }; look(); })"
)
SCRIPT = "performance.getEntriesByName('lanes').map(each => each.duration)"


def measured(page: Path) -> dict[str, Any]:
    """Zooms in and out around several places, and moves: seconds until the page is drawn and its first picture is there,
    and milliseconds of script of each drawing."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    assert chromium is not None, "no chromium on PATH"
    with Browser(chromium) as browser:
        begin = time.monotonic()
        browser.open(page)
        drawn_s, first_s = time.monotonic() - begin, browser.run(FIRST) / 1e3
        browser.run("document.querySelector('.lane-canvas').focus()")
        browser.run("performance.clearMeasures()")
        for step in range(STEPS):
            browser.press(
                ("+", "+", "+", "ArrowRight", "-")[step % 5] if step % 40 else "0", shift=step % 5 == 3
            )
        drawings_ms = [round(float(each), 3) for each in browser.run(SCRIPT)]
    return {"drawn_s": drawn_s, "first_picture_s": first_s, "drawings_ms": drawings_ms}


def main(options: list[str], page: Path) -> None:
    """Prints it, with --json all figures."""
    figures = measured(page)
    if "--json" in options:
        print(json.dumps(figures))
        return
    times = np.array(figures["drawings_ms"])
    print(
        f"open until drawn: {figures['drawn_s']:.2f} s; first picture after {figures['first_picture_s']:.2f} s\n"
        f"{len(times)} drawings: median {np.median(times):.1f} ms, 95 % {np.percentile(times, 95):.1f} ms, "
        f"longest {times.max():.1f} ms"
    )


if __name__ == "__main__":
    main(sys.argv[1:-1], Path(sys.argv[-1]))
