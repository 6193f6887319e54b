"""A policy of the user's, in a process of its own beside the program's."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trimtab.whole_files import open_folder, open_new

# The folder of the program could hold a `trimtab` of its own: Python is not to look there.
_HOST = "import sys; sys.path[0] or sys.path.pop(0); from trimtab.policies.host import main; main()"
_END_S = 1.0


@contextmanager
def policy_beside(policy: str, directory: Path) -> Iterator[None]:
    """Run the policy of that file while this is open; what it prints goes into the run directory.

    That it cannot be started is no reason not to run the program, whose library then waits for its first answer in vain.
    """
    with contextlib.ExitStack() as stack:
        process = None
        with contextlib.suppress(OSError):
            folder = stack.enter_context(open_folder(directory))
            log = stack.enter_context(open_new(folder, "policy.log"))
            process = subprocess.Popen(
                [sys.executable, "-c", _HOST, policy, str(directory)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # What the terminal sends is for the program.
                start_new_session=True,
            )
        try:
            yield
        finally:
            if process is not None:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
