"""Lanes over time in a browser: by wheel, drag, key and click; from findings and blame; for screen readers; served."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import report_samples as samples
from browser import Browser
from firefox import Firefox
from python.synthetic import LaneFile, ProcessFiles, S, event, fact, subject, write_run
from trimtab.analysis.report import build
from trimtab.model.enumerations import Cause, EventKind, LeaveCause, RecordLevel, SubjectKind, WorkerState
from trimtab.model.report import Finding, LongestWait
from trimtab.readers import open_run
from trimtab.report import lane_page, page

NAMES = ("solve", samples.NASTY[0])
CANVAS = "document.querySelector('.lane-canvas')"
DETAIL = "document.querySelector('.lane-detail').textContent"
RANGE = "document.querySelector('#lanes-over-time .tools [role=status]').textContent"
PICTURE = f"{CANVAS}.toDataURL()"
GUTTER, AXIS = 150, 24


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no chromium on PATH")
    with Browser(chromium) as result:
        yield result


def events_of(lane: int, regions: int, wall: float) -> list[bytes]:
    """Lane 0 forks regions; lane 1 takes 4/5 of each, lane 0 2/5 of it: it waits."""
    step = wall / regions
    events = []
    for number in range(regions):
        begin, instance, name = number * step, number + 1, 1 + number % 2
        end = begin + step * (0.4 if lane == 0 else 0.8)
        if lane == 0:
            events.append(event(int(begin * S), EventKind.REGION_BEGIN, name, instance, arg=1))
        events.append(event(int((begin + step * 0.01) * S), EventKind.WORK_BEGIN, name, instance))
        events.append(event(int(end * S), EventKind.WORK_END, name, instance))
        if lane == 0:
            events.append(
                event(int((begin + step * 0.82) * S), EventKind.REGION_END, name, instance, 2, arg=1)
            )
    return events


def process(pid: int = 100, regions: int = 10, wall: float = 10.0, begin: float = 0.0) -> ProcessFiles:
    return ProcessFiles(
        [LaneFile(events=events_of(lane, regions, wall), run_s=wall * 0.8) for lane in range(2)],
        [subject(number, name=name) for number, name in enumerate(NAMES, 1)],
        wall=wall,
        parallel=wall,
        level=RecordLevel.TRACE,
        cpus=2.0,
        pid=pid,
        begin=begin,
    )


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Callable[..., Browser]:
    """show(PROCESS.., **how): the page of a run of these processes."""

    def go(*processes: ProcessFiles, **mode: Any) -> Browser:
        run = open_run(write_run(tmp_path / "run", *(processes or (process(),))))
        path = tmp_path / "page.html"
        path.write_text(page(build(run), lane_page(run)))
        browser.open(path, **{"height": 3000, **mode})
        wait(browser)
        return browser

    return go


def wait(browser: Browser) -> None:
    """Until tiles that are under way have come and are drawn."""
    picture = None
    while picture != (picture := browser.run(PICTURE)):
        browser.run("new Promise(done => setTimeout(done, 200))")
        browser.settle()


def place(browser: Browser) -> tuple[float, float, float]:
    """Where the lanes begin, and how wide they are."""
    left, top, width = browser.run(
        f"(({{left, top, width}}) => [left, top, width])({CANVAS}.getBoundingClientRect())"
    )
    return left + GUTTER, top + AXIS, width - GUTTER


def at(browser: Browser, second: float, lane: int, lanes: int = 2, wall: float = 10.0) -> tuple[float, float]:
    """The point of the canvas that shows a lane at a time of the whole run."""
    left, top, width = place(browser)
    height = browser.run(f"{CANVAS}.clientHeight") - AXIS
    return left + width * second / wall, top + height * (lane + 0.5) / lanes


def test_first_picture_asks_for_nothing(show: Callable[..., Browser], tmp_path: Path) -> None:
    browser = show()
    assert browser.complaints() == []
    assert browser.requests() == [(tmp_path / "page.html").resolve().as_uri()]
    colours = browser.run(
        f"(({{data}}) => new Set(new Uint32Array(data.buffer)).size)({CANVAS}.getContext('2d').getImageData(200, 40, 600, 60))"
    )
    assert colours > 4


def test_click_on_a_wait_tells_who_it_waits_for(show: Callable[..., Browser]) -> None:
    browser = show()
    browser.click(*at(browser, 0.6, 0))
    text = browser.run(DETAIL)
    assert "thread 0 worker waits for the end of solve" in text and "thread 1 worker works in solve" in text
    assert "Charged to:" in text and "at solve" in text
    browser.run("document.querySelector('.lane-detail .chain button').click()")
    text = browser.run(DETAIL)
    assert (
        text.startswith("thread 1 worker works in solve for 790 ms")
        and "thread 1 worker ended these waits:" in text
    )
    assert browser.complaints() == []


def two_ranks(left: float | None = None) -> list[ProcessFiles]:
    """Rank 0 works for 9 s and sends a parcel at 4 s; rank 1, which begins at 1 s, gets it at 5 s.

    When the parcel leaves the queue of its sender; None: that is not recorded.
    """

    def worker(*events: bytes) -> LaneFile:
        return LaneFile(events=list(events), worker_of=1)

    def at(second: float, kind: EventKind, task: int = 0, other: int = 0, arg: int = 0) -> bytes:
        return event(int(second * S), kind, 1, task, other, arg)

    sender = worker(
        at(0, EventKind.WORKER_STATE, arg=WorkerState.RUNS),
        at(0, EventKind.TASK_BEGIN, 1),
        at(4, EventKind.PARCEL_SENT, 9, arg=1),
        *([] if left is None else [at(left, EventKind.PARCEL_LEFT, 9, 1, arg=LeaveCause.TIME)]),
        at(9, EventKind.TASK_END, 1),
        at(9, EventKind.WORKER_STATE, arg=WorkerState.IDLE),
    )
    receiver = worker(
        at(0, EventKind.WORKER_STATE, arg=WorkerState.IDLE),
        at(4, EventKind.TASK_CREATED, 7),
        at(4, EventKind.PARCEL_RECEIVED, 7, 9),
        at(4, EventKind.WORKER_STATE, arg=WorkerState.RUNS),
        at(4, EventKind.TASK_BEGIN, 7),
        at(9, EventKind.TASK_END, 7),
    )
    return [
        ProcessFiles(
            [lane],
            [
                subject(1, SubjectKind.TASK, name="step"),
                fact("rank", str(rank)),
                fact("size", "2"),
            ],
            wall=10.0 - rank,
            parallel=10.0 - rank,
            level=RecordLevel.TRACE,
            cpus=1.0,
            pid=100 + rank,
            begin=float(rank),
        )
        for rank, lane in enumerate((sender, receiver))
    ]


def row_of(browser: Browser, lane: int) -> float:
    """The height at which a lane is, of two processes with a lane each."""
    _, top, _ = place(browser)
    height = browser.run(f"{CANVAS}.clientHeight") - AXIS
    return top + height * (0.5 * lane + 0.35)


def test_a_wait_for_a_message_leads_to_its_sender(show: Callable[..., Browser]) -> None:
    """By link, by key, and back; the arrow crosses the border of the processes."""
    browser = show(*two_ranks())
    left, _, width = place(browser)
    # At 3 s of the run; the wait lasts from 1 to 4 s.
    browser.click(left + width * 0.3, row_of(browser, 1))
    text = browser.run(DETAIL)
    assert "has no task until a message of another process comes" in text
    assert re.search(r"it waits for: worker 0 of rank 0 .*works in step for 9 s", text), text
    assert "Charged to:" in text and "at step" in text
    # The middle of the wait, above the second lane: where the head of its process is, the arrow passes.
    dark = (
        "(canvas => { const copy = new OffscreenCanvas(6, 4).getContext('2d');"
        f"copy.drawImage(canvas, {GUTTER} + Math.round((canvas.clientWidth - {GUTTER}) / 4) - 3, 96, 6, 4, 0, 0, 6, 4);"
        "return copy.getImageData(0, 0, 6, 4).data.reduce((sum, part) => sum + 255 - part, 0);"
        f"}})({CANVAS})"
    )
    with_arrow = browser.run(dark)
    browser.press("Escape")
    assert with_arrow > browser.run(dark) + 500
    browser.click(left + width * 0.3, row_of(browser, 1))
    browser.run("document.querySelector('.lane-detail .chain button').click()")
    text = browser.run(DETAIL)
    assert text.startswith("worker 0 works in step for 9 s from 0"), text
    assert re.search(r"ended these waits:worker 0 of rank 1 .*has no task until a message", text), text
    browser.click(left + width * 0.3, row_of(browser, 1))
    browser.press("g")
    assert browser.run(DETAIL).startswith("worker 0 works in step")
    # The way of the message itself.
    browser.click(left + width * 0.45, row_of(browser, 1))
    assert "a message is on its way" in browser.run(DETAIL)
    assert browser.complaints() == []


def test_a_message_that_waits_in_a_queue_is_not_on_its_way(show: Callable[..., Browser]) -> None:
    browser = show(*two_ranks(left=4.6))
    left, _, width = place(browser)
    browser.click(left + width * 0.43, row_of(browser, 1))
    text = browser.run(DETAIL)
    assert text.startswith("worker 0 has no task: a message waits in the queue of its sender for 600 ms"), (
        text
    )
    assert "Charged to: queued message" in text, text
    browser.click(left + width * 0.48, row_of(browser, 1))
    text = browser.run(DETAIL)
    assert text.startswith("worker 0 has no task: a message is on its way for 400 ms"), text
    assert "Charged to: late message" in text, text
    assert browser.complaints() == []


def test_a_finding_leads_to_its_longest_wait(browser: Browser, tmp_path: Path) -> None:
    """Also one of the whole program, which has no subject."""
    run = open_run(write_run(tmp_path / "run", *two_ranks()))
    report = build(run)
    wait_of_rank_1 = LongestWait(report.processes[1].id, 0, 0.0, 3.0)
    finding = Finding(
        Cause.SUSPENDED_TASKS, None, "evidence", "action", 3.0, (), 0.0, 3.0, ("a wait",), wait_of_rank_1
    )
    path = tmp_path / "page.html"
    path.write_text(page(msgspec.structs.replace(report, findings=(finding,)), lane_page(run)))
    browser.open(path, height=3000)
    browser.run("document.querySelector('.card .to-lanes').click()")
    wait(browser)
    text = browser.run(DETAIL)
    assert text.startswith("worker 0 has no task until a message of another process comes"), text
    assert browser.run(RANGE) != "" and browser.complaints() == []


def test_a_sender_that_is_not_shown_is_named(show: Callable[..., Browser]) -> None:
    browser = show(*two_ranks())
    ids = browser.run("[...document.querySelectorAll('.chooser option')].map(each => each.value)")
    choose = "(select => {{ select.value = '{}'; select.dispatchEvent(new Event('change')) }})(document.querySelector('.chooser select'))"
    browser.run(choose.format(ids[2]))
    wait(browser)
    browser.run(f"{CANVAS}.focus()")
    browser.press("ArrowRight")
    browser.press("ArrowLeft")
    text = browser.run(DETAIL)
    assert "worker 0 of rank 0" in text, text
    assert browser.run("document.querySelectorAll('.lane-detail .chain button').length") == 0
    browser.press("g")
    assert browser.run(DETAIL) == text and browser.complaints() == []


def test_keys_select_zoom_and_move(show: Callable[..., Browser]) -> None:
    browser = show()
    browser.run(f"{CANVAS}.focus()")
    whole = browser.run(PICTURE)
    browser.press("ArrowRight")
    first = browser.run(DETAIL)
    browser.press("ArrowDown")
    assert browser.run(DETAIL) != first
    browser.press("ArrowRight")
    moved = browser.run(DETAIL)
    browser.press("ArrowLeft")
    assert browser.run(DETAIL) != moved
    browser.press("Enter")
    assert browser.run(RANGE) != "" and browser.run(PICTURE) != whole
    low = browser.run(RANGE)
    browser.press("ArrowRight", shift=True)
    assert browser.run(RANGE) != low
    browser.press("0")
    browser.press("Escape")
    assert browser.run(RANGE) == "" and browser.run(PICTURE) == whole
    browser.press("+")
    assert browser.run(RANGE).startswith("5 s")
    browser.press("-")
    assert browser.run(RANGE) == ""
    browser.click(*at(browser, 0.6, 0))
    browser.press("g")
    assert browser.run(DETAIL).startswith("thread 1 worker works in solve")
    assert browser.complaints() == []


def test_the_first_selection_is_found_where_the_middle_is_empty(show: Callable[..., Browser]) -> None:
    """Of a Spark application executors may come late."""
    browser = show(process(wall=1.0), process(200, wall=1.0, begin=9.0))
    browser.run(f"{CANVAS}.focus()")
    browser.press("ArrowRight")
    assert "thread 0" in browser.run(DETAIL) and browser.complaints() == []


def test_wheel_zooms_where_the_pointer_is_and_drag_moves(show: Callable[..., Browser]) -> None:
    browser = show()
    x, y = at(browser, 2.5, 0)
    browser.wheel(x, y, -250)
    assert browser.run(RANGE) == ""  # without the focus the page scrolls
    browser.run("scrollTo(0, 0)")
    browser.run(f"{CANVAS}.focus({{preventScroll: true}})")
    x, y = at(browser, 2.5, 0)
    browser.wheel(x, y, -250)
    assert browser.run(RANGE) == "5 s from 1.25 s on"
    browser.mouse("mousePressed", x, y, "left")
    browser.mouse("mouseMoved", x + place(browser)[2] / 10, y, "left")
    browser.mouse("mouseReleased", x + place(browser)[2] / 10, y, "left")
    browser.settle()
    (low,) = re.fullmatch(r"5 s from (\d+) ms on", browser.run(RANGE)).groups()
    assert abs(int(low) - 750) < 8
    # The charts below follow.
    browser.run("new Promise(done => setTimeout(done, 300))")
    assert f"{low} ms to 5.75 s" in browser.run("document.querySelector('#over-time').textContent")


def test_blame_leads_to_the_longest_wait(show: Callable[..., Browser]) -> None:
    browser = show()
    browser.run(
        "[...document.querySelectorAll('#blame tbody tr')].find(row => row.cells[1].textContent === 'solve').querySelector('button').click()"
    )
    wait(browser)
    assert "at solve" in browser.run(DETAIL) and browser.run(RANGE) != ""
    assert browser.run("document.activeElement === document.querySelector('.lane-canvas')")
    assert browser.complaints() == []


def test_search_dims_and_jumps(show: Callable[..., Browser]) -> None:
    browser = show()
    before = browser.run(PICTURE)
    search = "document.querySelector('[aria-label=\"Search lanes\"]')"
    browser.run(f"{search}.value = 'sol'; {search}.dispatchEvent(new Event('input'))")
    browser.settle()
    assert browser.run(PICTURE) != before
    browser.run(f"{search}.focus()")
    browser.press("Enter")
    wait(browser)
    assert "solve" in browser.run(DETAIL) and browser.run(RANGE) != ""
    browser.run(f"{search}.value = 'nothing of that'; {search}.dispatchEvent(new Event('input'))")
    assert "nothing has this name" in browser.run("document.querySelector('.lane-filters').textContent")


def test_a_search_can_hide_all_others(show: Callable[..., Browser]) -> None:
    browser = show()
    # Colours of the lanes' own rows, without the names on their left.
    colors = (
        f"(() => {{ const c = {CANVAS}; const r = c.width / c.clientWidth; const left = Math.ceil({GUTTER} * r), top = {AXIS} * r;"
        "const all = c.getContext('2d').getImageData(left, top, c.width - left, c.height - top).data;"
        "return new Set(new Uint32Array(all.buffer)).size; })()"
    )
    search = "document.querySelector('[aria-label=\"Search lanes\"]')"
    browser.run(f"{search}.value = 'sol'; {search}.dispatchEvent(new Event('input'))")
    browser.settle()
    dim = browser.run(colors)
    hide = "[...document.querySelectorAll('.lane-filters button')].find(each => each.textContent === 'Hide others')"
    browser.run(f"{hide}.click()")
    browser.settle()
    assert browser.run(colors) < dim
    browser.run(f"{hide}.click()")
    browser.settle()
    assert browser.run(colors) == dim


def test_filters_of_processes_and_lanes(show: Callable[..., Browser]) -> None:
    browser = show(process(100), process(200, regions=5, begin=2.0))
    browser.run("document.querySelector('#lanes-over-time details').open = true")
    browser.settle()
    names = "[...document.querySelectorAll('.lane-table tbody th')].map(each => each.textContent)"
    assert len(browser.run(names)) == 4
    lanes = "document.querySelector('[aria-label=\"Filter lanes\"]')"
    browser.run(f"{lanes}.value = '1'; {lanes}.dispatchEvent(new Event('input'))")
    browser.run("new Promise(done => setTimeout(done, 300))")
    assert browser.run(names) == ["process 100 (app), thread 1 worker", "process 200 (app), thread 1 worker"]
    chooser = "document.querySelector('[aria-label=\"Process of the lanes\"]')"
    browser.run(f"{chooser}.selectedIndex = 2; {chooser}.dispatchEvent(new Event('change'))")
    browser.run("new Promise(done => setTimeout(done, 300))")
    assert browser.run(names) == ["process 200 (app), thread 1 worker"]
    assert browser.complaints() == []


def test_a_table_has_what_is_seen(show: Callable[..., Browser]) -> None:
    browser = show()
    browser.run("document.querySelector('#lanes-over-time details').open = true")
    browser.settle()
    head = browser.run("[...document.querySelectorAll('.lane-table thead th')].map(each => each.textContent)")
    rows = browser.run(
        "[...document.querySelectorAll('.lane-table tbody tr')].map(row => [...row.cells].map(each => each.textContent))"
    )
    assert (
        head[0] == "lane"
        and head[-1] == "most work"
        and [row[0] for row in rows] == ["thread 0 worker", "thread 1 worker"]
    )
    work = head.index("work")
    # Ten regions of 1 s each: lane 0 works for 0.39 s of each, lane 1 for 0.79 s.
    assert [row[work] for row in rows] == ["3.9 s", "7.9 s"]
    assert "solve" in rows[0][-1]


def test_dark_and_light_are_drawn_anew(show: Callable[..., Browser]) -> None:
    browser = show(dark=True)
    before = browser.run(PICTURE)
    browser.run("document.querySelector('.theme').click()")
    browser.settle()
    assert browser.run(PICTURE) != before and browser.complaints() == []


@pytest.mark.parametrize("width", [340, 1280])
def test_hostile_names_are_text(show: Callable[..., Browser], width: int) -> None:
    browser = show(width=width)
    browser.run(f"{CANVAS}.focus()")
    for key in ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"):
        browser.press(key)
    browser.run("document.querySelector('#lanes-over-time details').open = true")
    browser.settle()
    assert browser.run("document.querySelectorAll('main script, main img, iframe').length") == 0
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.title").endswith("trimtab") and browser.complaints() == []


def test_a_browser_that_cannot_decompress_says_so(
    browser: Browser, show: Callable[..., Browser], tmp_path: Path
) -> None:
    show()
    script = browser._call(
        "Page.addScriptToEvaluateOnNewDocument", source="delete globalThis.DecompressionStream"
    )
    try:
        browser.open(tmp_path / "page.html")
        assert "Firefox 113" in browser.run("document.querySelector('#lanes-over-time').textContent")
        assert browser.run("document.querySelectorAll('.card, #regions').length") > 0
        assert browser.complaints() == []
    finally:
        browser._call("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


def test_a_served_page_gets_single_events_from_its_server(
    browser: Browser, tmp_path: Path, trimtab: str
) -> None:
    run = write_run(tmp_path / "run", process(regions=40_000))
    with subprocess.Popen(
        [trimtab, "view", "--no-browser", str(run)], stdout=subprocess.PIPE, text=True
    ) as served:
        try:
            assert served.stdout is not None
            address = served.stdout.readline().split()[-1]
            browser.open(address, height=3000)
            wait(browser)
            assert browser.run("document.querySelectorAll('script[id^=tile]').length") == 1
            browser.run(f"{CANVAS}.focus()")
            for _ in range(14):
                browser.press("+")
            wait(browser)
            browser.press("ArrowRight")
            assert "\u00b5s" in browser.run(DETAIL)
            asked = [url for url in browser.requests() if "/tile/0.s." in url]
            assert asked and all(url.startswith(address) for url in browser.requests())
            assert browser.complaints() == []
        finally:
            served.terminate()
    assert served.returncode == 0


def test_levels_of_detail_and_a_window_show_the_same(browser: Browser, tmp_path: Path) -> None:
    """Of a run with more stretches than the page draws one by one."""
    run = open_run(write_run(tmp_path / "run", process(regions=60_000)))
    lanes = lane_page(run)
    assert lanes is not None and len(lanes.head["processes"][0]["bounds"]) > 6
    (tmp_path / "page.html").write_text(page(build(run), lanes))
    browser.open(tmp_path / "page.html", height=3000)
    wait(browser)
    browser.run("document.querySelector('#lanes-over-time details').open = true")
    browser.settle()
    work = browser.run(
        "[...document.querySelectorAll('.lane-table tbody td:nth-child(2)')].map(each => each.textContent)"
    )
    figures = np.array([float(text.removesuffix(" s")) for text in work])
    assert figures == pytest.approx([3.9, 7.9], abs=0.05)


def test_the_page_in_firefox(tmp_path: Path) -> None:
    """Optional: where firefox or firefox-esr is installed."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("no firefox on PATH")
    run = open_run(write_run(tmp_path / "run", *two_ranks()))
    path = tmp_path / "page.html"
    path.write_text(page(build(run), lane_page(run)))
    with Firefox(program) as firefox:
        firefox.open(path)
        left, top, width = firefox.run(
            f"(({{left, top, width}}) => [left, top, width])(({CANVAS}.scrollIntoView({{block: 'center'}}), {CANVAS}.getBoundingClientRect()))"
        )
        colors = (
            "(canvas => new Set(new Uint32Array(canvas.getContext('2d').getImageData(200, 40, 600, 60).data.buffer)).size)"
            f"({CANVAS})"
        )
        firefox.run("new Promise(done => setTimeout(done, 200))")
        # The lane, and what is behind it.
        assert firefox.run(colors) > 1
        height = firefox.run(f"{CANVAS}.clientHeight") - AXIS
        firefox.click(left + GUTTER + (width - GUTTER) * 0.3, top + AXIS + height * 0.85)
        assert "it waits for: worker 0 of rank 0" in firefox.run(DETAIL)
        firefox.press("g")
        assert firefox.run(DETAIL).startswith("worker 0 works in step for 9 s")
        firefox.press("+")
        assert firefox.run(RANGE).startswith("5 s")


def test_two_runs_are_on_one_axis(browser: Browser, tmp_path: Path, trimtab: str) -> None:
    """The second one is half as long, and began years later."""
    runs = [write_run(tmp_path / name, process(wall=wall)) for name, wall in (("a", 10.0), ("b", 5.0))]
    path = tmp_path / "both.html"
    subprocess.run(
        [trimtab, "compare", *map(str, runs), "--html", str(path)], check=True, capture_output=True
    )
    browser.open(path, height=3000)
    wait(browser)
    browser.run("document.querySelector('#lanes-over-time details').open = true")
    browser.settle()
    names = browser.run(
        "[...document.querySelectorAll('.lane-table tbody th')].map(each => each.textContent)"
    )
    assert [name[:2] for name in names] == ["A:", "A:", "B:", "B:"]
    work = browser.run(
        "[...document.querySelectorAll('.lane-table tbody td:nth-child(2)')].map(each => each.textContent)"
    )
    assert work == ["3.9 s", "7.9 s", "1.95 s", "3.95 s"]
    assert browser.run("[...document.querySelectorAll('section')].map(each => each.id)") == [
        "verdict-a",
        "verdict-b",
        "lanes-over-time",
        "over-time-a",
        "over-time-b",
    ]
    failed = subprocess.run(
        [trimtab, "compare", ",".join(map(str, runs)), str(runs[0]), "--html", str(path)],
        capture_output=True,
        text=True,
    )
    assert failed.returncode == 2 and "expected one run on each side, found 2 and 1" in failed.stderr
    assert browser.complaints() == []
