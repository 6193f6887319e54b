"""Run directories with something wrong in them, as damage or an attacker would leave it: made up from a seed."""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from synthetic import (
    NO,
    LaneFile,
    ProcessFiles,
    S,
    SchedulerFiles,
    counter,
    decision,
    early_sample,
    event,
    fact,
    knob,
    module,
    policy,
    row,
    subject,
    team_of,
    unavailable,
    write_run,
)
from trimtab.model.enumerations import (
    EventKind,
    Metric,
    NameTag,
    Outcome,
    SubjectKind,
    TaskFlags,
    WaitCause,
    WaitKind,
    WorkerState,
)
from trimtab.readers import layout

GOLDEN = Path(__file__).parents[1] / "golden"
HOSTILE_TEXTS = (
    "\x1b[2J\x1b]0;title\x07",
    "\u202egnp.exe",
    "a\u2066b\u2069\u200b\ufeff",
    "[/bold][link=file:///etc/passwd]x[/",
    "line\nown cost 0 %\r",
    "\x9b31m\x00\x7f",
    "</script><img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
    "x" * 5000,
    "",
)
_NUMBERS = (
    *(0, 1, 2, 3, 7, 255, 4095, 4096, 65535, 65536, 0xFFFFFFFF, 1 << 32, 1 << 40, 1 << 62, (1 << 63) - 1),
    *(1 << 63, (1 << 64) - 1),
)
_DOUBLES = (float("nan"), float("inf"), float("-inf"), -1.0, 5e-324, 1.7e308, -1.7e308, 0.0)
# Texts, as JSON: what Python would not write is among them.
_JSON_VALUES = (
    *("null", "true", "[]", "{}", '""', "0", "-1", "1e308", "1e999", "NaN", "-Infinity", "0.5", "9" * 400),
    *("9" * 5000, '"\\ud800"', '"\\u001b[31m"', "[[[[[[]]]]]]", '{"a": {"a": {"a": 1}}}', "[1, 2, 3]"),
    *('["\\u202e", 5, null]', '{"what": 1}', '[{"what": "a", "why": "b", "remedy": "c"}]', '"x" "y"', "1 2"),
    *("[" * 3000, '{"mode": 5}', '{"mode": "on", "start_values": [{"name": 1}]}', str(1 << 63), "-1e-400"),
)
# Bytes of a record by the beginning of the file's name.
_RECORDS = {
    "charges": layout.SCHEDULER_CHARGE.itemsize,
    "counters": layout.SAMPLE.itemsize,
    "decisions": layout.DECISION.itemsize,
    "lane-0": layout.EVENT.itemsize,
    "switches": layout.EVENT.itemsize,
}


def bases(folder: Path) -> list[Path]:
    """Small runs that have something of everything."""
    golden = folder / "golden"
    shutil.copytree(GOLDEN, golden)
    loops = [
        LaneFile(
            [
                *team_of(1, 5.0, [5.0, 3.0]),
                row(3, Metric.LOOP, 4 * S, description=1, count=5, x=(2, 3, 100, 0), in_region=1),
                row(2, Metric.WAIT, S, count=5, in_region=1),
            ],
            [
                event(S, EventKind.REGION_BEGIN, 1, a=7, arg=1),
                event(S, EventKind.WORK_BEGIN, 1, a=7),
                event(2 * S, EventKind.WORK_END, 1, a=7),
                event(3 * S, EventKind.REGION_END, 1, a=7, arg=1),
            ],
            run_s=9.0,
        ),
        LaneFile(
            events=[
                event(S, EventKind.WORK_BEGIN, 1, a=7, b=1),
                event(S, EventKind.WAIT, 2, a=5, b=7, arg=WaitKind.BARRIER),
                event(2 * S, EventKind.WORK_END, 1, a=7),
            ]
        ),
    ]
    names = [
        *(
            module(1, "/nowhere/app", "ab12"),
            subject(1, name="größer"),
            subject(2, SubjectKind.BARRIER, offset=0x40, module_number=1, call=1),
        ),
        *(
            subject(3, SubjectKind.LOOP, "loop", parent=1),
            counter(1, "load", "CPUs"),
            counter(2, "memory", "B"),
        ),
        *(knob(1, 3, "schedule", values="static,dynamic"), policy(1, "tuner")),
    ]
    changes = [
        decision(1.0, 1, 3, 1, (0, 1), Outcome.TRIAL, b"imbalance\0skew 1.5\0"),
        decision(2.0, 2, 3, 1, (0, 1), Outcome.KEPT, b"faster\0", (0.2, 0.05, 9)),
    ]
    samples = [(1.0, 1, 0.5), (2.0, 1, 1.5), (1.5, 2, 1e6)]
    program = write_run(
        folder / "loops", ProcessFiles(loops, names, samples, changes, parallel=5.0), ProcessFiles(pid=101)
    )
    rows = [
        row(1, Metric.WORKER, 4 * S, flags=WorkerState.RUNS, x=(4 * S, 0, 0, 0)),
        row(1, Metric.WORKER, 2 * S, flags=WorkerState.IDLE, x=(S, 8 * S, 3 * S, 0)),
        row(2, Metric.TASK, 3 * S, count=1000, flags=TaskFlags.COUNTED, x=(1000, 0, 3, 3 * S)),
        row(2, Metric.SUSPENDED, S, count=3, flags=WaitCause.FUTURE),
    ]
    events = [
        *(
            event(S, EventKind.WORKER_STATE, 1, arg=WorkerState.RUNS),
            event(S, EventKind.TASK_BEGIN, 2, a=1),
            event(2 * S, EventKind.TASK_SUSPENDED, 2, a=1, arg=WaitCause.FUTURE),
            event(2 * S, EventKind.WORKER_STATE, 1, arg=WorkerState.IDLE),
        ),
        *(
            event(3 * S, EventKind.EDGE, NO, a=2, b=1, arg=WaitCause.FUTURE),
            event(3 * S, EventKind.TASK_RESUMED, 2, a=1, b=S, arg=WaitCause.FUTURE),
            event(4 * S, EventKind.TASK_END, 2, a=1),
        ),
    ]
    workers = [
        LaneFile(run_s=1.0),
        LaneFile(rows, events, run_s=5.0, worker_of=2),
        LaneFile(rows, events[:1] + events[3:4], run_s=5.0, worker_of=2, capacity=2, written=6),
    ]
    named = [subject(1, SubjectKind.WORKERS, "runtime 1"), subject(2, SubjectKind.TASK, "stencil")]
    tasks = write_run(folder / "tasks", ProcessFiles(workers, named, parallel=8.0, ended=False))
    _scheduler().write(tasks)
    return [golden, program, tasks, _job(folder / "job"), _script(folder / "script")]


def _scheduler() -> SchedulerFiles:
    """The program, and another one that preempts it."""
    return SchedulerFiles(
        [
            {"pid": 100, "tid": 100, "flags": 1, "name": b"app", "program": b"app", "running_ns": S}
            | {"preempted_waits": 1, "preempted_ns": S, "longest_preempted_ns": S},
            {"pid": 7, "tid": 7, "name": b"hog", "program": b"hog", "running_ns": S},
        ],
        [{"waiter": 1, "other": 2, "kind": 2, "ns": S, "count": 1}],
        [{"thread": 1, "kind": 2, "longest_ns": S, "count": 1}],
        [
            {"time_ns": 6 * S, "thread": 1, "other": 2, "cpu": 3, "kind": 1, "can_run": 1},
            {"time_ns": 7 * S, "thread": 2, "other": 1, "cpu": 3, "kind": 1, "can_run": 1},
        ],
    )


def _script(folder: Path) -> Path:
    """Of a shell, whose programs are in the list of processes, and one that has a folder as well."""
    names = [
        fact("host", "node0"),
        fact("process start", "1234"),
        fact("cpus", "0-3"),
        counter(1, "minor page faults", "1"),
        early_sample(3.0, 1, 42.0),
        unavailable("energy", "no meter", "none"),
    ]
    script = write_run(
        folder, ProcessFiles([LaneFile([*team_of(1, 5.0, [5.0])])], [subject(1)], parallel=5.0)
    )
    (folder / "100-0").rename(folder / "node0-100-0")
    listed = [
        ProcessFiles(names=names, pid=90, command=b"sh\0-c\0:\0"),
        *(
            ProcessFiles(names=names, pid=pid, begin=pid / 100, wall=0.1, command=b"sed\0")
            for pid in range(101, 106)
        ),
        ProcessFiles(names=names, pid=103, begin=5.0, wall=0.1, state=3, command=b"awk\0"),
        ProcessFiles(names=names, pid=100),
        ProcessFiles(pid=107, ended=False),
    ]
    (folder / "node0.processes").write_bytes(b"".join(process.listed_page() for process in listed))
    return script


def _job(folder: Path) -> Path:
    """Of three ranks, one of which has not come."""
    usage = {"user_s": 1.0, "system_s": 0.5, "voluntary": 3, "involuntary": 4, "max_rss_kb": 1000}
    ended = {"real_ns": 9 * 10**18, "rusage": usage, "code": 0, "signal": None, "wall_s": 10.0, "mono_ns": 1}
    for rank in range(2):
        lanes = [LaneFile([*team_of(1, 5.0, [5.0, 3.0])], run_s=9.0), LaneFile()]
        description = {"rank": rank, "ended": ended, "machine": {"hostname": f"node{rank}"}}
        write_run(folder / f"rank-{rank}", ProcessFiles(lanes, [subject(1)], parallel=5.0), info=description)
        (folder / f"rank-{rank}" / "100-0").rename(folder / f"rank-{rank}" / f"node{rank}-100-0")
    description = {"ended": None, "job": {"launcher": "Open MPI", "id": "a", "size": 3}}
    return write_run(folder, info=description)


class Mutated:
    """A run in which things are changed, and which is whole again after `restore`."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self._contents = {path: path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}
        self._files = [path for path in self._contents if path.suffix != ".txt"]
        self._touched: set[Path] = set()
        self.did: list[str] = []

    def restore(self) -> None:
        """As it was."""
        for path in self._touched:
            if path.is_symlink() or not path.is_dir():
                path.unlink(missing_ok=True)
            else:
                shutil.rmtree(path)
            if path in self._contents:
                path.write_bytes(self._contents[path])
        self._touched.clear()
        self.did.clear()

    def mutate(self, chance: random.Random) -> None:
        """From one to four things."""
        for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
            change = chance.choices(_CHANGES, [weight for _, weight in _WEIGHTS])[0]
            path = chance.choice(self._files)
            self.did.append(f"{change.__name__}({path.name})")
            change(self, path, chance)

    def content(self, path: Path) -> bytearray:
        is_file = path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 20
        return bytearray(path.read_bytes() if is_file else self._contents[path])

    def write(self, path: Path, content: bytes) -> None:
        self._touched.add(path)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            self.clear(path)
        path.write_bytes(content)

    def clear(self, path: Path) -> None:
        self._touched.add(path)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def note(self, path: Path) -> None:
        """Something new, to be removed again."""
        self._touched.add(path)


def _begin_of_page(path: Path, content: bytearray, chance: random.Random) -> int:
    """Where one of the pages of a list of processes begins; 0 in other files."""
    if path.suffix != ".processes":
        return 0
    return layout.HEADER_BYTES * chance.randrange(max(len(content) // layout.HEADER_BYTES, 1))


def _flip_bits(of: Mutated, path: Path, chance: random.Random) -> None:
    content = of.content(path)
    for _ in range(chance.randrange(1, 12)):
        if content:
            begin = _begin_of_page(path, content, chance)
            place = chance.choice(
                (begin + chance.randrange(64), begin + chance.randrange(400), chance.randrange(len(content)))
            )
            content[place % len(content)] ^= 1 << chance.randrange(8)
    of.write(path, content)


def _set_field(of: Mutated, path: Path, chance: random.Random) -> None:
    """An odd number where a header or a record has one."""
    content = of.content(path)
    place = _begin_of_page(path, content, chance) + chance.choice(
        (8 * chance.randrange(36), 4096 + 4 * chance.randrange(160), 4096 + 2 * chance.randrange(40))
    )
    number = chance.choice(_NUMBERS)
    odd = chance.choice(
        (
            struct.pack("<Q", number),
            struct.pack("<I", number & 0xFFFFFFFF),
            struct.pack("<H", number & 0xFFFF),
            struct.pack("<d", chance.choice(_DOUBLES)),
        )
    )
    content[place : place + len(odd)] = odd
    of.write(path, content)


def _set_count(of: Mutated, path: Path, chance: random.Random) -> None:
    """Capacity, written, dropped or the size of a record."""
    content = of.content(path)
    at, form = chance.choice(((24, "<Q"), (32, "<Q"), (40, "<Q"), (20, "<I"), (12, "<I"), (16, "<I")))
    number = chance.choice((*_NUMBERS, chance.randrange(1 << 16))) & (
        0xFFFFFFFFFFFFFFFF if form == "<Q" else 0xFFFFFFFF
    )
    packed = struct.pack(form, number)
    at += _begin_of_page(path, content, chance)
    content[at : at + len(packed)] = packed
    of.write(path, content)


def _cut(of: Mutated, path: Path, chance: random.Random) -> None:
    content = of.content(path)
    of.write(path, content[: chance.randrange(len(content) + 1)])


def _extend(of: Mutated, path: Path, chance: random.Random) -> None:
    of.write(path, of.content(path) + chance.randbytes(chance.randrange(1, 5000)))


def _swap(of: Mutated, path: Path, chance: random.Random) -> None:
    other = chance.choice(of._files)
    first, second = of.content(path), of.content(other)
    of.write(path, second)
    of.write(other, first)


def _repeat_records(of: Mutated, path: Path, chance: random.Random) -> None:
    """The same records again and again, in any order, with counts that say so."""
    if path.suffix == ".processes":
        return _repeat_pages(of, path, chance)
    size = next((size for name, size in _RECORDS.items() if path.name.startswith(name)), 0)
    if path.name.endswith(".profile"):
        size = layout.ROW.itemsize
    content = of.content(path)
    records = (
        [bytes(content[at : at + size]) for at in range(4096, len(content) - size + 1, size)] if size else []
    )
    if not records:
        return _flip_bits(of, path, chance)
    overrides = chance.choices(records, k=chance.randrange(1, 40))
    counts = struct.pack("<QQ", len(overrides), len(overrides))
    content[24:40] = counts
    return of.write(path, bytes(content[:4096]) + b"".join(overrides))


def _repeat_pages(of: Mutated, path: Path, chance: random.Random) -> None:
    """The same pages again and again, withdrawn ones and parts of pages among them."""
    content, size = of.content(path), layout.HEADER_BYTES
    pages = [bytes(content[at : at + size]) for at in range(0, len(content), size)]
    pages += [bytes(size), chance.randbytes(size), b"".join(pages)[: chance.randrange(1, size)]]
    of.write(path, b"".join(chance.choices(pages, k=chance.randrange(1, 40))))


def _replace_kind(of: Mutated, path: Path, chance: random.Random) -> None:
    """Something that is no file, or no file of ours, or nothing."""
    of.clear(path)
    kind = chance.choice(("pipe", "zero", "folder", "nothing", "loop", "outside", "sparse", "empty"))
    if kind == "pipe":
        os.mkfifo(path)
    elif kind in ("zero", "loop", "outside"):
        path.symlink_to({"zero": "/dev/zero", "loop": path.name, "outside": "/etc/hostname"}[kind])
    elif kind == "folder":
        path.mkdir()
    elif kind == "sparse":
        content = of._contents[path]
        with path.open("wb") as stream:
            stream.write(content[:24] + struct.pack("<QQ", 1 << 33, 1 << 33) + content[40:4096])
            stream.truncate(1 << 40)
    elif kind == "empty":
        path.write_bytes(b"")


def _more_of_it(of: Mutated, path: Path, chance: random.Random) -> None:
    """A copy under another name that readers look for."""
    name = chance.choice(
        (
            "lane-0007.events",
            "lane-x.events",
            "lane-0009.profile",
            "counters.tt",
            "decisions.tt",
            "symbols.json",
            "node1.processes",
        )
    )
    new = path.parent / name
    if new not in of._contents:
        of.note(new)
        new.write_bytes(of.content(path))


def _another_process(of: Mutated, path: Path, chance: random.Random) -> None:
    name = chance.choice(
        ("1-0", "4294967295-9", "0-0", "9999999999-9999999999", "100-1", "00-00", "a.b-1-0", "rank-2")
    )
    new = of.run / name
    if not os.path.lexists(new):
        of.note(new)
        process = next((file.parent for file in of._files if file.parent != of.run), None)
        if process is None or chance.random() < 0.2:
            new.symlink_to("/etc")
        else:
            shutil.copytree(
                process,
                new,
                symlinks=True,
                ignore=lambda folder, names: [
                    one_name
                    for one_name in names
                    if not (Path(folder) / one_name).is_file()
                    or (Path(folder) / one_name).stat().st_size > 1 << 20
                ],
            )


def _hostile_name(of: Mutated, path: Path, chance: random.Random) -> None:
    """A text in names.tt or a header that a terminal, a page or a table would obey."""
    names = next((file for file in of._files if file.name == "names.tt"), path)
    content = of.content(names)
    text = chance.choice(HOSTILE_TEXTS).encode("utf-8", "surrogatepass")[:200] + b"\0"
    created = chance.choice(
        (module(1, "x"), subject(1), counter(1, "a", "b"), knob(1, 1, "k"), policy(1, "p"))
    )
    fixed = layout.NAME_LAYOUTS[NameTag(layout.NAME_HEAD.unpack_from(created)[1])].fields.size
    body = created[:fixed] + text * 3
    body += bytes(-len(body) % 8)
    record = struct.pack("<I", len(body)) + body[4:]
    (written,) = struct.unpack_from("<Q", content[32:40].ljust(8, b"\0"))
    if written < 4096 and len(content) >= 4096 + written + len(record):
        content[4096 + written : 4096 + written + len(record)] = record
        content[32:40] = struct.pack("<Q", written + len(record))
    of.write(names, content)


def _hostile_json(of: Mutated, path: Path, chance: random.Random) -> None:
    """A value, a key, or the text of a run.json."""
    info = chance.choice([file for file in of._files if file.name == "run.json"])
    try:
        parsed = json.loads(of._contents[info])
    except ValueError:
        return
    holder: Any = parsed
    for _ in range(chance.randrange(3)):
        lower = [entry for entry in holder.values() if isinstance(entry, dict) and entry]
        if not lower:
            break
        holder = chance.choice(lower)
    known_values = (
        *(
            "format",
            "program",
            "argv",
            "level",
            "started_real_ns",
            "machine",
            "unavailable",
            "ended",
            "steering",
            "job",
            "rank",
        ),
        *(
            "mono_ns",
            "code",
            "signal",
            "wall_s",
            "rusage",
            "user_s",
            "voluntary",
            "mode",
            "trimtab",
            "size",
            "real_ns",
        ),
    )
    key = chance.choice([*holder, *known_values])
    value = chance.choice((*_JSON_VALUES, json.dumps(chance.choice(HOSTILE_TEXTS))))
    holder[key] = "@@"
    text = json.dumps(parsed).replace('"@@"', value, 1)
    mode = chance.random()
    if mode < 0.1:
        text = text.replace("{", '{"format": 1, "format": 1, ', 1)
    elif mode < 0.2:
        text = text[: chance.randrange(len(text))]
    elif mode < 0.25:
        text = chance.choice(_JSON_VALUES)
    content = text.encode("utf-8", "surrogatepass")
    if chance.random() < 0.05:
        content = content.replace(b'"', b"\xff\xfe", 1)
    of.write(info, content)


_Change = Callable[[Mutated, Path, random.Random], None]
_WEIGHTS: list[tuple[_Change, int]] = [
    (_flip_bits, 4),
    (_set_field, 8),
    (_set_count, 3),
    (_cut, 2),
    (_extend, 1),
    (_swap, 1),
    (_repeat_records, 2),
    (_replace_kind, 2),
    (_more_of_it, 1),
    (_another_process, 1),
    (_hostile_name, 3),
    (_hostile_json, 4),
]
_CHANGES = [change for change, _ in _WEIGHTS]
