"""What names a place the same in every process of a run."""

from __future__ import annotations

from trimtab.model import Process, Subject


class Keys(dict[int, str]):
    """The key of every subject of a process; of one that names.tt lost (a full disk), its number."""

    def __missing__(self, number: int) -> str:
        return f"subject {number}"


def keys_of(process: Process) -> Keys:
    """A key for every subject: its kind, and where its code is in which build, or its name.

    No two subjects of a process have the same key: further ones of the same place are counted.
    """
    keys, uses = Keys(), dict[str, int]()
    for number, subject in process.subjects.items():
        key = _place(process, subject)
        uses[key] = uses.get(key, 0) + 1
        keys[number] = key if uses[key] == 1 else f"{key} ({uses[key]})"
    return keys


def _place(process: Process, subject: Subject) -> str:
    module = process.modules_by_id.get(subject.module)
    if module is None:
        return " ".join((subject.kind, subject.name, subject.file, str(subject.line)))
    place = f"{module.build_id or module.path}+0x{subject.offset:x}"
    return f"{subject.kind} {place} {subject.name}".rstrip()
