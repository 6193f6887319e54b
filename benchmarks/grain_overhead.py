"""How much of the cost of small tasks the counters of the task runtime explain.

    python3 benchmarks/grain_overhead.py build/workloads/heat_ring

Unexplained cost of a grain size = wall time x workers - compute time at the best grain size. Counted overhead = idle time,
and time of creating and freeing tasks. Compute time = wall time x workers - counted overhead. Rounds are interleaved; of each
grain size and number of workers, the fastest round counts. Prints a Markdown table.
"""

import argparse
import subprocess
import sys

GRAINS = (160, 500, 1_600, 5_000, 8_000, 16_000, 50_000)


def run(program: str, points: int, steps: int, workers: int, grain: int) -> dict[str, float]:
    """Returns the figures that the program prints."""
    command = [program, "--points", str(points), "--steps", str(steps), "--partition", str(grain)]
    command.append(f"--trimtab:workers={workers}")
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    pairs = [line.split("=", 1) for line in output.splitlines() if "=" in line]
    names = ("time_s", "idle_rate", "overhead_rate", "not_computing_s", "creating_s", "freeing_s")
    return {name: float(value) for name, value in pairs if name in names}


def main() -> int:
    """Runs all configurations in turn and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program")
    parser.add_argument("--points", type=int, default=10_000_000)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    fastest: dict[tuple[int, int], dict[str, float]] = {}
    for _ in range(given.rounds):
        for workers in (1, 2):
            for grain in GRAINS:
                result = run(given.program, given.points, given.steps, workers, grain)
                key = (workers, grain)
                if key not in fastest or result["time_s"] < fastest[key]["time_s"]:
                    fastest[key] = result
    print(
        "| workers | points per partition | time, s | idle rate | overhead rate | creating, s | freeing, s | counted, s | cost, s | counted / cost | compute / best |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for workers in (1, 2):
        best = min((fastest[workers, grain] for grain in GRAINS), key=lambda figures: figures["time_s"])
        best_compute = best["time_s"] * workers - best["not_computing_s"]
        for grain in GRAINS:
            figures = fastest[workers, grain]
            counted = figures["not_computing_s"]
            cost = figures["time_s"] * workers - best_compute
            compute = figures["time_s"] * workers - counted
            share = "best" if figures is best else f"{counted / cost:.2f}" if cost > 0 else "-"
            print(
                f"| {workers} | {grain} | {figures['time_s']:.3f} | {figures['idle_rate']:.1%} | {figures['overhead_rate']:.1%} "
                f"| {figures['creating_s']:.4f} | {figures['freeing_s']:.4f} | {counted:.4f} | {cost:.4f} | {share} "
                f"| {compute / best_compute:.2f} |"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
