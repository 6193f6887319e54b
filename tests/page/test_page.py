"""The report page in a browser: of real runs, of the worst names, of the largest reports, and by hand and key."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples
from browser import Browser
from reports import typed
from trimtab.report import write_html

SECTIONS = ["verdict", "findings", "over-time", "regions", "system", "cost", "missing", "machine"]
# With all events.
TRACED = [*SECTIONS[:2], "lanes-over-time", "blame", *SECTIONS[2:4], "usage", *SECTIONS[4:]]
# Of the samples, which have several processes.
OF_SAMPLES = [*SECTIONS[:2], "processes", *SECTIONS[2:]]
OPEN_ALL = "document.querySelectorAll('details').forEach(each => each.open = true)"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no chromium on PATH")
    with Browser(chromium) as result:
        yield result


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Callable[..., Browser]:
    """show(REPORT, **how): the page of a report, open in the browser."""

    def go(report: dict[str, Any], is_foreign: bool = False, **mode: Any) -> Browser:
        path = tmp_path / "report.html"
        write_html(typed({} if is_foreign else report), path)
        if is_foreign:
            before, begin, rest = path.read_text().partition('id="report">')
            path.write_text(before + begin + json.dumps(report) + rest[rest.index("</script>") :])
        browser.open(tmp_path / "report.html", **mode)
        return browser

    return go


def sound(browser: Browser, page: Path) -> None:
    """All parts are there, nothing complained, nothing was asked for but the page."""
    assert browser.complaints() == []
    assert browser.requests() == [page.resolve().as_uri()]
    assert browser.run("[...document.querySelectorAll('section')].map(each => each.id)") == OF_SAMPLES
    assert browser.run("document.querySelectorAll('.empty').length") == 0


@pytest.mark.parametrize("name", ["mandelbrot-gcc", "tasktree-clang"])
def test_page_of_a_real_run(
    browser: Browser, run: Callable[..., Any], workload: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    page = tmp_path / "page.html"
    watched = run(workload(name), options=("--trace", "--html", str(page)))
    report = watched.report()
    browser.open(page)
    browser.run(OPEN_ALL)
    browser.settle()
    assert browser.complaints() == [] and browser.requests() == [page.resolve().as_uri()]
    assert browser.run("[...document.querySelectorAll('section')].map(each => each.id)") == TRACED
    assert (
        browser.run("document.querySelector('.number').firstChild.data")
        == f"{report['efficiency'] * 100:.0f}"
    )
    shown = browser.run(
        "[...document.querySelectorAll('#regions .opener .code')].map(each => each.textContent)"
    )
    assert sorted(shown) == sorted(region["name"] for region in report["regions"])
    assert browser.run("document.querySelectorAll('.card').length") == len(report["findings"])
    assert browser.run("document.querySelectorAll('#over-time canvas').length") == 1
    assert browser.run("document.title") == f"{name} \u2013 trimtab"


def test_page_of_a_program_without_regions(browser: Browser, run: Callable[..., Any], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run("sh", "-c", "kill -KILL $$", options=("--html", str(page)))
    browser.open(page)
    assert browser.complaints() == []
    assert "killed by SIGKILL" in browser.run("document.querySelector('.warning').textContent")
    assert "No parallel region was seen" in browser.run("document.querySelector('#regions').textContent")


def test_page_of_everything(show: Callable[..., Browser], tmp_path: Path) -> None:
    browser = show(samples.report())
    browser.run(OPEN_ALL)
    browser.run("document.querySelectorAll('.opener').forEach(each => each.click())")
    browser.settle()
    sound(browser, tmp_path / "report.html")
    # Shares of the bar are those of the report.
    widths = browser.run(
        "[...document.querySelectorAll('.big-bar .piece')].map(each => each.getBoundingClientRect().width)"
    )
    assert [width / sum(widths) for width in widths] == pytest.approx(
        list(samples.report()["time"].values()), abs=0.005
    )


@pytest.mark.parametrize("width", [340, 1280])
def test_page_of_a_task_runtime(show: Callable[..., Browser], width: int, tmp_path: Path) -> None:
    browser = show(samples.report(regions=0, workers=3), width=width)
    browser.run(OPEN_ALL)
    browser.settle()
    assert browser.complaints() == []
    sections = browser.run("[...document.querySelectorAll('section')].map(each => each.id)")
    assert sections == ["workers" if sample == "regions" else sample for sample in OF_SAMPLES]
    links = browser.run("[...document.querySelectorAll('nav .links a')].map(each => each.textContent)")
    assert "Workers" in links and "Regions" not in links
    bars = browser.run("[...document.querySelectorAll('#workers .bar')].map(each => each.ariaLabel)")
    assert bars[0] == "work 10 s"
    assert bars[1] == "work 5 s, looking 1.25 s, no task ready 2.5 s, nobody at work 1.25 s"
    assert "fib" in browser.run("document.querySelector('#workers').textContent")
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("width", [340, 1280])
def test_hostile_names_are_text(show: Callable[..., Browser], width: int, tmp_path: Path) -> None:
    report = samples.hostile()
    browser = show(report, width=width)
    browser.run(OPEN_ALL)
    browser.run("document.querySelectorAll('.opener').forEach(each => each.click())")
    browser.settle()
    sound(browser, tmp_path / "report.html")
    assert "owned" not in browser.run("document.title.replace(/^.*trimtab$/, '')")
    assert browser.run("document.querySelectorAll('img, iframe, object, link, main script').length") == 0
    assert browser.run("document.scripts.length") == 2
    shown = browser.run(
        "[...document.querySelectorAll('#regions .opener .code')].map(each => each.textContent)"
    )
    assert "</script><script>document.title='owned'</script>" in shown and "(no name)" in shown
    # Names of ten thousand characters are cut, and make nothing wider than the window.
    assert max(map(len, shown)) <= 160
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_a_policy_keeps_markup_that_got_in_from_running(show: Callable[..., Browser]) -> None:
    browser = show(samples.report())
    browser.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')")
    browser.run(
        "{ const made = document.createElement('script'); made.text = 'document.title=1'; document.body.append(made) }"
    )
    browser.settle()
    assert browser.run("document.title") == "flow \u2013 trimtab"
    assert any("Content Security Policy" in complaint for complaint in browser.complaints())


def test_hundreds_of_lanes_and_a_thousand_regions(show: Callable[..., Browser], tmp_path: Path) -> None:
    browser = show(samples.report(regions=1000, lanes=500, bins=1000))
    sound(browser, tmp_path / "report.html")
    rows = "document.querySelectorAll('#regions > .sheet > .wide > table > tbody > tr').length"
    assert browser.run(rows) == 50
    browser.run("document.querySelector('#regions .opener').click()")
    assert browser.run("document.querySelectorAll('#regions .columns:not(.short) i').length") == 500
    browser.run("[...document.querySelectorAll('#regions .more button')].pop().click()")
    assert browser.run(rows) == 1001
    browser.run(
        "{ const box = document.querySelector('#regions input'); box.value = 'STEP_99'; box.dispatchEvent(new Event('input')) }"
    )
    assert browser.run(rows) == 11  # 99 and 990 to 999


def test_table_sorts_both_ways_and_leaves_what_is_unknown_last(show: Callable[..., Browser]) -> None:
    browser = show(samples.report(regions=10))
    head = (
        "[...document.querySelectorAll('#regions th button')].find(each => each.textContent === 'imbalance')"
    )
    column = "[...document.querySelectorAll('#regions tbody tr')].map(each => each.cells[8].textContent)"
    for order, way in (("descending", -1), ("ascending", 1)):
        browser.run(f"{head}.click()")
        assert browser.run(f"{head}.parentNode.getAttribute('aria-sort')") == order
        cells = browser.run(column)
        figures = [float(cell) for cell in cells[:8]]
        assert figures == sorted(figures, key=lambda figure: way * figure) and cells[8:] == [
            "\u2013",
            "\u2013",
        ]


def test_finding_leads_to_its_region(show: Callable[..., Browser]) -> None:
    browser = show(samples.report(regions=200))
    browser.run("document.querySelector('.card .link').click()")
    subject = samples.report(regions=200)["findings"][0]["subject"]
    assert browser.run("document.querySelector('tr.open .code').textContent") == subject
    assert browser.run("document.activeElement.getAttribute('aria-expanded')") == "true"


def test_zoom_by_mouse_and_by_key_moves_all_charts(show: Callable[..., Browser]) -> None:
    browser = show(samples.report(), height=4000)
    place = browser.run(
        "(({left, top, width}) => [left, top, width])(document.querySelector('#over-time .u-over').getBoundingClientRect())"
    )
    left, top, width = place
    pictures = "[...document.querySelectorAll('canvas')].map(each => each.toDataURL())"
    whole = browser.run(pictures)
    browser.mouse("mousePressed", left + width * 0.2, top + 50, "left")
    browser.mouse("mouseMoved", left + width * 0.3, top + 50, "left")
    browser.mouse("mouseMoved", left + width * 0.4, top + 50, "left")
    browser.mouse("mouseReleased", left + width * 0.4, top + 50, "left")
    browser.settle()
    shown = "document.querySelector('#over-time [role=status]').textContent"
    low, high = (float(word) for word in browser.run(shown).replace(" s", "").split(" to "))
    assert (low, high) == pytest.approx((2, 4), abs=0.1)
    assert browser.run("document.querySelector('#over-time .tip').hidden") is False
    zoomed = browser.run(pictures)
    assert len(whole) == len(zoomed) > 3 and not set(whole) & set(zoomed)
    browser.run("document.querySelector('#system .chart').focus()")
    browser.press("0")
    assert browser.run(shown) == "" and browser.run(pictures) == whole
    browser.press("+")
    low, high = (float(word) for word in browser.run(shown).replace(" s", "").split(" to "))
    assert high - low == pytest.approx(5, abs=0.1)
    browser.press("ArrowRight", shift=True)
    assert float(browser.run(shown).split(" s")[0]) == pytest.approx(low + 1, abs=0.1)
    browser.press("ArrowRight")
    assert browser.run("document.querySelector('#system .tip').hidden") is False
    assert browser.complaints() == []


def test_regions_can_be_taken_out_of_the_chart(show: Callable[..., Browser]) -> None:
    browser = show(samples.report())
    sum_of = "(canvas => canvas.toDataURL())(document.querySelector('#over-time canvas'))"
    before = browser.run(sum_of)
    key = "document.querySelector('#over-time .keys button')"
    browser.run(f"{key}.click()")
    browser.settle()
    assert browser.run(f"{key}.getAttribute('aria-pressed')") == "false" and browser.run(sum_of) != before
    browser.run(f"{key}.click()")
    browser.settle()
    assert browser.run(sum_of) == before


@pytest.mark.parametrize("dark", [False, True])
def test_theme_is_the_systems_until_chosen(show: Callable[..., Browser], dark: bool) -> None:
    browser = show(samples.report(), dark=dark)
    light = "getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'"
    picture = "document.querySelector('#over-time canvas').toDataURL()"
    assert browser.run(light) is not dark
    before = browser.run(picture)
    browser.run("document.querySelector('.theme').click()")
    browser.settle()
    assert browser.run(light) is dark and browser.run(picture) != before


def test_prints_in_light_colours_and_comes_back(show: Callable[..., Browser]) -> None:
    browser = show(samples.report(), dark=True)
    browser.run(
        "addEventListener('beforeprint', () => globalThis.printed = document.documentElement.dataset.theme)"
    )
    assert browser.printed().startswith(b"%PDF")
    browser.settle()
    assert browser.run("globalThis.printed") == "light"
    assert browser.run("document.documentElement.dataset.theme") == "dark"
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [340, 700, 1280, 2400])
def test_nothing_is_wider_than_the_window(show: Callable[..., Browser], width: int) -> None:
    browser = show(samples.report(lanes=40), width=width)
    browser.run(OPEN_ALL)
    browser.run("document.querySelector('#regions .opener').click()")
    browser.settle()
    assert browser.run("document.documentElement.scrollWidth") <= width
    # What unfolds can be read without scrolling, also where the table cannot.
    right = "document.querySelector('{}').getBoundingClientRect().right"
    assert browser.run(right.format("#regions .detail")) <= browser.run(right.format("#regions .sheet")) + 1
    assert browser.complaints() == []


def test_missing_keys_are_not_recorded_and_break_nothing(show: Callable[..., Browser]) -> None:
    browser = show(
        {
            "regions": [],
            "trimtab": "9.9",
            "time": "of another version",
            "counters": [{"t_s": 3}],
            "lanes": None,
        },
        is_foreign=True,
    )
    assert browser.complaints() == []
    assert browser.run("[...document.querySelectorAll('section')].map(each => each.id)") == SECTIONS
    assert browser.run("document.querySelectorAll('.empty').length") >= 4


def test_decisions_are_a_part_of_their_own(show: Callable[..., Browser]) -> None:
    report = samples.report()
    report["decisions"] = [
        {
            "time_s": 1.0 + at,
            "subject": nasty,
            "key": "app+0x40",
            "changes": [{"knob": "threads", "from": "4", "to": "3"}],
            "outcome": "kept" if at == 0 else "trial",
            "policy": "tuner",
            "reason": nasty,
            "evidence": {"imbalance": 1.9},
            "gain": 0.22 if at == 0 else None,
            "uncertainty": 0.03 if at == 0 else None,
            "pairs": 9,
        }
        for at, nasty in enumerate(samples.NASTY)
    ]
    browser = show(report)
    opening = (
        "document.querySelectorAll('#steering button[aria-expanded=false]').forEach(each => each.click())"
    )
    browser.run(opening)
    browser.settle()
    assert browser.complaints() == []
    text = browser.run("document.querySelector('#steering').textContent")
    assert f"1 kept, {len(samples.NASTY) - 1} tried" in text
    assert "threads 4 \u2192 3" in text
    assert "22.0 % \u00b1 3.0 %" in text.replace("\u202f", " ").replace("\u00a0", " ")
    assert "imbalance 1.9" in text
    assert browser.run("document.title").startswith("flow")


@pytest.mark.parametrize("width", [340, 1280])
def test_messages_are_a_matrix_and_a_table(show: Callable[..., Browser], width: int) -> None:
    report = samples.report()
    actions = [
        {"action": nasty, "count": 10, "bytes": 80, "sizes": [{"below": 16, "count": 10}]}
        for nasty in samples.NASTY
    ]
    pairs = [(sender, to) for sender in range(3) for to in range(3) if sender != to]
    report["network"] = {
        "parcels": 60,
        "messages": 20,
        "overhead": 0.25,
        "flows": [
            {
                "from": sender,
                "to": to,
                "bytes": 1024 * (sender + 1),
                "count": 10 * (to + 1),
                "actions": actions,
            }
            for sender, to in pairs
        ],
    }
    browser = show(report, width=width)
    browser.settle()
    assert browser.complaints() == []
    assert "network overhead 25.0 %" in browser.run("document.querySelector('#network .note').textContent")
    cells = "[...document.querySelectorAll('#network table')][0].querySelectorAll('td')"
    shown = browser.run(f"[...{cells}].map(each => each.textContent)")
    assert shown == ["", "1 KiB", "1 KiB", "2 KiB", "", "2 KiB", "3 KiB", "3 KiB", ""]
    assert browser.run(f"{cells}[1].style.background") != browser.run(f"{cells}[6].style.background")
    browser.run(
        "(select => { select.selectedIndex = 1; select.dispatchEvent(new Event('change')) })"
        "(document.querySelector('#network select'))"
    )
    assert browser.run(f"[...{cells}].map(each => each.textContent)")[1:3] == ["20", "30"]
    rows = "[...document.querySelectorAll('#network table')][1].querySelectorAll('tbody tr').length"
    assert browser.run(rows) == min(len(pairs) * len(samples.NASTY), 50)
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.title").startswith("flow")


CHOOSE = "(select => {{ select.value = '{}'; select.dispatchEvent(new Event('change')) }})(document.querySelector('.chooser select'))"
TEXTS = "[...document.querySelectorAll('{}')].map(each => each.textContent)"


def test_several_processes_are_shown_together_and_each_by_itself(show: Callable[..., Browser]) -> None:
    report = samples.two_ranks()
    browser = show(report)
    browser.run(OPEN_ALL)
    assert browser.run("[...document.querySelectorAll('section')].map(each => each.id)") == OF_SAMPLES
    assert browser.run("document.querySelectorAll('#processes tbody tr').length") == 3
    assert "node18" in browser.run("document.querySelector('#processes').textContent")
    assert "choose one" in browser.run("document.querySelector('#system').textContent")
    choices = browser.run("[...document.querySelectorAll('.chooser option')].map(each => each.value)")
    assert choices == ["", "7-0", "9-0", "8-0"]
    threads = len(report["lanes"])
    rows = "document.querySelectorAll('#system tbody tr').length"
    assert browser.run(rows) == threads
    browser.run("document.querySelector('#regions .opener').click()")
    assert browser.run("document.querySelectorAll('#regions .lanes .bar').length") == 8
    assert "Least, median and most over 2 processes" in browser.run(
        "document.querySelector('#regions .detail').textContent"
    )
    browser.run(CHOOSE.format("9-0"))
    browser.settle()
    browser.run(OPEN_ALL)
    assert browser.run(rows) == threads // 2
    assert "choose one" not in browser.run("document.querySelector('#system').textContent")
    assert browser.run("document.querySelectorAll('#system canvas').length") > 1
    browser.run("document.querySelector('#regions .opener').click()")
    assert browser.run("document.querySelectorAll('#regions .lanes .bar').length") == 4
    # The wall time of that process alone.
    assert set(
        browser.run(TEXTS.format("#regions > .sheet > .wide > table > tbody > tr > td:nth-child(3)"))
    ) == {
        "125 ms",
        "",
    } - {""}
    assert browser.run("document.querySelectorAll('.card').length") == 1
    browser.run(CHOOSE.format(""))
    browser.settle()
    assert browser.run("document.querySelectorAll('.card').length") == 2
    assert browser.complaints() == []


def test_a_process_is_chosen_from_the_table_and_charts_still_zoom(show: Callable[..., Browser]) -> None:
    browser = show(samples.two_ranks())
    browser.run("document.querySelector('#processes .link').click()")
    browser.settle()
    assert browser.run("document.querySelector('.chooser select').value") == "7-0"
    browser.run("document.querySelector('#over-time .tools button[aria-label=\"Zoom in\"]').click()")
    assert browser.run("document.querySelector('#over-time [role=status]').textContent") != ""
    browser.run("document.querySelector('.theme').click()")
    browser.settle()
    assert browser.printed().startswith(b"%PDF")
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [340, 1280])
def test_processes_are_no_wider_than_the_window(show: Callable[..., Browser], width: int) -> None:
    browser = show(samples.two_ranks(), width=width)
    browser.run(OPEN_ALL)
    browser.run("document.querySelector('#regions .opener').click()")
    browser.settle()
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []
