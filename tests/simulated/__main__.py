"""python -m simulated single|several|job|jobs|clean [COUNT] [FIRST_SEED]: plants causes, and shows what the report takes them for."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from simulated.generating import SETS, clean_case
from simulated.scoring import is_in_order, predicted_saving_s, report_of, score


def main(kind: str, count: int, first: int) -> None:
    """Prints one line a case that went wrong, and the table."""
    table: Counter[tuple[str, str]] = Counter()
    near: Counter[tuple[str, bool]] = Counter()
    right = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        for seed in range(first, first + count):
            if kind == "clean":
                report = report_of(clean_case(seed).simulate(), Path(folder))
                worst = max((found.gain_s / report.observed_s for found in report.findings), default=0.0)
                right += worst < 0.02
                if worst >= 0.02:
                    sys.stdout.write(f"{seed}: {report.findings[0].cause} {worst:.1%}\n")
                continue
            try:
                planted = SETS[kind](seed)
            except ValueError as error:
                sys.stdout.write(f"{error}\n")
                table["not planted", ""] += 1
                continue
            report = report_of(planted.recording, Path(folder))
            result = score(planted, report)
            saving_s = predicted_saving_s(planted, report)
            if kind in ("single", "job") and saving_s is not None:
                off = saving_s * 1e9 / planted.costs_ns[0] - 1
                near[planted.plants[0].cause.value, abs(off) <= 0.1] += 1
                if abs(off) > 0.1:
                    sys.stdout.write(f"{seed}: {planted.plants[0].cause.value} off by {off:+.1%}\n")
            is_right = result.is_right if kind in ("single", "job") else is_in_order(planted, report)
            right += is_right
            table[str(result.planted), str(result.found[0])] += 1
            if not is_right:
                seconds = planted.recording.makespan_ns * 1e-9
                costs = [
                    (
                        planted.plants[at].cause.value,
                        round(cost * 1e-9 / seconds, 3),
                        round((predicted_saving_s(planted, report, at) or 0.0) / seconds, 3),
                    )
                    for at, cost in enumerate(planted.costs_ns)
                ]
                shares = [
                    (entry.cause.value, entry.subject, round(entry.share, 3)) for entry in report.blame[:4]
                ]
                sys.stdout.write(f"{seed}: {result.planted} {costs} {shares}\n")
    for (planted_as, found_as), number in sorted(table.items()):
        sys.stdout.write(f"{number:5} {planted_as} -> {found_as}\n")
    for (cause, is_near), number in sorted(near.items()):
        sys.stdout.write(f"{number:5} sizes of {cause} {'within 10 %' if is_near else 'further off'}\n")
    sys.stdout.write(f"right: {right} of {count}\n")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in SETS:
        sys.exit(__doc__)
    numbers = [int(text) for text in sys.argv[2:4]]
    main(sys.argv[1], *[*numbers, 100, 0][:2] if not numbers else [*numbers, 0][:2])
