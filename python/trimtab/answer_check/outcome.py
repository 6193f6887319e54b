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
        items = self.compared
        gap = {"relative": items.gap.relative, "absolute": items.gap.absolute}
        return {
            "what": self.what,
            "plain": self.plain,
            "tuned": self.tuned,
            "verdict": items.verdict,
            "largest_difference": {
                name: gap_value if math.isfinite(gap_value) else None for name, gap_value in gap.items()
            },
            "differing_runs": self.differing,
            "tuned_runs": self.runs,
            "differences": items.differences,
            "places": [vars(place) for place in items.places],
            "by_itself": items.by_itself,
            "first_by_itself": items.first_by_itself,
            "is_unchecked": items.is_unchecked,
            "hint": items.hint or None,
        }


def judge(plain: Sequence[Ran], tuned: Sequence[Ran], rules: Rules, is_stderr: bool) -> list[Item]:
    """Everything that the runs have."""
    streams = {
        _STREAMS[0]: ([run.stdout for run in plain], [run.stdout for run in tuned]),
        _STREAMS[1]: ([run.stderr for run in plain], [run.stderr for run in tuned]),
    }
    if not is_stderr:
        del streams[_STREAMS[1]]
    items = [_end(plain, tuned)]
    items += [_contents(stream_name, *sides, None, rules) for stream_name, sides in streams.items()]
    names = {name: file.kind for ran in (*plain, *tuned) for name, file in ran.files.items()}
    # Names with the time or a process number in them: those of a tuned run are others, too.
    is_free = len({frozenset(ran.files) for ran in plain}) > 1
    plain_names = {name for ran in plain for name in ran.files}
    for name in sorted(names):
        if is_free and name not in plain_names:
            tuned_paths = [_path(ran, name) for ran in tuned]
            items.append(_merged(name, "not written", _sizes(tuned_paths), [_NOT_COMPARED]))
        else:
            before, after = ([_path(ran, name) for ran in side] for side in (plain, tuned))
            items.append(_file(name, names[name], before, after, rules))
    return items


def _path(ran: Ran, name: str) -> Path | None:
    return ran.files[name].path if name in ran.files else None


def _merged(item_name: str, plain: str, tuned: str, compared: Sequence[Compared]) -> Item:
    verdict = worst(one_compared.verdict for one_compared in compared)
    worst_compared = next(one_compared for one_compared in compared if one_compared.verdict == verdict)
    for one_compared in compared:
        worst_compared = replace(
            worst_compared,
            gap=worst_compared.gap | one_compared.gap,
            by_itself=max(worst_compared.by_itself, one_compared.by_itself),
        )
    return Item(
        item_name,
        plain,
        tuned,
        worst_compared,
        sum(one_compared.verdict == DIFFERS for one_compared in compared),
        len(compared),
    )


def _end(plain: Sequence[Ran], tuned: Sequence[Ran]) -> Item:
    plain_ends = {run.end for run in plain}
    compared = []
    for number, run in enumerate(tuned, 1):
        if run.end in plain_ends:
            compared.append(Compared(SAME if len(plain_ends) == 1 else ITSELF, by_itself=len(plain_ends) - 1))
        elif len(plain_ends) > 1 and not run.is_killed:
            compared.append(Compared(ITSELF, by_itself=1))
        else:
            place = Place("run", number, _listed([run.end for run in plain]), run.end)
            compared.append(Compared(DIFFERS, places=(place,), differences=1))
    return _merged("end", _listed([run.end for run in plain]), _listed([run.end for run in tuned]), compared)


def _listed(texts: Sequence[str]) -> str:
    return " or ".join(dict.fromkeys(texts))


def _file(
    name: str, kind: str | None, plain: Sequence[Path | None], tuned: Sequence[Path | None], rules: Rules
) -> Item:
    plain_paths = [path for path in plain if path is not None]
    tuned_paths = [path for path in tuned if path is not None]
    is_sometimes = 0 < len(plain_paths) < len(plain)
    if not is_sometimes and len(tuned_paths) == (len(tuned) if plain_paths else 0):
        return _contents(name, plain_paths, tuned_paths, kind, rules)
    if is_sometimes:
        item = _contents(name, plain_paths, tuned_paths, kind, rules) if tuned_paths else None
        if item is not None and item.compared.verdict == DIFFERS:
            return item
        compared = [_NOT_COMPARED] * len(tuned)
    else:
        compared = [
            _presence(number, bool(plain_paths), path is not None) for number, path in enumerate(tuned, 1)
        ]
    return _merged(name, _sizes(plain), _sizes(tuned), compared)


def _presence(number: int, is_expected: bool, is_present: bool) -> Compared:
    if is_expected == is_present:
        return Compared(SAME)
    words = {True: "written", False: "not written"}
    return Compared(
        DIFFERS, places=(Place("run", number, words[is_expected], words[is_present]),), differences=1
    )


def _contents(
    item_name: str, plain: Sequence[Path], tuned: Sequence[Path], kind: str | None, rules: Rules
) -> Item:
    if kind is not None:
        compared = [compare_arrays(plain, tuned_path, kind, rules) for tuned_path in tuned]
    elif all(map(_is_text, (*plain, *tuned))):
        texts, tuned_texts = [path.read_bytes() for path in plain], [path.read_bytes() for path in tuned]
        judged = {text: compare_texts(texts, text, rules) for text in dict.fromkeys(tuned_texts)}
        compared = [judged[text] for text in tuned_texts]
    else:
        compared = [compare_bytes(plain, tuned_path) for tuned_path in tuned]
    return _merged(item_name, _sizes(plain), _sizes(tuned), compared)


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
