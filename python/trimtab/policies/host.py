"""The process in which a policy runs: takes the snapshots of a run's processes to it, and its proposals back."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
import traceback
from pathlib import Path

from trimtab.policies.exchange import (
    SNAPSHOTS,
    ExchangeError,
    answer_text,
    failure_text,
    read_snapshot,
    when_line,
    write_answer,
)
from trimtab.policies.policy import Policy

_PERIOD_S = 0.02


def policy_in(path: Path) -> type[Policy]:
    """The one policy that the file defines.

    Raises:
        ExchangeError: it defines none, or several.
        Exception: whatever the file raises.
    """
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(f"trimtab_policy_{path.stem}", path)
    assert spec is not None and spec.loader is not None, path
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    proposals = [
        var
        for var in vars(module).values()
        if isinstance(var, type) and issubclass(var, Policy) and var.__module__ == spec.name
    ]
    if len(proposals) != 1:
        raise ExchangeError(f"{path}: expected one class derived from Policy, found {len(proposals)}")
    return proposals[0]


class Host:
    """Runs the policy for all engines of a run. After its first error it is not called again, and every engine gets that error."""

    def __init__(self, path: Path, run: Path) -> None:
        self._run = run
        self._policies: dict[Path, Policy] = {}
        self._answered: dict[Path, int] = {}
        self._seen: dict[Path, tuple[int, int]] = {}  # each is a new file
        self._made: type[Policy] | None = None
        self._failure = ""
        self._when = ""
        try:
            self._made = policy_in(path)
            self._when = when_line(self._made)
        except BaseException as error:  # a policy that calls sys.exit has failed as well
            self._fail(error)

    def look(self) -> None:
        """Answer each engine that has something new."""
        for snapshot in self._run.glob(f"*/{SNAPSHOTS}"):
            status = snapshot.stat()
            identity = (status.st_ino, status.st_mtime_ns)
            if self._seen.get(snapshot) != identity:
                self._seen[snapshot] = identity
                self._answer(snapshot)

    def _answer(self, snapshot: Path) -> None:
        now = read_snapshot(snapshot)
        if self._answered.get(snapshot) == now.number:
            return
        self._answered[snapshot] = now.number
        text = ""
        try:
            if not self._failure and self._made is not None:
                if snapshot not in self._policies:
                    self._policies[snapshot] = self._made()
                text = answer_text(now.number, self._policies[snapshot].observe(now), self._when)
        except BaseException as error:  # see above
            self._fail(error)
        write_answer(snapshot, failure_text(now.number, self._failure) if self._failure else text)

    def _fail(self, error: BaseException) -> None:
        traceback.print_exception(error)
        sys.stderr.flush()
        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        self._failure = f"raised {type(error).__name__}: {str(error)[:200]}{place}"


def main() -> None:
    """`FILE RUN`: until whoever started us is gone, or ends us."""
    parent = os.getppid()
    host = Host(Path(sys.argv[1]), Path(sys.argv[2]))
    while os.getppid() == parent:
        host.look()
        time.sleep(_PERIOD_S)
