"""How fast lanes over time are: `python tests/page/measure_lane_view.py PAGE.html` prints the first picture and steps of zooming.

Not a test: a machine that is busy with something else says nothing.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import numpy as np
from browser import Browser

STEPS = 120
FIRST = (
    "performance.getEntriesByName('lanes')[0].startTime + performance.getEntriesByName('lanes')[0].duration"
)
SCRIPT = "performance.getEntriesByName('lanes').map(each => each.duration)"


def main(page: Path) -> None:
    """Zooms in and out around several places, and moves."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    assert chromium is not None, "no chromium on PATH"
    with Browser(chromium) as browser:
        begin = time.monotonic()
        browser.open(page)
        print(
            f"open until drawn: {time.monotonic() - begin:.2f} s; first picture after {browser.run(FIRST) / 1e3:.2f} s"
        )
        browser.run("document.querySelector('.lane-canvas').focus()")
        browser.run("performance.clearMeasures()")
        for step in range(STEPS):
            browser.press(
                ("+", "+", "+", "ArrowRight", "-")[step % 5] if step % 40 else "0", shift=step % 5 == 3
            )
        times = np.array(browser.run(SCRIPT))
        print(
            f"{len(times)} drawings: median {np.median(times):.1f} ms, 95 % {np.percentile(times, 95):.1f} ms, "
            f"longest {times.max():.1f} ms"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
