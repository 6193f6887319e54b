"""docs/guide/sweep.md and docs/reference/experiment-file.md: their commands do what they say, and every piece of an experiment file in them is one."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import finished
from documented import ROOT, Reader, Source, sections_of, steps_of
from trimtab.experiments import configurations, load

SECTIONS = sections_of("docs/guide/sweep.md")
FILE_PAGE = "docs/reference/experiment-file.md"
STUDY = ROOT / "docs/experiments/grain_size.toml"
HEAT_RING = """
import sys
given = dict(each.split("=") for each in sys.argv[1:] if "=" in each)
plain = dict(zip(sys.argv[1::2], sys.argv[2::2]))
points, partition = int(plain["--points"]), int(plain["--partition"])
workers = int(given["--trimtab:workers"])
count = -(-points // partition)
time = (count * 1e-6 + 1) / min(workers, count)
print(f"time_s={time} points={points} partitions={count} idle_rate=0.5 overhead_s={time / 2} phase_duration_us=1"
      f" task_length_us=2 pending_accesses={count} pending_misses={count / 2} lups={points / time}")
print("check=right")
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory, trimtab: str, workload: Callable[[str], Path]) -> Reader:
    folder = tmp_path_factory.mktemp("reader")
    shutil.copy(workload("triangular-clang"), folder / "app")
    return Reader(folder, trimtab)


@pytest.mark.parametrize("section", SECTIONS, ids=[title for title, _ in SECTIONS])
def test_commands(reader: Reader, section: tuple[str, str]) -> None:
    for step in steps_of(section[1]):
        reader.follow(step)


def test_pieces_of_files_are_pieces_of_files(tmp_path: Path) -> None:
    pieces = [
        step.text
        for _, body in [*SECTIONS, *sections_of(FILE_PAGE)]
        for step in steps_of(body)
        if isinstance(step, Source) and step.name is None
    ]
    assert len(pieces) == 5
    path = tmp_path / "whole.toml"
    path.write_text('name = "whole"\ncommand = "true"\n' + "\n".join(pieces))
    result = {factor.name: factor.values for factor in load(path).factors}
    assert result["workers"] == (1, 2, 4, 8, 16) and result["share"] == (0, 0.25, 0.5, 0.75, 1)
    assert result["partition"][0] == 160 and result["partition"][-1] == 1_000_000
    assert configurations(load(path))
    short = load(path, variant="short")
    assert 0 < len(configurations(short)) < len(configurations(load(path))) and short.samples == 2


def test_every_key_is_described(tmp_path: Path) -> None:
    text = (ROOT / FILE_PAGE).read_text(encoding="utf-8")
    path = tmp_path / "f.toml"
    path.write_text('name = "n"\ncommand = "true"\nnosuchkey = 1\n')
    with pytest.raises(Exception, match="allowed: ") as error:
        load(path)
    for key in str(error.value).split("allowed: ")[1].rstrip(")").split(", "):
        assert f"`{key}`" in text, key


def test_the_grain_size_study(trimtab: str, tmp_path: Path) -> None:
    study = load(STUDY)
    assert [factor.values for factor in study.factors if factor.name == "policy"] == [
        ("local", "local-priority", "abp-priority", "hierarchy", "static-priority", "periodic-priority")
    ]
    partitions = next(factor.values for factor in study.factors if factor.name == "partition")
    assert (partitions[0], partitions[-1]) == (160, study.fixed["points"])
    assert len(study.figures) == 8 and {(figure.lines, figure.panels) for figure in study.figures} == {
        ("workers", "policy")
    }
    program = tmp_path / "heat_ring"
    program.write_text(f"#!{sys.executable}\n{HEAT_RING}")
    program.chmod(0o755)
    chosen = ["--set", "points=100000", "--set", "policy=hierarchy", "--set", f"program={program}"]
    out = tmp_path / "out"
    completed = finished([trimtab, "sweep", str(STUDY), "-o", str(out), "--samples", "1", "--json", *chosen])
    assert completed.returncode == 0, completed.stderr
    assert "no figure 'cache_misses': no run has 'cache_misses'" in completed.stderr
    assert len(list((out / "figures").glob("*.svg"))) == 7
    (best,) = json.loads(completed.stdout)["best"]
    assert [group["configuration"]["workers"] for group in best["groups"]] == [1, 2]
    for group in best["groups"]:
        workers, partition = group["configuration"]["workers"], group["configuration"]["partition"]
        assert partition == {1: 100_000, 2: 50_596}[workers]


def test_the_grain_size_study_of_the_real_program(
    trimtab: str, tmp_path: Path, workload: Callable[[str], Path]
) -> None:
    chosen = ["--set", "points=20000", "--set", "steps=5", "--set", f"program={workload('heat_ring')}"]
    out = tmp_path / "out"
    completed = finished([trimtab, "sweep", str(STUDY), "-o", str(out), "--samples", "1", "--json", *chosen])
    assert completed.returncode == 0, completed.stderr
    assert len(list((out / "figures").glob("*.svg"))) >= 7
    result = json.loads(completed.stdout)
    assert len(result["configurations"]) == result["runs"]["done"] == 6 * 2 * 6
    for configuration in result["configurations"]:
        metrics = configuration["metrics"]
        assert 0 <= metrics["idle_rate"]["median"] <= 1
        assert metrics["lups"]["median"] == pytest.approx(20000 * 5 / metrics["time_s"]["median"], rel=1e-3)


def test_the_study_of_worker_caps(trimtab: str, tmp_path: Path, workload: Callable[[str], Path]) -> None:
    chosen = ["--set", "points=20000", "--set", "steps=20", "--set", f"program={workload('heat_ring')}"]
    out = tmp_path / "out"
    study = ROOT / "docs/experiments/worker_cap.toml"
    completed = finished([trimtab, "sweep", str(study), "-o", str(out), "--samples", "1", "--json", *chosen])
    assert completed.returncode == 0, completed.stderr
    result = json.loads(completed.stdout)["configurations"]
    assert [
        tuple(entry["configuration"][name] for name in ("workers", "tuned", "policy")) for entry in result
    ] == [
        (1, "", "tuner"),
        (2, "", "tuner"),
        *(
            (workers, *mode)
            for workers in (4, 8)
            for mode in (("", "tuner"), *(("workers", policy) for policy in ("tuner", "fit", "queue-length")))
        ),
    ]
    assert all(entry["metrics"]["time_s"]["n"] == 1 for entry in result)
