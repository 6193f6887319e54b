"""What a lane does, in words."""

from __future__ import annotations

from enum import IntEnum

from trimtab.traces.intervals import Doing


class LaneState(IntEnum):
    """What a lane does, in as few kinds as eyes distinguish. Work comes first."""

    WORK = 0
    SERIAL = 1
    RUNTIME = 2
    BARRIER = 3
    LOCK = 4
    NO_TASK = 5
    NO_REGION = 6
    ARRIVAL = 7
    NO_CPU = 8
    BLOCKED = 9
    NO_CORE = 10


STATE_NAMES = {
    LaneState.WORK: "work",
    LaneState.SERIAL: "serial work",
    LaneState.RUNTIME: "runtime",
    LaneState.BARRIER: "barrier wait",
    LaneState.LOCK: "lock wait",
    LaneState.NO_TASK: "no task",
    LaneState.NO_REGION: "no region",
    LaneState.ARRIVAL: "resuming",
    LaneState.NO_CPU: "no CPU",
    LaneState.BLOCKED: "blocked",
    LaneState.NO_CORE: "needs no core",
}
# What a lane does, in words, and its state.
DOINGS = {
    Doing.WORK: (LaneState.WORK, "works in"),
    Doing.SERIAL: (LaneState.SERIAL, "works outside of regions"),
    Doing.RUNTIME: (LaneState.RUNTIME, "is in the runtime"),
    Doing.JOIN: (LaneState.BARRIER, "waits for the end of"),
    Doing.BARRIER: (LaneState.BARRIER, "waits at a barrier of"),
    Doing.TASK_CHAIN: (LaneState.NO_TASK, "has no ready task at a barrier of"),
    Doing.LOCK: (LaneState.LOCK, "waits for the lock of"),
    Doing.TASKWAIT: (LaneState.NO_TASK, "waits for tasks in"),
    Doing.FORK: (LaneState.NO_REGION, "waits for the next region"),
    Doing.DEPENDENCE: (LaneState.NO_TASK, "has no task: their inputs are missing"),
    Doing.TASK_LOCK: (LaneState.NO_TASK, "has no task: the next one waits for a mutex"),
    Doing.SPAWN: (LaneState.NO_TASK, "has no task until one is created"),
    Doing.NO_FURTHER_TASK: (LaneState.NO_TASK, "has no further task"),
    Doing.CAPPED: (LaneState.NO_TASK, "is kept from running tasks by the cap of workers"),
    Doing.FAR_TASK: (LaneState.NO_TASK, "has no task though one was ready"),
    Doing.BLOCKED: (LaneState.BLOCKED, "gave its CPU away in"),
    Doing.PREEMPTED: (LaneState.NO_CPU, "has no CPU in"),
    Doing.ARRIVAL: (LaneState.ARRIVAL, "has not begun its part of"),
    Doing.TASKS: (LaneState.NO_CORE, "waits, without using a core, until tasks have ended"),
    Doing.ORDERED: (LaneState.LOCK, "waits for its turn in"),
    Doing.RESUMPTION: (LaneState.NO_TASK, "has no task until a suspended one can go on"),
    Doing.MESSAGE: (LaneState.NO_TASK, "has no task until a message of another process comes"),
    Doing.TRANSIT: (LaneState.NO_TASK, "has no task: a message is on its way"),
    Doing.QUEUED: (LaneState.NO_TASK, "has no task: a message waits in the queue of its sender"),
    Doing.END: (LaneState.NO_TASK, "has no task after the last one of all"),
}
# What it does when that is over, and it has not gone on yet.
RESUMINGS = {
    Doing.TRANSIT: "has no task: a message is on its way",
    Doing.QUEUED: "has no task: a message waits in the queue of its sender",
    Doing.ARRIVAL: "has not begun its part of",
    Doing.JOIN: "has not gone on yet behind",
    Doing.BARRIER: "has not left a barrier yet of",
    Doing.TASK_CHAIN: "has not left a barrier yet of",
    Doing.LOCK: "has not taken the free lock yet of",
    Doing.FORK: "has not begun its part of the next region",
    Doing.ORDERED: "has not taken its turn yet in",
    **dict.fromkeys(
        (
            Doing.DEPENDENCE,
            Doing.TASK_LOCK,
            Doing.SPAWN,
            Doing.FAR_TASK,
            Doing.NO_FURTHER_TASK,
            Doing.RESUMPTION,
            Doing.MESSAGE,
        ),
        "has not begun a task that is ready",
    ),
}
