"""What the doctor makes of machines, made up as trees of files; and that it tries observation itself."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from trimtab import paths
from trimtab.cli import main
from trimtab.doctor import processors, runtimes, sources, trial
from trimtab.doctor.check import Check
from trimtab.machine_files import Machine
from trimtab.model import Unavailable
from trimtab.text.diagnosis import diagnosis

MOUNTS_1 = "31 30 0:28 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
MOUNTS_2 = "31 30 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"
SOURCE = "/sys/devices/system/clocksource/clocksource0"


def machine_of(root: Path, files: dict[str, str], affinity: int | None = None) -> Machine:
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Machine(root, affinity)


class Unprivileged(Machine):
    """A user who may not read power meters, whoever runs the tests."""

    def is_refused(self, name: str) -> bool:
        return name.endswith("energy_uj")

    def read(self, name: str) -> str | None:
        return None if self.is_refused(name) else super().read(name)


def by_name(checks: list[Check]) -> dict[str, Check]:
    return {check.what: check for check in checks}


def test_a_bare_machine_lacks_nothing(tmp_path: Path) -> None:
    result = machine_of(
        tmp_path,
        {
            "/proc/self/schedstat": "1 2 3\n",
            "/proc/self/sched": "x",
            "/proc/sys/kernel/perf_event_paranoid": "2\n",
            "/sys/bus/event_source/devices/cpu/type": "4",
            "/proc/pressure/cpu": "some avg10=0.00",
            "/sys/class/powercap/intel-rapl:0/energy_uj": "1",
            "/sys/class/powercap/intel-rapl:0/name": "package-0",
            "/sys/devices/system/cpu/online": "0-3,8\n",
            "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0",
            "/sys/devices/system/node/node0/cpulist": "0-4",
            "/proc/self/mountinfo": MOUNTS_2,
            "/proc/self/cgroup": "0::/\n",
            "/sys/fs/cgroup/cgroup.controllers": "cpu",
            "/proc/cpuinfo": "flags\t\t: fpu constant_tsc nonstop_tsc\n",
            f"{SOURCE}/available_clocksource": "tsc hpet",
            f"{SOURCE}/current_clocksource": "tsc",
        },
    )
    checks = [*sources.checks(result), *processors.checks(result)]
    assert {check.status for check in checks} == {"ok"}
    named = by_name(checks)
    assert named["CPUs"].found == "5 online, all may be used"
    assert named["energy"].found == "package-0"


def test_an_empty_machine_lacks_everything_and_says_what_to_do(tmp_path: Path) -> None:
    named = by_name([*sources.checks(Machine(tmp_path)), *processors.checks(Machine(tmp_path, 4))])
    lacks = {item_name for item_name, check in named.items() if check.status == "lacks"}
    assert lacks == {
        *("run delay", "context switches", "hardware counters", "migrations", "pressure", "energy"),
        *("CPU quota", "clock"),
    }
    assert all(named[item_name].costs and named[item_name].remedy for item_name in lacks)
    assert "4 may be used" in named["CPUs"].found


@pytest.mark.parametrize(
    ("level", "status"), [("-1", "ok"), ("2", "ok"), ("3", "lacks"), ("4", "lacks"), ("x", "lacks")]
)
def test_perf_permission(tmp_path: Path, level: str, status: str) -> None:
    result = sources.context_switches(machine_of(tmp_path, {"/proc/sys/kernel/perf_event_paranoid": level}))
    assert result.status == status
    assert (level in result.found) and (status == "ok" or "2" in result.remedy)


@pytest.mark.parametrize("text", ["", "1 2"])
def test_a_schedstat_without_figures(tmp_path: Path, text: str) -> None:
    assert sources.run_delay(machine_of(tmp_path, {"/proc/self/schedstat": text})).status == "lacks"


def test_meters_that_only_root_may_read(tmp_path: Path) -> None:
    machine_of(tmp_path, {"/sys/class/powercap/intel-rapl:0/energy_uj": "1"})
    result = sources.energy(Unprivileged(tmp_path))
    assert result.status == "lacks" and "only root" in result.found and "chmod a+r" in result.remedy


def test_pressure_that_is_switched_off(tmp_path: Path) -> None:
    (tmp_path / "proc/pressure/cpu").mkdir(parents=True)  # there, and not to be read
    assert sources.pressure(Machine(tmp_path)).remedy == "boot with psi=1"


def test_a_hybrid_processor(tmp_path: Path) -> None:
    result = machine_of(
        tmp_path,
        {
            "/sys/devices/cpu_core/cpus": "0-15\n",
            "/sys/devices/cpu_atom/cpus": "16-23\n",
            "/sys/bus/event_source/devices/cpu_core/type": "4",
            "/sys/bus/event_source/devices/cpu_atom/type": "10",
            "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0-1",
            "/sys/devices/system/cpu/cpu16/topology/thread_siblings_list": "16",
        },
    )
    kinds = processors.cores(result)
    assert (kinds.status, kinds.found) == ("info", "16 fast, 8 efficient") and "dynamic" in kinds.remedy
    assert sources.hardware_counters(result).found.startswith("cpu_core, cpu_atom")
    assert processors.smt(result).found.startswith("2 a core")


def test_cores_of_different_capacity(tmp_path: Path) -> None:
    capacities = {
        f"/sys/devices/system/cpu/cpu{at}/cpu_capacity": "1024" if at > 3 else "446" for at in range(8)
    }
    assert processors.cores(machine_of(tmp_path, capacities)).found == "4 of capacity 446, 4 of capacity 1024"


def test_nodes_of_memory(tmp_path: Path) -> None:
    lists = {
        f"/sys/devices/system/node/node{at}/cpulist": text for at, text in enumerate(("0-7", "8-15", ""))
    }
    assert processors.numa(machine_of(tmp_path, lists)).found == "2 with CPUs"


def test_a_mask_of_cpus(tmp_path: Path) -> None:
    result = processors.cpus(machine_of(tmp_path, {"/sys/devices/system/cpu/online": "0-63"}, 8))
    assert result.found == "8 of 64 may be used (affinity mask)"


def test_the_quota_of_an_ancestor_version_2(tmp_path: Path) -> None:
    result = processors.quota(
        machine_of(
            tmp_path,
            {
                "/proc/self/mountinfo": MOUNTS_2,
                "/proc/self/cgroup": "0::/a/b\n",
                "/sys/fs/cgroup/a/cpu.max": "150000 100000",
                "/sys/fs/cgroup/a/cpu.stat": "usage_usec 5\nnr_periods 2000\nnr_throttled 30\n",
                "/sys/fs/cgroup/a/b/cpu.max": "max 100000",
            },
            4,
        )
    )
    assert result.status == "info" and result.remedy.startswith("OMP_NUM_THREADS=1,")
    assert result.found == (
        "1.5 CPUs by /sys/fs/cgroup/a (cgroup version 2); so far throttled in 30 of 2,000 periods"
    )


def test_the_quota_of_version_1_in_a_container(tmp_path: Path) -> None:
    """The container's group is shown as the top; the version 2 tree beside it has no quota."""
    files = {
        "/proc/self/mountinfo": MOUNTS_1.replace("0:28 / ", "0:28 /docker/1 ")
        + MOUNTS_2.replace("cgroup rw", "unified rw"),
        "/proc/self/cgroup": "4:cpu,cpuacct:/docker/1\n0::/docker/1\n",
        "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000",
        "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
        "/sys/fs/cgroup/cpu/cpu.stat": "nr_periods 0\nnr_throttled 0\n",
        "/sys/fs/cgroup/unified/cgroup.controllers": "",
        "/proc/1/cgroup": "4:cpu,cpuacct:/docker/1\n",
        "/proc/cpuinfo": "flags : hypervisor\n",
    }
    result = machine_of(tmp_path, files, 2)
    assert processors.quota(result).found == "2 CPUs by /sys/fs/cgroup/cpu (cgroup version 1)"
    assert processors.quota(result).remedy == ""
    assert processors.place(result).found == "container in a virtual machine"


@pytest.mark.parametrize("sign", [".dockerenv", "run/.containerenv", "run/secrets/kubernetes.io/x"])
def test_containers_that_hide_their_group(tmp_path: Path, sign: str) -> None:
    result = machine_of(tmp_path, {sign: "", "/proc/self/cgroup": "0::/\n"})
    assert processors.place(result).found == "container"


def test_the_least_of_several_quotas(tmp_path: Path) -> None:
    """Of the own group, which the container shows below its top, and of those above it."""
    files = {
        "/proc/self/mountinfo": MOUNTS_2.replace("0:28 / ", "0:28 /kubepods/pod1 "),
        "/proc/self/cgroup": "0::/kubepods/pod1/job/step\n",
        "/sys/fs/cgroup/cpu.max": "800000 100000",
        "/sys/fs/cgroup/job/cpu.max": "200000 100000",
        "/sys/fs/cgroup/job/step/cpu.max": "300000 100000",
    }
    result = processors.quota(machine_of(tmp_path, files, 16))
    assert result.found == "2 CPUs by /sys/fs/cgroup/job (cgroup version 2)"
    assert "16 threads" in result.costs and result.remedy.startswith("OMP_NUM_THREADS=2,")


def test_no_quota(tmp_path: Path) -> None:
    files = {
        "/proc/self/mountinfo": MOUNTS_1,
        "/proc/self/cgroup": "4:cpu:/\n",
        "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
        "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
    }
    assert processors.quota(machine_of(tmp_path, files)).found == "none (cgroup version 1)"


def test_a_clock_that_the_kernel_gave_up(tmp_path: Path) -> None:
    files = {
        "/proc/cpuinfo": "flags : constant_tsc nonstop_tsc\n",
        f"{SOURCE}/available_clocksource": "hpet acpi_pm",
        f"{SOURCE}/current_clocksource": "hpet",
    }
    result = processors.clock(machine_of(tmp_path, files))
    assert (
        result.status == "lacks"
        and "hpet: the kernel does not trust" in result.found
        and "1 us" in result.costs
    )


@pytest.mark.parametrize(("text", "count"), [("0", 1), ("0-3,8", 5), ("0-1,4-7\n", 6), ("", 0), ("x", 0)])
def test_lists_of_cpus(text: str, count: int) -> None:
    assert processors.count_of(text) == count


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Objects that define what the runtimes define."""
    folder = tmp_path_factory.mktemp("libraries")
    result = {}
    for name, symbols in {
        "gomp": ["GOMP_parallel"],
        "omp": ["GOMP_parallel", "__kmpc_fork_call", "ompt_start_tool"],
        "plain_omp": ["__kmpc_fork_call"],
        "neither": ["other"],
    }.items():
        source = folder / f"{name}.c"
        source.write_text("".join(f"void {symbol}(void) {{}}\n" for symbol in symbols))
        result[name] = folder / f"{name}.so"
        subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(result[name])], check=True)
    return result


def test_runtimes_of_system_and_wheels(tmp_path: Path, libraries: dict[str, Path]) -> None:
    def place(name: str, library: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(libraries[library].read_bytes())
        return path

    system = place("usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0", "gomp")
    (system.parent / "libgomp.so.1").symlink_to(system)
    llvm = place("usr/lib/llvm-19/lib/libomp.so.5", "omp")
    place("usr/lib/llvm-19/lib/libompd.so", "neither")
    place("usr/lib/llvm-19/lib/libomptarget.so.19.1", "omp")
    site = tmp_path / "env/lib/python3/site-packages"
    wheel = place("env/lib/python3/site-packages/scikit_learn.libs/libgomp-e985bcbb.so.1.0.0", "gomp")
    intel = place("env/lib/libiomp5.so", "plain_omp")
    place("env/lib/python3/site-packages/torch/lib/libomp.so", "neither")
    (tmp_path / "env/lib/python3/site-packages/torch/lib/libgomp.so.1").write_text("no library")
    cache = f"\tlibgomp.so.1 (libc6,x86-64) => {system.parent / 'libgomp.so.1'}\n\tlibcomposite.so => /lib/libXcomposite.so\n"
    result = runtimes.find(tmp_path, cache, [(site, tmp_path / "env")])
    assert [(entry.path, entry.kind, entry.has_ompt) for entry in result] == [
        (str(system), "libgomp", False),
        (str(llvm), "libomp", True),
        (str(wheel), "libgomp", False),
        (str(intel), "libiomp5", False),
    ]
    checks = runtimes.checks(result)
    assert [check.status for check in checks] == ["ok", "ok", "ok", "info"]
    assert "LIBOMP_OMPT_SUPPORT" in checks[3].remedy
    assert runtimes.checks([])[0].status == "info"


def test_what_the_probes_found_counts() -> None:
    checks = [Check("energy", "lacks", "old", "c", "r"), Check("context switches", "ok", "2")]
    result = trial.merged(
        checks,
        (
            Unavailable("preemptions and their CPUs", "seccomp forbids", "allow perf_event_open"),
            Unavailable("energy", "new", "x"),
            Unavailable("resident memory", "no /proc", "mount it"),
        ),
    )
    assert result[0] == checks[0]
    assert (result[1].status, result[1].found, result[1].remedy) == (
        "lacks",
        "seccomp forbids",
        "allow perf_event_open",
    )
    assert (result[2].what, result[2].status) == ("resident memory", "lacks")


def test_the_command() -> None:
    completed = CliRunner().invoke(main, ["doctor", "--json"])
    assert completed.exit_code == 0, completed.output
    reported = json.loads(completed.stdout)
    assert reported["observes"] is True
    assert {"what": "observation", "status": "ok"}.items() <= reported["checks"][0].items()
    assert any(runtime["kind"] == "libgomp" for runtime in reported["runtimes"])
    text = CliRunner().invoke(main, ["doctor"])
    assert text.exit_code == 0
    for check in reported["checks"]:
        assert check["what"] in text.stdout and check["found"].split(";")[0] in text.stdout


def test_a_missing_library_is_the_one_thing_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "preload_library", lambda: tmp_path / "gone.so")
    completed = CliRunner().invoke(main, ["doctor"])
    assert completed.exit_code == 1
    assert "BROKEN" in completed.stdout and "gone.so is missing" in completed.stdout


def test_a_library_that_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    message = "ERROR: ld.so: object 'x' from LD_PRELOAD cannot be preloaded: ignored."
    monkeypatch.setattr(trial, "_COMMAND", f"import sys; sys.exit({message!r})")
    result = trial.run_trial().check
    assert result.status == "broken" and message in result.found and "noexec" in result.remedy


def test_a_library_that_records_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_COMMAND", "pass")
    result = trial.run_trial().check
    assert result.status == "broken" and "nothing was recorded" in result.found


def test_a_program_whose_work_is_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_PROGRAM", "pass")
    result = trial.run_trial().check
    assert result.status == "broken" and "recorded nothing" in result.found


def test_no_room_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial.tempfile, "tempdir", str(tmp_path / "gone"))
    result = trial.run_trial().check
    assert result.status == "broken" and "gone" in result.found and "TMPDIR" in result.remedy


def test_text_has_no_markup_of_others(capsys: pytest.CaptureFixture[str]) -> None:
    diagnosis([Check("a [b]", "lacks", "[red]/x[/]", "c", "d")])
    assert (
        capsys.readouterr().out
        == "lacks  a [b]  [red]/x[/]\n" + " " * 14 + "costs: c\n" + " " * 14 + "do: d\n"
    )
