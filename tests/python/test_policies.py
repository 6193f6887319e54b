"""Policies of the user's: what they are shown, what they answer, and what becomes of errors; without a program."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from trimtab.policies import EVENTS, Event, Policy, Proposal
from trimtab.policies.exchange import (
    ExchangeError,
    answer_text,
    failure_text,
    read_snapshot,
    when_line,
)
from trimtab.policies.host import Host

SNAPSHOT = "policy-snapshot.json"
ANSWER = "policy-answer.txt"


def snapshot(number: int = 1, **overrides: Any) -> str:
    knob = {
        "name": "schedule",
        "is_ordered": False,
        "needs_consent": False,
        "initial": "as-written",
        "in_force": "fac2",
        "accepted": "as-written",
        "values": ["as-written", "fac2"],
    }
    subject = {
        "id": 17,
        "name": "a.c:3",
        "key": "abc+0x1/dynamic,1/100",
        "since": 4,
        "is_others": False,
        "has_level": True,
        "figures": {"imbalance": 1.5},
        "knobs": [knob],
        "measured": [[3, 2e-6, 0.1], [4, 1e-6, 0.05]],
    }
    return json.dumps(
        {
            "format": 1,
            "number": number,
            "time_s": 1.5,
            "is_last": False,
            "budget_left_s": 0.1,
            "has_consent": False,
            "figures": {},
            "events": [{"name": "drifted", "subject": 17, "value": 1.5}],
            "subjects": [subject],
            **overrides,
        }
    )


def kept(folder: Path, text: str) -> Path:
    """As the library leaves it in the folder of a process."""
    (folder / SNAPSHOT).write_text(text)
    return folder / SNAPSHOT


def test_a_snapshot_is_read(tmp_path: Path) -> None:
    now = read_snapshot(kept(tmp_path, snapshot()))
    (loop,) = now.subjects
    assert (now.time_s, loop.id, loop.knobs["schedule"].in_force) == (1.5, 17, "fac2")
    assert loop.measured_now() == [1e-6], "only what is of the values in force"
    assert loop.knobs["schedule"].values == ("as-written", "fac2")
    assert now.events == (Event("drifted", 17, 1.5),)
    with pytest.raises(ExchangeError, match="format 2, expected 1"):
        read_snapshot(kept(tmp_path, snapshot(format=2)))


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": 1}', snapshot(subjects=[5]), snapshot(events=[{"a": 1}])]
)
def test_what_is_no_snapshot_is_refused_by_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(ExchangeError, match=SNAPSHOT):
        read_snapshot(kept(tmp_path, text))


def test_proposals_are_lines_of_words(tmp_path: Path) -> None:
    (loop,) = read_snapshot(kept(tmp_path, snapshot())).subjects
    created = [
        loop.trial("50 %, they say", schedule="fac2", chunk=8),
        loop.keep(""),
        loop.undo("no"),
        loop.set("x"),
    ]
    assert answer_text(7, created).splitlines() == [
        "trimtab-proposals 1 7",
        "trial 17 50%20%25%2C%20they%20say schedule%3Dfac2 chunk%3D8",
        "kept 17 -",
        "undone 17 no",
        "set 17 x",
    ]
    with pytest.raises(ExchangeError, match="proposed 3, expected"):
        answer_text(1, [3])  # type: ignore[list-item]
    assert failure_text(2, "a b") == "trimtab-proposals 1 2\nfailed a%20b\n"
    assert isinstance(created[0], Proposal)


def policy_when(**attributes: Any) -> type[Policy]:
    return type("Mine", (Policy,), attributes)


def test_a_policy_says_when_it_is_called() -> None:
    assert when_line(policy_when()) == ""
    assert when_line(policy_when(period_s=2)) == "when 2"
    assert when_line(policy_when(events=("appeared", "cpus"))) == "when 0.1 appeared cpus"
    assert when_line(policy_when(period_s=None, events=("drifted",))) == "when - drifted"


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ({"events": ("bell",)}, r"events = \('bell',\), expected some of appeared, gone, "),
        ({"events": "appeared"}, "in a tuple"),
        ({"period_s": None}, "without events: it would never be called"),
        ({"period_s": 0}, "period_s = 0, expected None or seconds from 0.02 to 3600"),
        ({"period_s": "1"}, "period_s = '1'"),
        ({"period_s": float("nan")}, "period_s = nan"),
    ],
)
def test_a_policy_that_asks_for_what_there_is_not_is_told(attributes: dict[str, Any], why: str) -> None:
    with pytest.raises(ExchangeError, match=why):
        when_line(policy_when(**attributes))


def test_events_are_those_of_the_library() -> None:
    header = Path(__file__).parent.parent.parent / "rooms/steer/include/trimtab/steer/event_source.hpp"
    result = re.findall(r'string_view \w+ = "(\w+)";', header.read_text(encoding="utf-8"))
    assert tuple(result) == EVENTS


HEAD = "from trimtab.policies import Policy\n"


def answers(tmp_path: Path, text: str, numbers: tuple[int, ...] = (1,)) -> list[str]:
    policy = tmp_path / "mine.py"
    policy.write_text(HEAD + text, encoding="utf-8")
    process = tmp_path / "run" / "77-0"
    process.mkdir(parents=True)
    host = Host(policy, tmp_path / "run")
    result = []
    for number in numbers:
        (process / SNAPSHOT).write_text(snapshot(number), encoding="utf-8")
        host.look()
        result.append((process / ANSWER).read_text(encoding="utf-8"))
    return result


def test_each_snapshot_is_answered_once(tmp_path: Path) -> None:
    text = (
        "class Mine(Policy):\n    count = 0\n    def observe(self, now):\n        self.count += 1\n"
        "        return [each.trial(str(self.count), schedule='fac2') for each in now.subjects]\n"
    )
    first, equal, next_one = answers(tmp_path, text, (1, 1, 2))
    assert first == equal == "trimtab-proposals 1 1\ntrial 17 1 schedule%3Dfac2\n"
    assert next_one == "trimtab-proposals 1 2\ntrial 17 2 schedule%3Dfac2\n"


def test_each_engine_of_a_process_has_a_policy_of_its_own(tmp_path: Path) -> None:
    policy = tmp_path / "mine.py"
    text = "class Mine(Policy):\n    count = 0\n    def observe(self, now):\n        self.count += 1\n"
    policy.write_text(f"{HEAD}{text}        return [now.subjects[0].undo(str(self.count))]\n")
    process = tmp_path / "run" / "77-0"
    process.mkdir(parents=True)
    host = Host(policy, tmp_path / "run")
    for number in (1, 2):
        (process / SNAPSHOT).write_text(snapshot(number))
        host.look()
    (process / "policy-snapshot-runtime-1.json").write_text(snapshot(5))
    host.look()
    assert (process / ANSWER).read_text() == "trimtab-proposals 1 2\nundone 17 2\n"
    assert (process / "policy-answer-runtime-1.txt").read_text() == "trimtab-proposals 1 5\nundone 17 1\n"


def test_each_answer_says_when_the_next_call_is_to_be(tmp_path: Path) -> None:
    text = "class Mine(Policy):\n    period_s = None\n    events = ('gone',)\n    def observe(self, now): return []\n"
    assert answers(tmp_path, text) == ["trimtab-proposals 1 1\nwhen - gone\n"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "class Mine(Policy):\n    events = ('bell',)\n    def observe(self, now): ...\n",
            "expected%20some%20of",
        ),
        ("class Mine(Policy):\n    def observe(self, now):\n        1 / 0\n", "raised%20ZeroDivisionError"),
        ("class Mine(Policy):\n    pass\n", "raised%20TypeError"),
        ("import no_such_module\n", "raised%20ModuleNotFoundError"),
        ("", "expected%20one%20class%20derived%20from%20Policy%2C%20found%200"),
        ("class A(Policy): ...\nclass B(Policy): ...\n", "found%202"),
        ("raise SystemExit(1)\n", "raised%20SystemExit"),
    ],
)
def test_the_first_error_is_the_last(tmp_path: Path, text: str, why: str) -> None:
    for number, answer in enumerate(answers(tmp_path, text, (1, 2)), 1):
        head, failed = answer.splitlines()
        assert head == f"trimtab-proposals 1 {number}"
        assert failed.startswith("failed ") and why in failed
