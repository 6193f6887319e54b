"""What all runs together say: an item for how the program ended, for each of its outputs and for each file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trimtab.answer_check.binaries import compare_arrays, compare_bytes
from trimtab.answer_check.compare import DIFFERS, ITSELF, SAME, Compared, Place, Rules, worst
from trimtab.answer_check.sides import Ran
from trimtab.answer_check.texts import compare_texts

# From this size on a text is compared byte by byte: line by line it would need many times its size of memory.
_MOST_TEXT = 256 << 20
_LOOKED_AT = 1 << 16
_NOT_COMPARED = Compared(ITSELF, by_itself=1, is_unchecked=True)
_STREAMS = ("standard output", "standard error")


@dataclass(frozen=True)
class Item:
    """One thing that was compared: how much of it the sides have, and what came of it.

    `compared` is of the tuned run that differs most of `runs`, `differing` says how many differ.
    """

    what: str
    plain: str
    tuned: str
    compared: Compared
    differing: int
    runs: int

    def as_json(self) -> dict[str, Any]:
        """What is no finite number is null."""
        found = self.compared
        gap = {"relative": found.gap.relative, "absolute": found.gap.absolute}
        return {
            "what": self.what,
            "plain": self.plain,
            "tuned": self.tuned,
            "verdict": found.verdict,
            "largest_difference": {name: each if math.isfinite(each) else None for name, each in gap.items()},
            "differing_runs": self.differing,
            "tuned_runs": self.runs,
            "differences": found.differences,
            "places": [vars(place) for place in found.places],
            "by_itself": found.by_itself,
            "first_by_itself": found.first_by_itself,
            "is_unchecked": found.is_unchecked,
            "hint": found.hint or None,
        }


def judge(plain: Sequence[Ran], tuned: Sequence[Ran], rules: Rules, is_stderr: bool) -> list[Item]:
    """Everything that the runs have."""
    streams = {
        _STREAMS[0]: ([each.stdout for each in plain], [each.stdout for each in tuned]),
        _STREAMS[1]: ([each.stderr for each in plain], [each.stderr for each in tuned]),
    }
    if not is_stderr:
        del streams[_STREAMS[1]]
    items = [_end(plain, tuned)]
    items += [_contents(what, *sides, None, rules) for what, sides in streams.items()]
    names = {name: each.kind for ran in (*plain, *tuned) for name, each in ran.files.items()}
    # Names with the time or a process number in them: those of a tuned run are others, too.
    is_free = len({frozenset(ran.files) for ran in plain}) > 1
    known = {name for ran in plain for name in ran.files}
    for name in sorted(names):
        if is_free and name not in known:
            there = [_path(ran, name) for ran in tuned]
            items.append(_merged(name, "not written", _sizes(there), [_NOT_COMPARED]))
        else:
            before, after = ([_path(ran, name) for ran in side] for side in (plain, tuned))
            items.append(_file(name, names[name], before, after, rules))
    return items


def _path(ran: Ran, name: str) -> Path | None:
    return ran.files[name].path if name in ran.files else None


def _merged(what: str, plain: str, tuned: str, compared: Sequence[Compared]) -> Item:
    verdict = worst(each.verdict for each in compared)
    found = next(each for each in compared if each.verdict == verdict)
    for each in compared:
        found = replace(found, gap=found.gap | each.gap, by_itself=max(found.by_itself, each.by_itself))
    return Item(what, plain, tuned, found, sum(each.verdict == DIFFERS for each in compared), len(compared))


def _end(plain: Sequence[Ran], tuned: Sequence[Ran]) -> Item:
    known = {each.end for each in plain}
    compared = []
    for number, each in enumerate(tuned, 1):
        if each.end in known:
            compared.append(Compared(SAME if len(known) == 1 else ITSELF, by_itself=len(known) - 1))
        elif len(known) > 1 and not each.is_killed:
            compared.append(Compared(ITSELF, by_itself=1))
        else:
            place = Place("run", number, _listed([run.end for run in plain]), each.end)
            compared.append(Compared(DIFFERS, places=(place,), differences=1))
    return _merged(
        "end", _listed([each.end for each in plain]), _listed([each.end for each in tuned]), compared
    )


def _listed(texts: Sequence[str]) -> str:
    return " or ".join(dict.fromkeys(texts))


def _file(
    name: str, kind: str | None, plain: Sequence[Path | None], tuned: Sequence[Path | None], rules: Rules
) -> Item:
    there = [each for each in plain if each is not None]
    found = [each for each in tuned if each is not None]
    is_sometimes = 0 < len(there) < len(plain)
    if not is_sometimes and len(found) == (len(tuned) if there else 0):
        return _contents(name, there, found, kind, rules)
    if is_sometimes:
        item = _contents(name, there, found, kind, rules) if found else None
        if item is not None and item.compared.verdict == DIFFERS:
            return item
        compared = [_NOT_COMPARED] * len(tuned)
    else:
        compared = [_presence(number, bool(there), each is not None) for number, each in enumerate(tuned, 1)]
    return _merged(name, _sizes(plain), _sizes(tuned), compared)


def _presence(number: int, is_expected: bool, is_there: bool) -> Compared:
    if is_expected == is_there:
        return Compared(SAME)
    words = {True: "written", False: "not written"}
    return Compared(
        DIFFERS, places=(Place("run", number, words[is_expected], words[is_there]),), differences=1
    )


def _contents(
    what: str, plain: Sequence[Path], tuned: Sequence[Path], kind: str | None, rules: Rules
) -> Item:
    if kind is not None:
        compared = [compare_arrays(plain, each, kind, rules) for each in tuned]
    elif all(map(_is_text, (*plain, *tuned))):
        texts, found = [each.read_bytes() for each in plain], [each.read_bytes() for each in tuned]
        judged = {text: compare_texts(texts, text, rules) for text in dict.fromkeys(found)}
        compared = [judged[text] for text in found]
    else:
        compared = [compare_bytes(plain, each) for each in tuned]
    return _merged(what, _sizes(plain), _sizes(tuned), compared)


def _is_text(path: Path) -> bool:
    with path.open("rb") as file:
        return b"\0" not in file.read(_LOOKED_AT) and path.stat().st_size <= _MOST_TEXT


def _sizes(paths: Sequence[Path | None]) -> str:
    """How much there is, from the least to the most."""
    sizes = sorted({path.stat().st_size for path in paths if path is not None})
    if not sizes:
        return "not written"
    text = f"{sizes[0]} bytes" if len(sizes) == 1 else f"{sizes[0]} .. {sizes[-1]} bytes"
    return text if None not in paths else f"not written or {text}"
