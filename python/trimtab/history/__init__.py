"""What earlier runs found: settings by build, subject, CPUs, input class and machine; one SQLite file a user."""

from trimtab.history.entry import Entry, HistoryError, Key
from trimtab.history.keys import build_of, input_class_of, machine_of
from trimtab.history.learn import entries_of
from trimtab.history.settings import settings_text
from trimtab.history.store import History, default_path

__all__ = [
    "Entry",
    "History",
    "HistoryError",
    "Key",
    "build_of",
    "default_path",
    "entries_of",
    "input_class_of",
    "machine_of",
    "settings_text",
]
