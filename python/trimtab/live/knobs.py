"""Knobs of a running program: what they are, and how a user turns one (docs/reference/run-directory.md, knobs.tt)."""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trimtab.live.mapped import LiveFile
from trimtab.live.model import KnobLook
from trimtab.model import Knob, Records, RunError
from trimtab.model.enumerations import KnobAnswer, KnobFlags, KnobRequest
from trimtab.readers import layout
from trimtab.whole_files import why_not_private

PATIENCE_S = 5.0
_LOOK_S = 0.005
_SLOT = layout.KNOB_SLOT
_VALUE = struct.Struct("<qI")
# Of this machine, which copies 8 bytes at once; "<Q" would store one after the other.
_NUMBER = struct.Struct("@Q")

ANSWERS: dict[int, str] = {
    KnobAnswer.DONE: "done",
    KnobAnswer.OUTSIDE_DOMAIN: "the knob cannot have this value",
    KnobAnswer.WITHOUT_CONSENT: "the knob may change the program's results, and needs consent when the program starts",
    KnobAnswer.NO_CHANGE: "nothing to change: the knob has this value already, or nothing was set by hand",
    KnobAnswer.NOT_APPLIED: "the program could not take the value",
    KnobAnswer.SUBJECT_GONE: "the subject has ended, or the program turns this knob itself",
    KnobAnswer.REFUSED: "steering does not turn this knob any more",
}


class NotTurned(Exception):
    """A knob was not turned, and why."""


def knob_files(folder: Path) -> list[Path]:
    """Files of the knobs of a process's engines."""
    try:
        return sorted(folder.glob("knobs*.tt"))
    except OSError:
        return []


@dataclass(frozen=True)
class Slot:
    """A knob's place, and what it may be set to."""

    path: Path
    place: int
    knob: Knob
    look: KnobLook
    least: int
    most: int

    def value_of(self, text: str) -> int:
        """A value in words as the program has it.

        Raises:
            NotTurned: it cannot be.
        """
        if self.knob.names:
            if text in self.knob.names:
                return self.knob.names.index(text)
            raise NotTurned(f"{self.look.name}={text}: expected one of {', '.join(self.look.values)}")
        try:
            value = int(text)
        except ValueError:
            value = None
        is_whole = len(self.look.values) == self.look.value_count
        is_known = value is not None and (str(value) in self.look.values or not is_whole)
        if value is None or not is_known or not self.least <= value <= self.most:
            expected = (
                f"one of {', '.join(self.look.values)}" if is_whole else f"from {self.least} to {self.most}"
            )
            raise NotTurned(f"{self.look.name}={text}: expected {expected}")
        return value


class KnobFile:
    """The knobs of one engine of a process.

    Attributes:
        slots: those of the last look.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.slots: list[Slot] = []
        self._file = LiveFile(path, "knobs")
        self._seen = b""

    def look(
        self, process: str, knobs: Mapping[int, Knob], label_of: Callable[[int], str], is_running: bool
    ) -> list[KnobLook]:
        """All of them.

        Raises:
            RunError: the file is damaged.
        """
        if not self._file.look():
            return []
        records = self._file.records(0, self._file.written)
        seen = records.tobytes() + bytes([is_running])
        # Most looks find them as they were.
        if seen != self._seen:
            self._seen = seen
            self.slots = []
            for place, record in enumerate(records):
                knob = knobs.get(int(record["knob"]))
                if knob is not None:
                    self.slots.append(self._slot(process, place, record, knob, label_of, is_running))
        return [slot.look for slot in self.slots]

    def _slot(
        self,
        process: str,
        place: int,
        record: Records,
        knob: Knob,
        label_of: Callable[[int], str],
        is_running: bool,
    ) -> Slot:
        flags = int(record["flags"])
        values = bytes(record["text"]).split(b"\0", 1)[0].decode("utf-8", "replace").split()
        in_force = int(record["in_force"])
        look = KnobLook(
            process,
            f"{label_of(int(record['subject']))}/{knob.name}",
            knob.text_of(in_force),
            tuple(values),
            int(record["values"]),
            in_force != int(record["accepted"]),
            bool(flags & KnobFlags.BY_HAND),
            is_running and not flags & (KnobFlags.GONE | KnobFlags.NEEDS_CONSENT),
        )
        return Slot(self.path, place, knob, look, int(record["least"]), int(record["most"]))


def turn(slot: Slot, text: str | None, is_running: Callable[[], bool], patience_s: float = PATIENCE_S) -> str:
    """Set a knob, or (None) undo what was set by hand; what became of it in words.

    Raises:
        NotTurned: it was refused, or the program did not answer.
        RunError: the file cannot be written.
    """
    request = KnobRequest.UNDO if text is None else KnobRequest.SET
    value = 0 if text is None else slot.value_of(text)
    with _opened(slot.path) as shared:
        base = layout.HEADER_BYTES + slot.place * _SLOT.itemsize
        if base + _SLOT.itemsize > len(shared):
            raise RunError(f"{slot.path}: expected a knob at byte {base}, found {len(shared)} bytes")

        def at(field: str) -> int:
            return base + layout.offset_of(_SLOT, field)

        (number,) = _NUMBER.unpack_from(shared, at("request_number"))
        _VALUE.pack_into(shared, at("request_value"), value, request)
        # The number last: one aligned store, which the program reads with acquire order.
        number = (number + 1) % (1 << 64)
        _NUMBER.pack_into(shared, at("request_number"), number)
        deadline = time.monotonic() + patience_s
        while _NUMBER.unpack_from(shared, at("answered_number"))[0] != number:
            if not is_running():
                raise NotTurned(f"{slot.look.name}: the program ended before it could answer")
            if time.monotonic() > deadline:
                raise NotTurned(
                    f"{slot.look.name}: the program has not answered for {patience_s:g} s: it is stopped, or its steering "
                    "has ended; the change is made if it goes on"
                )
            time.sleep(_LOOK_S)
        (answer,) = struct.unpack_from("<I", shared, at("answer"))
    if answer != KnobAnswer.DONE:
        raise NotTurned(f"{slot.look.name}: {ANSWERS.get(answer, f'answer {answer}')}")
    return f"{slot.look.name}: {'undone' if text is None else f'{slot.look.value} -> {text}, set by hand'}"


@contextmanager
def _opened(path: Path) -> Iterator[mmap.mmap]:
    """The file for writing, alone: it must be this user's and no link.

    Raises:
        RunError: it is not, or another process turns a knob.
    """
    try:
        opened = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise RunError(
            f"{path}: {error.strerror}: a knob can be turned by the program's own user only"
        ) from error
    try:
        if why := why_not_private(os.fstat(opened)):
            raise RunError(f"{path}: {why}: a knob can be turned by the program's own user only")
        fcntl.flock(opened, fcntl.LOCK_EX)
        with mmap.mmap(opened, os.fstat(opened).st_size) as shared:
            yield shared
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: {error}") from error
    finally:
        os.close(opened)
