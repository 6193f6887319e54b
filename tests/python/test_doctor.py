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
from trimtab.doctor.check import Check, Machine
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
    found = machine_of(
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
    checks = [*sources.checks(found), *processors.checks(found)]
    assert {check.status for check in checks} == {"ok"}
    named = by_name(checks)
    assert named["CPUs"].found == "5 online, all may be used"
    assert named["energy"].found == "package-0"


def test_an_empty_machine_lacks_everything_and_says_what_to_do(tmp_path: Path) -> None:
    named = by_name([*sources.checks(Machine(tmp_path)), *processors.checks(Machine(tmp_path, 4))])
    lacks = {what for what, check in named.items() if check.status == "lacks"}
    assert lacks == {
        *("run delay", "context switches", "hardware counters", "migrations", "pressure", "energy"),
        *("CPU quota", "clock"),
    }
    assert all(named[what].costs and named[what].remedy for what in lacks)
    assert "4 may be used" in named["CPUs"].found


@pytest.mark.parametrize(
    ("level", "status"), [("-1", "ok"), ("2", "ok"), ("3", "lacks"), ("4", "lacks"), ("x", "lacks")]
)
def test_perf_permission(tmp_path: Path, level: str, status: str) -> None:
    found = sources.context_switches(machine_of(tmp_path, {"/proc/sys/kernel/perf_event_paranoid": level}))
    assert found.status == status
    assert (level in found.found) and (status == "ok" or "2" in found.remedy)


@pytest.mark.parametrize("text", ["", "1 2"])
def test_a_schedstat_without_figures(tmp_path: Path, text: str) -> None:
    assert sources.run_delay(machine_of(tmp_path, {"/proc/self/schedstat": text})).status == "lacks"


def test_meters_that_only_root_may_read(tmp_path: Path) -> None:
    machine_of(tmp_path, {"/sys/class/powercap/intel-rapl:0/energy_uj": "1"})
    found = sources.energy(Unprivileged(tmp_path))
    assert found.status == "lacks" and "only root" in found.found and "chmod a+r" in found.remedy


def test_pressure_that_is_switched_off(tmp_path: Path) -> None:
    (tmp_path / "proc/pressure/cpu").mkdir(parents=True)  # there, and not to be read
    assert sources.pressure(Machine(tmp_path)).remedy == "boot with psi=1"


def test_a_hybrid_processor(tmp_path: Path) -> None:
    found = machine_of(
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
    kinds = processors.cores(found)
    assert (kinds.status, kinds.found) == ("info", "16 fast, 8 efficient") and "dynamic" in kinds.remedy
    assert sources.hardware_counters(found).found.startswith("cpu_core, cpu_atom")
    assert processors.smt(found).found.startswith("2 a core")


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
    found = processors.cpus(machine_of(tmp_path, {"/sys/devices/system/cpu/online": "0-63"}, 8))
    assert found.found == "8 of 64 may be used (affinity mask)"


def test_the_quota_of_an_ancestor_version_2(tmp_path: Path) -> None:
    found = processors.quota(
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
    assert found.status == "info" and found.remedy.startswith("OMP_NUM_THREADS=1,")
    assert found.found == (
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
    found = machine_of(tmp_path, files, 2)
    assert processors.quota(found).found == "2 CPUs by /sys/fs/cgroup/cpu (cgroup version 1)"
    assert processors.quota(found).remedy == ""
    assert processors.place(found).found == "container in a virtual machine"


@pytest.mark.parametrize("sign", [".dockerenv", "run/.containerenv", "run/secrets/kubernetes.io/x"])
def test_containers_that_hide_their_group(tmp_path: Path, sign: str) -> None:
    found = machine_of(tmp_path, {sign: "", "/proc/self/cgroup": "0::/\n"})
    assert processors.place(found).found == "container"


def test_the_least_of_several_quotas(tmp_path: Path) -> None:
    """Of the own group, which the container shows below its top, and of those above it."""
    files = {
        "/proc/self/mountinfo": MOUNTS_2.replace("0:28 / ", "0:28 /kubepods/pod1 "),
        "/proc/self/cgroup": "0::/kubepods/pod1/job/step\n",
        "/sys/fs/cgroup/cpu.max": "800000 100000",
        "/sys/fs/cgroup/job/cpu.max": "200000 100000",
        "/sys/fs/cgroup/job/step/cpu.max": "300000 100000",
    }
    found = processors.quota(machine_of(tmp_path, files, 16))
    assert found.found == "2 CPUs by /sys/fs/cgroup/job (cgroup version 2)"
    assert "16 threads" in found.costs and found.remedy.startswith("OMP_NUM_THREADS=2,")


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
    found = processors.clock(machine_of(tmp_path, files))
    assert (
        found.status == "lacks" and "hpet: the kernel does not trust" in found.found and "1 us" in found.costs
    )


@pytest.mark.parametrize(("text", "count"), [("0", 1), ("0-3,8", 5), ("0-1,4-7\n", 6), ("", 0), ("x", 0)])
def test_lists_of_cpus(text: str, count: int) -> None:
    assert processors.count_of(text) == count


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Objects that define what the runtimes define."""
    folder = tmp_path_factory.mktemp("libraries")
    found = {}
    for name, symbols in {
        "gomp": ["GOMP_parallel"],
        "omp": ["GOMP_parallel", "__kmpc_fork_call", "ompt_start_tool"],
        "plain_omp": ["__kmpc_fork_call"],
        "neither": ["other"],
    }.items():
        source = folder / f"{name}.c"
        source.write_text("".join(f"void {symbol}(void) {{}}\n" for symbol in symbols))
        found[name] = folder / f"{name}.so"
        subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(found[name])], check=True)
    return found


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
    found = runtimes.find(tmp_path, cache, [(site, tmp_path / "env")])
    assert [(each.path, each.kind, each.has_ompt) for each in found] == [
        (str(system), "libgomp", False),
        (str(llvm), "libomp", True),
        (str(wheel), "libgomp", False),
        (str(intel), "libiomp5", False),
    ]
    checks = runtimes.checks(found)
    assert [check.status for check in checks] == ["ok", "ok", "ok", "info"]
    assert "LIBOMP_OMPT_SUPPORT" in checks[3].remedy
    assert runtimes.checks([])[0].status == "info"


def test_what_the_probes_found_counts() -> None:
    checks = [Check("energy", "lacks", "old", "c", "r"), Check("context switches", "ok", "2")]
    found = trial.merged(
        checks,
        (
            Unavailable("preemptions and their CPUs", "seccomp forbids", "allow perf_event_open"),
            Unavailable("energy", "new", "x"),
            Unavailable("resident memory", "no /proc", "mount it"),
        ),
    )
    assert found[0] == checks[0]
    assert (found[1].status, found[1].found, found[1].remedy) == (
        "lacks",
        "seccomp forbids",
        "allow perf_event_open",
    )
    assert (found[2].what, found[2].status) == ("resident memory", "lacks")


def test_the_command() -> None:
    done = CliRunner().invoke(main, ["doctor", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["observes"] is True
    assert {"what": "observation", "status": "ok"}.items() <= told["checks"][0].items()
    assert any(runtime["kind"] == "libgomp" for runtime in told["runtimes"])
    text = CliRunner().invoke(main, ["doctor"])
    assert text.exit_code == 0
    for check in told["checks"]:
        assert check["what"] in text.stdout and check["found"].split(";")[0] in text.stdout


def test_a_missing_library_is_the_one_thing_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "preload_library", lambda: tmp_path / "gone.so")
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 1
    assert "BROKEN" in done.stdout and "gone.so is missing" in done.stdout


def test_a_library_that_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "ERROR: ld.so: object 'x' from LD_PRELOAD cannot be preloaded: ignored."
    monkeypatch.setattr(trial, "_COMMAND", f"import sys; sys.exit({said!r})")
    found = trial.run_trial().check
    assert found.status == "broken" and said in found.found and "noexec" in found.remedy


def test_a_library_that_records_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_COMMAND", "pass")
    found = trial.run_trial().check
    assert found.status == "broken" and "nothing was recorded" in found.found


def test_a_program_whose_work_is_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_PROGRAM", "pass")
    found = trial.run_trial().check
    assert found.status == "broken" and "recorded nothing" in found.found


def test_no_room_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial.tempfile, "tempdir", str(tmp_path / "gone"))
    found = trial.run_trial().check
    assert found.status == "broken" and "gone" in found.found and "TMPDIR" in found.remedy


def test_text_has_no_markup_of_others(capsys: pytest.CaptureFixture[str]) -> None:
    diagnosis([Check("a [b]", "lacks", "[red]/x[/]", "c", "d")])
    assert (
        capsys.readouterr().out
        == "lacks  a [b]  [red]/x[/]\n" + " " * 14 + "costs: c\n" + " " * 14 + "do: d\n"
    )
