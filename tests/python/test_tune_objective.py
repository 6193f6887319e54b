"""`trimtab tune --objective`: energy of whole runs, from meters in a made-up /sys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from trimtab.cli.main import main
from trimtab.cli.tune import NOUNS
from trimtab.tuning.multi_run import Start, tune
from trimtab.tuning.objective import OBJECTIVES, Cost, Meter, MeterMissing
from trimtab.tuning.runner import ProgramRunner

RANGE_UJ = 9_000_000


def make_meter(root: Path, zone: str, name: str, energy_uj: int) -> Path:
    folder = root / "sys/class/powercap" / zone
    folder.mkdir(parents=True)
    (folder / "name").write_text(name + "\n")
    (folder / "max_energy_range_uj").write_text(f"{RANGE_UJ}\n")
    (folder / "energy_uj").write_text(f"{energy_uj}\n")
    return folder / "energy_uj"


@pytest.fixture(name="packages")
def _packages(tmp_path: Path) -> list[Path]:
    make_meter(tmp_path, "intel-rapl:0:0", "core", 5)
    make_meter(tmp_path, "intel-rapl:2", "psys", 5)
    return [make_meter(tmp_path, f"intel-rapl:{at}", f"package-{at}", 8_000_000) for at in range(2)]


def taking(files: list[Path], joules: float, seconds: float) -> Callable[[], tuple[str, float]]:
    """A run that takes so much of each package."""

    def run() -> tuple[str, float]:
        for file in files:
            file.write_text(str((int(file.read_text()) + int(joules * 1e6)) % RANGE_UJ))
        return "result", seconds

    return run


def test_energy_is_that_of_all_packages_and_goes_on_where_a_meter_begins_anew(
    tmp_path: Path, packages: list[Path]
) -> None:
    meter = Meter("energy", tmp_path)
    for _ in range(6):
        assert meter.measure(taking(packages, 2.5, 4.0)) == ("result", Cost(4.0, pytest.approx(5.0), "J"))
    cost = Meter("energy-time", tmp_path).measure(taking(packages, 2.5, 4.0))[1]
    assert (cost.value, cost.text) == (pytest.approx(20.0), "20 J s")
    assert Meter("time", tmp_path).measure(taking(packages, 2.5, 4.0))[1] == Cost.of_time(4.0)


def test_a_meter_that_is_not_there_is_told(tmp_path: Path, packages: list[Path]) -> None:
    with pytest.raises(
        MeterMissing, match=r"powercap: expected a power meter of a package, found none; .*rapl"
    ):
        Meter("energy", tmp_path / "elsewhere")
    Meter("time", tmp_path / "elsewhere")

    def refused(_: Path) -> str:
        raise PermissionError(13, "Permission denied")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trimtab.tuning.objective._text", lambda _: "package-0")
        patch.setattr(Path, "read_text", refused)
        with pytest.raises(MeterMissing, match=r"energy_uj: Permission denied; as root: chmod"):
            Meter("energy", tmp_path)
    assert packages[0].exists()


def test_the_command_says_so_before_the_first_run(tmp_path: Path) -> None:
    if list(Path("/sys/class/powercap").glob("intel-rapl:0")):
        pytest.skip("this machine has a meter")
    history = ["--history", str(tmp_path / "h.sqlite")]
    completed = CliRunner().invoke(main, ["tune", "--objective", "energy", *history, "--", "true"])
    assert completed.exit_code == 2
    assert "--objective energy: /sys/class/powercap: expected a power meter" in completed.output


def test_what_saves_energy_is_kept_though_it_takes_longer() -> None:
    class Runner:
        """Fewer threads: 1.5 times as long, with half of the energy."""

        def bare(self) -> Cost:
            return Cost(10.0, 100.0, "J")

        def learn(self, environment: object) -> object:
            raise AssertionError(environment)

        def frozen(self, start: Start) -> Cost:
            return Cost(15.0, 50.0, "J") if "OMP_NUM_THREADS" in start.environment else self.bare()

    start = Start({"OMP_NUM_THREADS": "1"}, "a reason")
    told: list[str] = []
    runner = Runner()
    runner.learn = lambda environment: _Quiet()  # type: ignore[method-assign]
    outcome = tune(
        runner,  # type: ignore[arg-type]
        learning_runs=1,
        pairs=5,
        candidates=lambda report: [start],
        report_trial=lambda trial: told.append(f"{trial.cost.text}, {trial.note}"),
    )
    assert outcome.chosen is not None and outcome.is_proved
    assert outcome.proof is not None and outcome.proof.gain == pytest.approx(0.5)
    assert told[1] == "50 J, 100 J without"


class _Quiet:
    """A report in which nothing was decided."""

    decisions = ()
    steering = None
    wall_s = 1.0


def test_a_runs_cost_is_measured_around_it(tmp_path: Path, packages: list[Path]) -> None:
    script = tmp_path / "program"
    script.write_text(f"#!/bin/sh\necho 8500000 > {packages[1]}\n")
    script.chmod(0o700)
    runner = ProgramRunner([str(script)], tmp_path, tmp_path / "h", meter=Meter("energy", tmp_path))
    cost = runner.bare()
    assert (cost.value, cost.unit) == (pytest.approx(0.5), "J")
    assert cost.seconds > 0


def test_the_command_knows_all_objectives() -> None:
    assert tuple(NOUNS) == OBJECTIVES
