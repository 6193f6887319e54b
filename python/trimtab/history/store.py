"""The file: SQLite, one table. Every way in which it cannot be used is a HistoryError; nothing waits for long."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from trimtab.history.entry import Entry, HistoryError, Key
from trimtab.history.keys import restored, storable
from trimtab.history.method import current_method
from trimtab.paths import user_data_folder
from trimtab.whole_files import make_private_folder

# 1: without `method`; such a file is read as it is, and becomes one of today's version when something is remembered.
VERSION = 2
_FIRST_VERSION, _FIRST_METHOD = 1, 1
# "TRMT": tells our files from others' databases.
_APPLICATION = 0x54524D54
# A run must not be held up by another's: the writer's transactions take milliseconds.
_PATIENCE_S = 1.0
# A file from elsewhere may hold anything: an entry takes less than a thousand bytes, and a look-up less than a second.
_MOST_BYTES = 256 << 20
_MOST_TEXT_BYTES = 1 << 20
_STEPS, _MOST_STEPS = 1 << 20, 1 << 28
_YEAR_9999 = 253402300799.0
# What SQLite says, and what that is to a user.
_MESSAGES = {
    "locked": "locked by another process",
    "interrupted": "expected a history of trimtab, found a database that takes too long to read",
    "file is not a database": "expected a history of trimtab, found what is not a database",
    "readonly database": "cannot be written",
}
_TABLE = """
CREATE TABLE settings (
  id INTEGER PRIMARY KEY,
  build TEXT NOT NULL, subject TEXT NOT NULL, cpus TEXT NOT NULL, input TEXT NOT NULL, machine TEXT NOT NULL,
  name TEXT NOT NULL, program TEXT NOT NULL, knobs TEXT NOT NULL, policy TEXT NOT NULL, reason TEXT NOT NULL,
  gain REAL, spread REAL, pairs INTEGER NOT NULL, at REAL NOT NULL, run TEXT NOT NULL, method INTEGER NOT NULL,
  UNIQUE (build, subject, cpus, input, machine, method)
)
"""
_FIRST_COLUMNS = (
    "build, subject, cpus, input, machine, name, program, knobs, policy, reason, gain, spread, pairs, at, run"
)
_COLUMNS = f"{_FIRST_COLUMNS}, method"


def default_path() -> Path:
    """One history a user."""
    return user_data_folder() / "history.sqlite"


class History:
    """The history in one file. Made with its first entry; without a file there is nothing known."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def recall(self, key: Key) -> list[Entry]:
        """What is known under this key and was measured as today, by subject."""
        return [entry for entry in self._entries_of(key) if entry.is_usable]

    def outdated(self, key: Key) -> list[Entry]:
        """What was measured in another way than today and not found anew since, by subject. It is not used."""
        entries = self._entries_of(key)
        found_anew = {entry.subject for entry in entries if entry.is_usable}
        return [entry for entry in entries if not entry.is_usable and entry.subject not in found_anew]

    def _entries_of(self, key: Key) -> list[Entry]:
        clause = "WHERE build = ? AND cpus = ? AND input = ? AND machine = ? ORDER BY subject"
        return self._read(clause, (key.build, key.cpus, key.input_class, key.machine))

    def entries(self) -> list[Entry]:
        """Everything, the newest first."""
        return self._read("ORDER BY at DESC, id DESC", ())

    def remember(self, entries: Iterable[Entry]) -> None:
        """Add or replace: what was found last counts. What was measured in another way stays beside it."""
        places = ", ".join("?" * len(_COLUMNS.split(", ")))
        with self._open(is_writing=True) as database:
            _upgrade(database)
            for entry in entries:
                row = _row_of(entry)
                database.execute(
                    "DELETE FROM settings WHERE build = ? AND subject = ? AND cpus = ? AND input = ? AND machine = ? "
                    "AND method = ?",
                    (*row[:5], row[-1]),
                )
                database.execute(f"INSERT INTO settings ({_COLUMNS}) VALUES ({places})", row)

    def forget(self, numbers: Iterable[int] | None = None) -> int:
        """Remove entries by their ids, or all (None). Returns how many there were."""
        if not self._has_content():
            return 0
        with self._open(is_writing=True) as database:
            if numbers is None:
                return database.execute("DELETE FROM settings").rowcount
            return sum(
                database.execute("DELETE FROM settings WHERE id = ?", (number,)).rowcount
                for number in numbers
            )

    def check_writable(self) -> None:
        """Whether it could be written now: for whoever will only know much later what is to be kept. Changes nothing.

        Raises:
            HistoryError: it could not.
        """
        if self._has_content():
            with self._open(is_writing=True):
                return
        place = path = self.path.absolute()
        while not place.exists():
            place = place.parent
        if place != path and not place.is_dir():
            raise HistoryError(f"{self.path}: {place} is not a folder")
        if not os.access(place, os.W_OK if place == path else os.W_OK | os.X_OK):
            raise HistoryError(f"{self.path}: {place} cannot be written")

    def _has_content(self) -> bool:
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise HistoryError(f"{self.path}: {error.strerror}") from error
        if stat.S_ISDIR(status.st_mode):
            raise HistoryError(f"{self.path}: expected a file, found a folder")
        if not stat.S_ISREG(status.st_mode):
            raise HistoryError(f"{self.path}: expected a file, found a pipe or a device")
        if status.st_size > _MOST_BYTES:
            raise HistoryError(f"{self.path}: expected at most {_MOST_BYTES} bytes, found {status.st_size}")
        return status.st_size > 0

    def _read(self, clause: str, values: tuple[str, ...]) -> list[Entry]:
        if not self._has_content():
            return []
        with self._open(is_writing=False) as database:
            is_first = _version_of(database) == _FIRST_VERSION
            columns = f"{_FIRST_COLUMNS}, {_FIRST_METHOD}" if is_first else _COLUMNS
            return [
                self._entry_of(row)
                for row in database.execute(f"SELECT id, {columns} FROM settings {clause}", values)
            ]

    def _entry_of(self, row: tuple[object, ...]) -> Entry:
        number, build, subject, cpus, named, machine, name, program, knobs, policy, reason, *rest = row
        gain, spread, pairs, at, run, method = rest
        try:
            settings = json.loads(str(knobs))
            if not isinstance(settings, dict) or not all(
                isinstance(setting, str) for setting in settings.values()
            ):
                raise ValueError(f"expected texts by knob, found {knobs!r}")
            return Entry(
                Key(str(build), str(cpus), str(named), str(machine)),
                restored(str(subject)),
                str(name),
                str(program),
                settings,
                str(policy),
                str(reason),
                None if gain is None else _number(gain, 1e9),
                None if spread is None else _number(spread, 1e9),
                int(str(pairs)),
                _number(at, _YEAR_9999),
                str(run),
                int(str(number)),
                int(str(method)),
            )
        except (ValueError, RecursionError) as error:
            raise HistoryError(f"{self.path}: entry {number}: {error}") from error

    def _make_file(self) -> None:
        """Unless it is there. It holds arguments of programs: only this user may read it, unless the user says otherwise."""
        if not self.path.parent.is_dir():
            make_private_folder(self.path.parent)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))

    @contextlib.contextmanager
    def _open(self, *, is_writing: bool) -> Iterator[sqlite3.Connection]:
        """A transaction on a file that is ours."""
        try:
            if is_writing:
                self._make_file()
            mode = "rwc" if is_writing else "ro"
            database = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode={mode}",
                uri=True,
                timeout=_PATIENCE_S,
                isolation_level=None,
            )
            with contextlib.closing(database):
                _bound(database)
                # A writer takes the lock at once, so that two that begin together do not both make the table.
                database.execute("BEGIN IMMEDIATE" if is_writing else "BEGIN")
                self._check(database, is_writing)
                yield database
                database.execute("COMMIT")
        except sqlite3.Error as error:
            reason = next(
                (message for pattern, message in _MESSAGES.items() if pattern in str(error)), str(error)
            )
            if "unable to open" in reason:
                reason = "cannot be written" if is_writing else "cannot be read"
            raise HistoryError(f"{self.path}: {reason}") from error
        except OSError as error:
            raise HistoryError(f"{self.path}: {error.strerror or error}") from error

    def _check(self, database: sqlite3.Connection, is_writing: bool) -> None:
        (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables == 0 and is_writing:
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
            database.execute(f"PRAGMA user_version = {VERSION}")
            database.execute(_TABLE)
            return
        (application,) = database.execute("PRAGMA application_id").fetchone()
        version = _version_of(database)
        # Views and triggers would compute something of their own.
        others = "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')"
        if application != _APPLICATION or database.execute(others).fetchone() != (0,):
            raise HistoryError(f"{self.path}: expected a history of trimtab, found another database")
        if version not in (_FIRST_VERSION, VERSION):
            raise HistoryError(f"{self.path}: expected version {VERSION} of the history, found {version}")


def _version_of(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def _upgrade(database: sqlite3.Connection) -> None:
    """To the version of today, within the writer's transaction. Nothing is lost."""
    if _version_of(database) != _FIRST_VERSION:
        return
    database.execute("ALTER TABLE settings RENAME TO first_settings")
    database.execute(_TABLE)
    database.execute(
        f"INSERT INTO settings (id, {_COLUMNS}) SELECT id, {_FIRST_COLUMNS}, {_FIRST_METHOD} FROM first_settings"
    )
    database.execute("DROP TABLE first_settings")
    database.execute(f"PRAGMA user_version = {VERSION}")


def _bound(database: sqlite3.Connection) -> None:
    """Nothing in the file may compute for long, or call what it should not."""
    steps = 0

    def is_too_long() -> bool:
        nonlocal steps
        steps += _STEPS
        return steps > _MOST_STEPS

    database.set_progress_handler(is_too_long, _STEPS)
    database.execute("PRAGMA trusted_schema = OFF")
    if hasattr(database, "setlimit"):  # from Python 3.11 on
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_TEXT_BYTES)


def _number(value: object, largest: float) -> float:
    number = float(str(value))
    if not -largest <= number <= largest:
        raise ValueError(f"expected a number up to {largest:g}, found {value}")
    return number


def _row_of(entry: Entry) -> tuple[object, ...]:
    key = entry.key
    knobs = json.dumps(entry.settings, sort_keys=True)
    return (
        *(key.build, storable(entry.subject), key.cpus, key.input_class, key.machine),
        *(storable(text) for text in (entry.name, entry.program, knobs, entry.policy, entry.reason)),
        *(entry.gain, entry.spread, entry.pairs, entry.at, storable(entry.run)),
        current_method(entry.settings),
    )
