"""Draws programs, machines and causes from a seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from simulated.job_program import JobProgram
from simulated.machine import US, Machine
from simulated.planting import OF_JOBS, OF_TASKS, OF_TEAMS, Case, Plant, Planted, Planter, plant
from simulated.task_program import Task, TaskProgram
from simulated.team_program import Barrier, Loop, Region, Serial, Step, TeamProgram, Work

Random = np.random.Generator
SINGLE = [*OF_TEAMS, *OF_TASKS]
JOB_CAUSES = [*OF_JOBS]
# Others hide each other: a locality that is slower than the others never waits for their messages.
JOB_PAIRS = (("slow rank", "slow sender"), ("slow transport", "long queues"))
# A cause counts as planted where it costs so much of the time, and so many times what the program loses without it.
_LEAST_COST, _OVER_NOISE = 0.05, 2.0
# Of several causes, the one that costs more does so by this factor.
_APART = 1.4
_INTERPLAY = 0.15
_ATTEMPTS, _STEPS = 40, 12
_DRAWS = 4
# These change the whole program: another cause in it would be another one.
_ALONE = {"few lanes"}
# These need the workers' time for themselves: the longest of them hides the others.
_ONE_OF = {"chain", "long task", "spawn rate"}


def _noisy(random: Random, mean: float, spread: float, count: int) -> tuple[int, ...]:
    """Times with lognormal or gamma noise; `spread`: standard deviation over mean."""
    if random.random() < 0.5:
        drawn = random.lognormal(-(spread**2) / 2, spread, count)
    else:
        drawn = random.gamma(1 / spread**2, spread**2, count)
    return tuple(np.maximum((mean * drawn).astype(int), 1).tolist())


def clean_team(random: Random, spread: float) -> Case:
    """Steps of some regions with static and dynamic loops and barriers, little serial work between them."""
    lanes = int(random.choice([2, 3, 4, 6, 8, 12, 16]))
    names = [f"region {at}" for at in range(int(random.integers(1, 4)))]
    mean = random.uniform(1_000, 4_000) * US
    shapes = {name: int(random.integers(4)) for name in names}
    phases: list[Serial | Region] = []
    for _ in range(int(random.integers(12, 30))):
        for name in names:
            steps: list[Step] = [Work(_noisy(random, mean, spread, lanes))]
            if shapes[name] == 1:
                steps = [Loop(_noisy(random, mean / 8, spread, 8 * lanes), 0, True), *steps]
            if shapes[name] == 2:
                steps = [*steps, Barrier(), Work(_noisy(random, mean / 2, spread, lanes))]
            if shapes[name] == 3:
                steps = [Loop(_noisy(random, mean / 64, spread, 64 * lanes), 1, True), *steps]
            phases += [Serial(round(mean * random.uniform(0.0005, 0.002))), Region(name, tuple(steps))]
    return Case(TeamProgram(lanes, tuple(phases)), Machine(lanes, wake_ns=round(random.uniform(2, 6) * US)))


def clean_tasks(random: Random, spread: float) -> Case:
    """Independent tasks of some kinds, made by one task or by a tree of them."""
    workers = int(random.choice([2, 3, 4, 6, 8, 12, 16]))
    kinds = [f"kind {at}" for at in range(int(random.integers(1, 4)))]
    means = random.uniform(100, 400, len(kinds)) * US
    count = workers * int(random.integers(60, 120))
    leaves = [at % len(kinds) for at in range(count)]
    tasks = [Task(kinds[kind], _noisy(random, means[kind], spread, 1)[0]) for kind in leaves]
    root = Task("root", 0, tuple(range(1, count + 1)), making=200, waits=True)
    program = TaskProgram(workers, (root, *tasks), before=50 * US, after=20 * US)
    return Case(
        program, Machine(workers, wake_ns=round(random.uniform(2, 6) * US)), int(random.integers(1 << 30))
    )


def clean_job(random: Random, spread: float) -> Case:
    """Some localities that compute in steps and then exchange letters: all with all, or each with its neighbours."""
    localities, workers = int(random.choice([2, 3, 4, 6])), int(random.choice([1, 2, 4]))
    mean, grain = random.uniform(300, 1_500) * US, int(random.integers(2, 5))
    times = tuple(
        tuple(_noisy(random, mean / grain, spread, grain * workers) for _ in range(localities))
        for _ in range(int(random.integers(12, 30)))
    )
    places = range(localities)
    reach = int(random.choice([1, localities]))
    partners = tuple(
        tuple(
            receiver
            for receiver in places
            if receiver != sender
            and min((receiver - sender) % localities, (sender - receiver) % localities) <= reach
        )
        for sender in places
    )
    program = JobProgram(workers, times, partners, (round(mean / 100),) * localities)
    machine = Machine(workers, wake_ns=round(random.uniform(2, 6) * US))
    return Case(program, machine, int(random.integers(1 << 30)))


def clean_case(seed: int, family: str = "", spread: float = 0.003) -> Case:
    """A program without a planted cause. `family`: `team`, `tasks` or `job`; empty: `team` or `tasks`, drawn."""
    random = np.random.default_rng((seed, 1))
    if family == "job":
        return clean_job(random, spread)
    is_team = family == "team" if family else random.random() < 0.5
    return clean_team(random, spread) if is_team else clean_tasks(random, spread)


_FAMILIES: tuple[tuple[dict[str, Planter], Callable[[Random, float], Case]], ...] = (
    (OF_TEAMS, clean_team),
    (OF_TASKS, clean_tasks),
    (OF_JOBS, clean_job),
)


def planted_case(seed: int, names: Sequence[str]) -> Planted:
    """A program with these causes: keys of `OF_TEAMS`, `OF_TASKS` or `OF_JOBS`. They cost enough to be told from noise, and from each other."""
    for attempt in range(_ATTEMPTS):
        if (made := _attempt((seed, 2, attempt), names)) is not None:
            return made
    raise ValueError(f"seed {seed}: no program has {names} at a severity that is enough")


def _attempt(seed: tuple[int, ...], names: Sequence[str]) -> Planted | None:
    random = np.random.default_rng(seed)
    of_family, draw = next(family for family in _FAMILIES if names[0] in family[0])
    clean = draw(random, float(random.uniform(0.002, 0.02)))
    planters: list[Planter] = [of_family[name] for name in names]
    severities = [float(random.uniform(0.1, 0.6)) for _ in names]
    seeds = [int(random.integers(1 << 30)) for _ in names]
    places = _places(clean)
    place = [places[int(random.integers(len(places)))] for _ in names]
    for _ in range(_STEPS):
        plants: list[Plant] = [
            planter(clean, where, severity, np.random.default_rng(own))
            for planter, where, severity, own in zip(planters, place, severities, seeds, strict=True)
        ]
        made = plant(clean, plants)
        weak = _weakest(made)
        if weak is None:
            return made if _add_up(made) else None
        severities[weak] *= 1.3
    return None


def _add_up(made: Planted) -> bool:
    """Whether the causes together cost what each of them does: else it is not defined which of them costs more."""
    together = made.recording.makespan_ns - made.clean_ns
    return abs(sum(made.costs_ns) - together) <= _INTERPLAY * together


def _weakest(made: Planted) -> int | None:
    """The cause that has to be more severe; None: all are as they should be."""
    lost = max(made.clean_ns - made.clean.program.work_ns / made.clean.cpus, 0)
    least = max(_LEAST_COST * made.recording.makespan_ns, _OVER_NOISE * lost)
    order = np.argsort(made.costs_ns).tolist()
    for at in order:
        if made.costs_ns[at] < least:
            return int(at)
    for low, high in pairwise(order):
        if made.costs_ns[high] < _APART * made.costs_ns[low]:
            return int(high)
    return None


def _places(case: Case) -> list[str]:
    """Regions, or kinds of tasks."""
    if isinstance(case.program, JobProgram):
        return ["step"]
    if isinstance(case.program, TeamProgram):
        return sorted({phase.name for phase in case.program.phases if isinstance(phase, Region)})
    return sorted({task.kind for task in case.program.tasks[1:]})


def single_case(seed: int) -> Planted:
    """One cause; each comes as often as any other."""
    return planted_case(seed, [SINGLE[seed % len(SINGLE)]])


def single_job_case(seed: int) -> Planted:
    """One cause in a job; each comes as often as any other."""
    return planted_case(seed, [JOB_CAUSES[seed % len(JOB_CAUSES)]])


def two_job_case(seed: int) -> Planted:
    """Two causes in a job that do not hide each other."""
    return planted_case(seed, JOB_PAIRS[seed % len(JOB_PAIRS)])


def several_case(seed: int) -> Planted:
    """Two or three causes of one family, drawn again where no program has these: some hide each other, such as wake-ups and locks."""
    for attempt in range(_DRAWS):
        try:
            return planted_case(seed, _several((seed, 3, attempt) if attempt else (seed, 3)))
        except ValueError:
            if attempt == _DRAWS - 1:
                raise
    raise AssertionError


def _several(seed: tuple[int, ...]) -> list[str]:
    random = np.random.default_rng(seed)
    if random.random() < 0.7:
        names = [name for name in OF_TEAMS if name not in _ALONE]
        return [str(name) for name in random.choice(names, int(random.integers(2, 4)), replace=False)]
    return [str(random.choice(sorted(_ONE_OF))), "serial part beside tasks"]


SETS = {
    "single": single_case,
    "several": several_case,
    "clean": partial(clean_case, spread=0.003),
    "job": single_job_case,
    "jobs": two_job_case,
}
