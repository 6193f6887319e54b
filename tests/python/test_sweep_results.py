"""Results on disk: nothing finished is lost, nothing half-written counts, and no folder is mixed up."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sweep_samples import ran, until, write
from trimtab.experiments import Experiment, ExperimentError, Options, Progress, Swept, load, sweep, sweeping
from trimtab.experiments.plan import Planned
from trimtab.experiments.results import Record, Results


def go(folder: Path, experiment: Experiment, **options: bool) -> Swept:
    return sweep(experiment, folder / "out", Options(**options))


def lines(folder: Path) -> list[str]:
    return (folder / "out/results.jsonl").read_text().splitlines()


def test_a_finished_sweep_has_nothing_left_to_do(tmp_path: Path) -> None:
    experiment = load(write(tmp_path))
    swept = go(tmp_path, experiment)
    assert swept.counts() == {
        "planned": 24,
        "done": 24,
        "failed": 0,
        "repeated": 0,
        "disturbed": 0,
        "warm_up": 0,
    }
    assert len(ran(tmp_path)) == len(lines(tmp_path)) == 24
    assert go(tmp_path, experiment).counts()["done"] == 24 and len(ran(tmp_path)) == 24
    # More samples, and values that were not there: only these are run.
    overrides = replace(experiment, samples=4)
    assert go(tmp_path, overrides).counts()["done"] == 32 and len(ran(tmp_path)) == 32


def test_results_are_kept_one_by_one(tmp_path: Path) -> None:
    experiment = load(write(tmp_path))

    def stop(at: Progress) -> None:
        assert len(lines(tmp_path)) == at.done
        if at.done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(experiment, tmp_path / "out", report_progress=stop)
    first = ran(tmp_path)
    assert len(first) == 5
    go(tmp_path, experiment)
    whole = ran(tmp_path)
    # It goes on in the same order, and nothing is run twice.
    assert whole[:5] == first and len(whole) == 24
    other = tmp_path / "other"
    other.mkdir()
    go(other, load(write(other)))
    assert whole == ran(other)


def test_a_torn_last_line_is_dropped_and_told(tmp_path: Path) -> None:
    experiment = load(write(tmp_path))
    go(tmp_path, experiment)
    path = tmp_path / "out/results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    swept = go(tmp_path, experiment)
    assert len(swept.notes) == 1 and "dropped a torn last line" in swept.notes[0]
    assert len(ran(tmp_path)) == 25 and swept.counts()["done"] == 24
    assert all(json.loads(line) for line in lines(tmp_path))


def test_a_damaged_line_is_an_error(tmp_path: Path) -> None:
    experiment = load(write(tmp_path))
    go(tmp_path, experiment)
    path = tmp_path / "out/results.jsonl"
    result = path.read_text().splitlines()
    for damage in ("{", "3", '{"sample": 1}'):
        path.write_text("\n".join([result[0], damage, *result[2:]]) + "\n")
        with pytest.raises(
            ExperimentError, match=r"results.jsonl: line 2: expected the result of a run, found"
        ):
            go(tmp_path, experiment)


def test_results_of_another_experiment_are_left_alone(tmp_path: Path) -> None:
    experiment = load(write(tmp_path))
    go(tmp_path, experiment)
    before = lines(tmp_path)
    for other, reported in (
        (replace(experiment, command=("true",)), "'command' was"),
        (replace(experiment, fixed={"steps": 3}), "'fixed' was {}, is {'steps': 3}"),
        (replace(experiment, expect="x"), "'expect' was"),
    ):
        with pytest.raises(ExperimentError, match="holds results of another experiment") as error:
            go(tmp_path, other)
        assert reported in str(error.value)
    # What does not change a run may change.
    go(tmp_path, replace(experiment, title="other", timeout_s=100.0, seed=3, figures=(), best=()))
    assert lines(tmp_path) == before


def test_folders_of_others_are_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.tex").write_text("x")
    with pytest.raises(
        ExperimentError, match=r"expected a new or empty folder, or one of a sweep, found thesis.tex"
    ):
        go(tmp_path, load(write(tmp_path)))
    (tmp_path / "out/thesis.tex").rename(tmp_path / "out/experiment.json")
    with pytest.raises(ExperimentError, match=r"experiment.json: not JSON: "):
        go(tmp_path, load(write(tmp_path)))


def test_one_sweep_at_a_time(tmp_path: Path) -> None:
    experiment = load(write(tmp_path))
    with (
        Results(tmp_path / "out", experiment),
        pytest.raises(ExperimentError, match="another sweep is at work here"),
    ):
        go(tmp_path, experiment)
    go(tmp_path, experiment)


def test_what_a_killed_sweep_left_running_is_ended(tmp_path: Path) -> None:
    experiment = load(write(tmp_path))
    left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    try:
        with Results(tmp_path / "out", experiment) as results:
            results.running(left.pid)
            written = (tmp_path / "out/.lock").read_bytes()
        # A sweep that ends by itself leaves no such note; one that is killed does.
        assert (tmp_path / "out/.lock").read_bytes() == b""
        (tmp_path / "out/.lock").write_bytes(written)
        with Results(tmp_path / "out", experiment) as results:
            assert results.notes == [f"ended process {left.pid}, which a killed sweep had left running"]
        assert left.wait(60) == -9
        # Another process that has the number by now is not ours.
        (tmp_path / "out/.lock").write_text(
            json.dumps({**json.loads(written), "program": other.pid, "since": "boot/1"})
        )
        with Results(tmp_path / "out", experiment) as results:
            assert results.notes == [] and other.poll() is None
    finally:
        left.kill()
        other.kill()
        left.wait()
        other.wait()


def test_what_others_disturb_is_repeated_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = replace(load(write(tmp_path)), disturbed_above=0.2)
    busy = {("1", "a"): 1, ("2", "b"): 2, ("4", "a"): 99}
    real, seen_values = sweeping.run_once, []

    def once(experiment: Experiment, planned: Planned, attempt: int, results: Results) -> Record:
        record = real(experiment, planned, attempt, results)
        key = (str(record.configuration["grain"]), str(record.configuration["mode"]))
        is_busy = record.sample == 2 and attempt < busy.get(key, 0)
        seen_values.append((*key, attempt))
        return replace(
            record, others=0.9 / (attempt + 1) if is_busy else 0.0, steal=0.0, is_disturbed=is_busy
        )

    monkeypatch.setattr(sweeping, "run_once", once)
    swept = go(tmp_path, experiment)
    assert sorted(seen_values[24:27]) == [("1", "a", 1), ("2", "b", 1), ("4", "a", 1)]
    assert sorted(seen_values[27:]) == [("2", "b", 2), ("4", "a", 2)], "at most twice"
    counts = swept.counts()
    assert (counts["done"], counts["repeated"], counts["disturbed"]) == (24, 5, 1)
    chosen = {(r.configuration["grain"], r.configuration["mode"], r.sample): r.attempt for r in swept.runs}
    assert chosen[1, "a", 2] == 1 and chosen[2, "b", 2] == 2 and chosen[8, "b", 1] == 0
    assert chosen[4, "a", 2] == 2, "the least disturbed one"
    # Enough was tried: going on does not try again.
    go(tmp_path, experiment)
    assert len(seen_values) == 29


def test_a_machine_that_is_never_quiet_does_not_take_three_times_as_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = replace(load(write(tmp_path)), disturbed_above=0.2)
    real = sweeping.run_once

    def once(experiment: Experiment, planned: Planned, attempt: int, results: Results) -> Record:
        return replace(real(experiment, planned, attempt, results), others=0.9, is_disturbed=True)

    monkeypatch.setattr(sweeping, "run_once", once)
    counts = go(tmp_path, experiment).counts()
    assert (counts["done"], counts["disturbed"], counts["repeated"]) == (24, 24, sweeping.HOPELESS)


def test_warm_up_runs_are_made_once_and_count_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = replace(load(write(tmp_path)), warm_up=2, samples=1, disturbed_above=0.2)
    real = sweeping.run_once

    def once(experiment: Experiment, planned: Planned, attempt: int, results: Results) -> Record:
        record = real(experiment, planned, attempt, results)
        return replace(record, others=0.9, steal=0.0, is_disturbed=planned.is_warm_up)

    monkeypatch.setattr(sweeping, "run_once", once)
    counts = go(tmp_path, experiment).counts()
    assert counts == {"planned": 8, "done": 8, "failed": 0, "repeated": 0, "disturbed": 0, "warm_up": 16}
    assert len(ran(tmp_path)) == 24
    go(tmp_path, experiment)
    assert len(ran(tmp_path)) == 24


def test_failures_are_results(tmp_path: Path) -> None:
    experiment = replace(load(write(tmp_path), {"mode": ["a", "fail", "wrong"], "grain": 1}), samples=2)
    swept = go(tmp_path, experiment)
    assert swept.counts()["failed"] == 4
    reported = {str(entry.configuration["mode"]): entry for entry in swept.failed}
    assert reported["fail"].failure == "exit code 3" and reported["fail"].code == 3
    assert reported["fail"].stderr == ["warning", "it broke"]
    wrong = r"wrong answer: expected output like 'answer \d+', found 'wrong'"
    assert reported["wrong"].failure == wrong and reported["wrong"].code == 0
    # They are not run again, unless that is asked for.
    assert len(ran(tmp_path)) == 6
    go(tmp_path, experiment)
    assert len(ran(tmp_path)) == 6
    go(tmp_path, experiment, is_retrying=True)
    assert len(ran(tmp_path)) == 10
    text = (tmp_path / "subject.py").read_text()
    (tmp_path / "subject.py").write_text(
        text.replace("sys.exit(3)", "pass").replace('"wrong" if', '"wrong" * 0 if')
    )
    (tmp_path / "subject.py").write_text(
        (tmp_path / "subject.py").read_text().replace('"wrong" * 0', '"answer 1"')
    )
    repaired = go(tmp_path, experiment, is_retrying=True)
    assert repaired.counts()["failed"] == 0 and len(ran(tmp_path)) == 14


def test_stopping_on_failure(tmp_path: Path) -> None:
    experiment = replace(load(write(tmp_path), {"mode": ["a", "fail"], "grain": 1}), order="given")
    swept = go(tmp_path, experiment, is_stopping_on_failure=True)
    assert swept.is_stopped and len(ran(tmp_path)) == 2


def test_crashes_timeouts_and_programs_that_are_none(tmp_path: Path) -> None:
    path = write(tmp_path)
    experiment = replace(load(path, {"mode": "crash", "grain": 1}), samples=1)
    (crashed,) = go(tmp_path, experiment).failed
    assert crashed.failure == "killed by SIGABRT" and crashed.signal == "SIGABRT"
    hanging = replace(load(path, {"mode": "hang", "grain": 1}), samples=1, timeout_s=1.0)
    (hung,) = go(tmp_path, hanging).failed
    assert hung.failure == "timed out after 1 s" and hung.code is None
    other = tmp_path / "other"
    other.mkdir()
    empty = replace(experiment, command=("./no-such-program",))
    (failed, *_) = go(other, empty).failed
    assert failed.failure == "cannot be started: No such file or directory: ./no-such-program"


def test_a_timeout_ends_all_that_was_started(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(
        'name = "n"\nsamples = 1\ntimeout = 5\ncommand = ["sh", "-c", "sleep 600 & echo $! > pid; wait"]\n'
    )
    (failed,) = go(tmp_path, load(path)).failed
    assert failed.failure == "timed out after 5 s"
    gone(int((tmp_path / "pid").read_text()))


def test_what_a_program_leaves_behind_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text('name = "n"\nsamples = 1\ncommand = ["sh", "-c", "sleep 600 & echo $! > pid"]\n')
    assert go(tmp_path, load(path)).failed == []
    gone(int((tmp_path / "pid").read_text()))


def gone(pid: int) -> None:
    """Killed, though it takes a moment, and whoever inherits it may not have waited for it yet."""

    def is_over() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return True

    until(is_over)


def test_metrics_that_must_be_there(tmp_path: Path) -> None:
    experiment = load(write(tmp_path, "[metrics.flops]\n"), {"grain": 1, "mode": "a"})
    (failed, *_) = go(tmp_path, replace(experiment, samples=1)).failed
    assert failed.failure == "metric 'flops': expected 'flops=NUMBER' in the output, found none"


def test_units_must_be_those_of_the_file(tmp_path: Path) -> None:
    text = write(tmp_path).read_text().replace('unit = "s"', 'unit = "ms"')
    (tmp_path / "tiny.toml").write_text(text)
    experiment = load(tmp_path / "tiny.toml", {"grain": 1, "mode": "a"})
    (failed, *_) = go(tmp_path, replace(experiment, samples=1)).failed
    assert failed.failure == "metric 'time': expected unit 'ms', found 's'"


def test_environment_folder_and_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROM_OUTSIDE", "kept")
    (tmp_path / "below").mkdir()
    path = tmp_path / "f.toml"
    path.write_text(
        'name = "n"\nsamples = 1\ncwd = "below"\n'
        'command = ["sh", "-c", "cat > input; echo $THREADS $FROM_OUTSIDE > said; echo sample={sample}"]\n'
        '[environment]\nTHREADS = "{threads}"\n[factors]\nthreads = [2]\n'
    )
    swept = go(tmp_path, load(path))
    assert (tmp_path / "below/said").read_text() == "2 kept\n" and (
        tmp_path / "below/input"
    ).read_text() == ""
    assert swept.runs[0].metrics["sample"] == 1


def test_peak_memory_of_small_programs_is_not_known() -> None:
    from trimtab.running import peak_kb

    assert peak_kb(40_000, 39_900) is None and peak_kb(80_000, 39_900) == 80_000
