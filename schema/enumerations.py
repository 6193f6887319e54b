"""All enumerations of the format, and the shares of a report.

A number once given out keeps its meaning. What readers may pass over (a new kind of event, a metric, a cause) raises
`format_minor` in records.py; any other change raises `format_version`.
"""

from __future__ import annotations

from schema.description import Enumeration, EventKind, Metric, RowField, Value

FILE_KIND = Enumeration(
    "file_kind",
    "FileKind",
    "u32",
    "What a file of a run directory holds.",
    (
        Value(1, "process"),
        Value(2, "names"),
        Value(3, "counters"),
        Value(4, "events"),
        Value(5, "profile"),
        Value(6, "switches"),
        Value(7, "decisions"),
        Value(8, "scheduler_threads"),
        Value(9, "scheduler_charges"),
        Value(10, "scheduler_delays"),
        Value(11, "scheduler_events"),
        Value(12, "knobs"),
        Value(13, "storage"),
    ),
    labels="FILE_KINDS",
)
PROCESS_STATE = Enumeration(
    "process_state",
    "ProcessState",
    "u32",
    "How far a process got.",
    (
        Value(1, "running", "no end was seen: it was killed, or it is still alive"),
        Value(2, "exited", "it ran its destructors: exit() or return from main"),
        Value(3, "replaced", "by exec"),
    ),
)
CLOCK_KIND = Enumeration(
    "clock_kind",
    "ClockKind",
    "u32",
    "What ticks are.",
    (Value(1, "tsc", "the processor's time stamp counter"), Value(2, "monotonic", "CLOCK_MONOTONIC")),
)
RECORD_LEVEL = Enumeration(
    "record_level",
    "RecordLevel",
    "u32",
    "How much is recorded.",
    (
        Value(0, "off", "nothing"),
        Value(1, "idle", "nothing, but the hooks are in place"),
        Value(2, "profile", "profile rows, and the last events of each lane"),
        Value(3, "trace", "profile rows, and every event"),
    ),
)
LANE_KIND = Enumeration(
    "lane_kind",
    "LaneKind",
    "u32",
    "What a lane stands for.",
    (
        Value(0, "thread", "a thread of the process; threads may have it one after another"),
        Value(1, "cpu", "a CPU of the host", label="CPU"),
        Value(2, "server", "something that serves requests for others"),
        Value(
            3, "executor", "something that executes work for the process, such as a slot of another process"
        ),
    ),
    labels="LANE_KINDS",
)
_TASK = "task"
EVENT_KIND = Enumeration(
    "event_kind",
    "EventKind",
    "u16",
    "What happened on a lane.",
    (
        EventKind(0, "none", label=None),
        EventKind(
            1,
            "region_begin",
            "on the forking lane",
            arg="nesting level, 1 for the outermost",
            a="instance",
            b="enclosing instance or 0",
        ),
        EventKind(
            2,
            "region_end",
            arg="nesting level",
            a="instance",
            b="threads that took part, 0: not accounted yet",
        ),
        EventKind(
            3,
            "work_begin",
            "a lane starts its part of a region",
            a="instance, 0: the one of that subject in whose time it lies",
            b="thread number",
        ),
        EventKind(4, "work_end", a="as at the begin", b="ticks of it spent waiting"),
        EventKind(5, "task_begin", "an untied task has a pair for each of its parts", a="task, 0: not known"),
        EventKind(6, "task_end", a="task, 0: not known"),
        EventKind(7, "scope_begin", "the program's own (trimtab.h)"),
        EventKind(8, "scope_end"),
        EventKind(16, "loop", arg="schedule", a="duration", b="iterations that this lane executed"),
        EventKind(17, "wait", arg="wait_kind", a="duration", b="instance of the region or 0"),
        EventKind(18, "chunk", arg="schedule", a="iterations", b="first iteration, signed"),
        EventKind(19, "lock", arg="which lock, 0: not known", a="ticks held", b="ticks waited before"),
        EventKind(20, "single", arg="1: this lane executed it"),
        EventKind(32, "task_created", a=_TASK, b="creating task or 0"),
        EventKind(33, "task_ready", a=_TASK, b="task that made it ready, or 0"),
        EventKind(
            34,
            "task_suspended",
            "it leaves the lane's stack",
            arg="wait_cause",
            a=_TASK,
            b="task that it waits for, or 0",
        ),
        EventKind(
            35,
            "task_resumed",
            "on any lane",
            arg="wait_cause",
            a=_TASK,
            b="ticks since it was suspended, 0: not known",
        ),
        EventKind(
            36,
            "edge",
            "task b could not go on before task a gave it something; LLVM's OpenMP tells only those where a had not ended when b was created",
            arg="wait_cause",
            a="giving task; 0: the lane's thread, outside of all tasks",
            b="receiving task",
        ),
        EventKind(
            37,
            "parcel_sent",
            "a parcel for another locality of the job; the subject is that of the task that a call becomes, else that of the task "
            "that sends an answer or a letter",
            arg="number of the other locality",
            a="parcel: unique among the parcels and tasks of the process",
            b="task that sends it, or 0",
        ),
        EventKind(
            38,
            "parcel_received",
            "a parcel of another locality has become a task",
            arg="number of that locality",
            a=_TASK,
            b="parcel, as its sender numbers it",
        ),
        EventKind(
            39,
            "answer_received",
            "a task can go on or begin because a parcel of another locality has come: the answer to its call, or a letter of a "
            "collective operation",
            arg="number of that locality",
            a=_TASK,
            b="parcel, as its sender numbers it",
        ),
        EventKind(40, "mark", "the program's own (trimtab.h)"),
        EventKind(41, "thread_begin", a="tid"),
        EventKind(42, "thread_end", a="tid"),
        EventKind(
            43,
            "worker_state",
            "the state of the lane's worker from here on; the subject is its runtime",
            arg="worker_state",
            a="number of the worker",
        ),
        EventKind(
            44,
            "parcel_left",
            "a parcel has left the queue of its sender, in a message that may hold others; on the lane that sent the message",
            arg="leave_cause",
            a="parcel",
            b="number of the message among those to that locality",
        ),
        EventKind(
            48, "switch_out", "switches.tt only", arg="1: preempted, it could have run on", a="CPU", b="lane"
        ),
        EventKind(49, "switch_in", "switches.tt only", a="CPU", b="lane"),
    ),
    labels="EVENT_KINDS",
)
WAIT_KIND = Enumeration(
    "wait_kind",
    "WaitKind",
    "u16",
    "What a thread of a team waits for.",
    (
        Value(1, "join", "the barrier at the end of a region"),
        Value(2, "barrier", "explicit, or at the end of a loop, single or sections"),
        Value(3, "critical"),
        Value(4, "ordered"),
        Value(5, "single", "copyprivate"),
        Value(6, "taskwait", "taskwait, taskgroup, end of taskloop"),
        Value(7, "reduction"),
        Value(8, "lock", "omp_set_lock"),
    ),
    labels="WAITS",
)
WORKER_STATE = Enumeration(
    "worker_state",
    "WorkerState",
    "u16",
    "What the worker of a task runtime does.",
    (
        Value(0, "none", "the lane's thread is no worker, or no longer"),
        Value(1, "runs", "it runs tasks, and finds the next one at once"),
        Value(2, "looks", "it looks for a task"),
        Value(3, "idle", "parked: there was nothing to run"),
        Value(4, "capped", "parked: the runtime may not use more workers"),
    ),
    labels="WORKER_STATES",
    header="TRIMTAB_WORKER",
)
WAIT_CAUSE = Enumeration(
    "wait_cause",
    "WaitCause",
    "u16",
    "What a task waits for, or what one task gives another.",
    (
        Value(0, "other"),
        Value(1, "future"),
        Value(2, "slot", "an input of a task of a graph"),
        Value(3, "mutex"),
        Value(4, "condition"),
        Value(5, "semaphore"),
        Value(6, "latch"),
        Value(7, "barrier"),
        Value(8, "channel"),
        Value(9, "children", "forked tasks"),
        Value(10, "time"),
    ),
    labels="CAUSES",
    header="TRIMTAB_CAUSE",
)
LEAVE_CAUSE = Enumeration(
    "leave_cause",
    "LeaveCause",
    "u16",
    "Why a parcel left the queue of its sender.",
    (
        Value(0, "none", "it did not wait for others: it is too long for a queue"),
        Value(1, "count", "a fixed setting: as many parcels as the queue may hold"),
        Value(2, "batch", "as many parcels as make up for the cost of a message"),
        Value(3, "time", "a fixed setting: the oldest parcel had waited long enough"),
        Value(4, "full", "as many bytes as the queue may hold"),
        Value(5, "handled", "the receiver had handled all earlier messages"),
        Value(6, "sender_waits", "its sender had nothing else to do"),
        Value(
            7,
            "age",
            "a thread had nothing else to do, and the parcels had waited for longer than a message costs",
        ),
        Value(8, "asked", "the program asked for it, or the job ended"),
        Value(9, "room", "the transport had no room before"),
    ),
    labels="LEAVE_CAUSES",
    header="TRIMTAB_LEFT",
)
SCHEDULE = Enumeration(
    "schedule",
    "Schedule",
    "u16",
    "How the iterations of a loop are shared out.",
    (
        Value(0, "none", "not a worksharing loop", label=None),
        Value(1, "static", "one block for each thread"),
        Value(2, "static_chunked", label="static"),
        Value(3, "dynamic"),
        Value(4, "guided"),
        Value(5, "runtime"),
        Value(6, "auto"),
        Value(
            7,
            "static_inferred",
            "GCC inlines static loops: inferred from the calls that remain, and only counted",
            label="static (inferred)",
        ),
        Value(8, "sections"),
        Value(9, "distribute"),
    ),
    labels="SCHEDULES",
)
SUBJECT_KIND = Enumeration(
    "subject_kind",
    "SubjectKind",
    "u16",
    "What a subject is.",
    (
        Value(1, "region"),
        Value(2, "loop"),
        Value(3, "barrier"),
        Value(4, "critical"),
        Value(5, "single"),
        Value(6, "sections"),
        Value(7, "task"),
        Value(8, "taskwait"),
        Value(9, "taskloop"),
        Value(10, "ordered"),
        Value(11, "lock"),
        Value(12, "scope", "the program's own (trimtab.h)"),
        Value(13, "mark", "the program's own (trimtab.h)"),
        Value(14, "teams"),
        Value(15, "workers", "of a task runtime"),
    ),
    labels="SUBJECT_KINDS",
)
DECISION_OUTCOME = Enumeration(
    "decision_outcome",
    "Outcome",
    "u16",
    "What became of a change of a knob.",
    (
        Value(1, "trial", "in force, not accepted"),
        Value(2, "kept", "accepted after a trial"),
        Value(3, "undone", "back to what was accepted"),
        Value(4, "set", "accepted at once, by a rule"),
    ),
    labels="OUTCOMES",
    typescript="Outcome",
)
METRIC = Enumeration(
    "metric",
    "Metric",
    "u16",
    "What a profile row is about. Said here: what its ticks are.",
    (
        Metric(
            1,
            "region",
            "wall time of an instance",
            fields=(
                RowField(0, "threads", "sum over instances of the threads that took part"),
                RowField(1, "most_threads", "most threads of an instance"),
                RowField(
                    2, "slowest_work", "sum over instances of the work of the slowest lane", unit="ticks"
                ),
                RowField(3, "mean_work", "sum over instances of the mean work of the lanes", unit="ticks"),
            ),
            flags="region_flags",
        ),
        Metric(
            2,
            "team",
            "work of lane `about` in an instance",
            fields=(
                RowField(0, "join_wait", "waited for the others at the end of the region", unit="ticks"),
                RowField(1, "arrival", "from the fork until the lane began its part", unit="ticks"),
                RowField(
                    2, "inner_wait", "waited inside its part: barriers, locks, inner joins", unit="ticks"
                ),
            ),
            flags="region_flags",
        ),
        Metric(
            3,
            "loop",
            "time that this lane was in the loop",
            fields=(
                RowField(0, "iterations", "that this lane executed"),
                RowField(1, "chunks", "that this lane took"),
                RowField(2, "chunk_size", "of the schedule; 0: none was given"),
                RowField(3, "trip_count", "iterations of one instance; unknown: not known"),
            ),
            flags="schedule",
        ),
        Metric(4, "wait", "time waited", flags="wait_kind"),
        Metric(
            5,
            "lock",
            "time waited to enter",
            fields=(
                RowField(0, "held", "time that the lock was held", unit="ticks"),
                RowField(1, "contended", "entries that waited for more than 1 us"),
            ),
        ),
        Metric(
            6,
            "task",
            "time executing, without inner tasks and waits of OpenMP",
            fields=(
                RowField(0, "created", "tasks that this lane created"),
                RowField(
                    1, "inclusive", "time executing with inner tasks; not of sampled tasks", unit="ticks"
                ),
                RowField(2, "suspensions", "times that a task was suspended"),
                RowField(3, "estimate", "of counted tasks: estimated time of all of `count`", unit="ticks"),
            ),
            flags="task_flags",
        ),
        Metric(7, "scope", "time inside"),
        Metric(
            8,
            "single",
            "none: `count` is passages",
            fields=(RowField(0, "executed", "passages in which this lane executed the block"),),
        ),
        Metric(
            9,
            "worker",
            "time that the lane's worker was in a state",
            fields=(
                RowField(
                    0, "while_busy", "part of it in which any worker of the runtime ran tasks", unit="ticks"
                ),
                RowField(1, "since", "when the present state began; 0: it is in another state", unit="ticks"),
                RowField(2, "busy_before", "how long any worker had run tasks until then", unit="ticks"),
            ),
            flags="worker_state",
        ),
        Metric(10, "suspended", "time that tasks were suspended which this lane resumed", flags="wait_cause"),
        Metric(
            11,
            "cpu_use",
            "time of those parts of the region of which the kernel was asked how they used the CPU",
            fields=(
                RowField(0, "program_time", "executing the program's own instructions", unit="ns"),
                RowField(1, "kernel_time", "executing the kernel for the thread", unit="ns"),
                RowField(2, "minor_faults", "page faults that needed no disk"),
                RowField(3, "major_faults", "page faults that waited for a disk"),
            ),
        ),
    ),
    labels="METRIC_NAMES",
)
REGION_FLAGS = Enumeration(
    "region_flags",
    "RegionFlags",
    "u16",
    "Flags of rows of metrics region and team; 0: all instances were timed in full.",
    (
        Value(
            1,
            "untimed",
            "fork and join were timed, the members were not: slowest_work and mean_work are 0",
            label="members not timed",
        ),
        Value(2, "sample", "those instances among them that were timed in full"),
    ),
    labels="REGION_FLAGS",
    is_flags=True,
)
TASK_FLAGS = Enumeration(
    "task_flags",
    "TaskFlags",
    "u16",
    "Flags of rows of metric task; 0: every task was timed.",
    (
        Value(
            1,
            "counted",
            "the count is exact, and some of the tasks were timed, not evenly spread over the run",
        ),
        Value(2, "inclusive", "ticks include inner tasks"),
        Value(4, "sampled", "with counted: tasks of OpenMP, those that were timed were picked at random"),
    ),
    is_flags=True,
)
IDLE_VERDICT = Enumeration(
    "idle_verdict",
    "IdleVerdict",
    "",
    "Why at most one worker was busy in an idle region.",
    (
        Value(
            1,
            "not_enough_workers",
            "a task of the chain waited, and no worker was free",
            label="not enough workers",
        ),
        Value(
            2,
            "bad_distribution",
            "a task of the chain waited, and a worker was free",
            label="bad distribution",
        ),
        Value(
            3,
            "straggler",
            "its initiating task took longer than its siblings",
        ),
        Value(4, "dependence", "the tasks began when they could", label="true dependence"),
        Value(
            5, "outside", "code outside of all tasks made the next work", label="work from outside of tasks"
        ),
    ),
    is_text=True,
)
NAME_TAG = Enumeration(
    "name_tag",
    "NameTag",
    "u16",
    "What a record of names.tt names. Readers pass over tags that they do not know.",
    (
        Value(1, "module"),
        Value(2, "subject"),
        Value(3, "counter"),
        Value(4, "unavailable"),
        Value(5, "runtime"),
        Value(6, "fact"),
        Value(7, "knob"),
        Value(8, "policy"),
        Value(9, "sample"),
    ),
)
SHARE = Enumeration(
    "share",
    "Share",
    "",
    "Where the available core time went. Not stored: reports have them, and they add up to 1.",
    (
        Value(0, "work", "a CPU ran the program's own code"),
        Value(
            1,
            "barrier_wait",
            "threads waited for others: at barriers, locks, taskwait, the end of a region",
            label="barrier wait",
        ),
        Value(2, "arrival", "from the fork until a thread began its part"),
        Value(
            3, "starved", "workers were parked without a task while others ran some", label="no task ready"
        ),
        Value(4, "serial", "cores for which the program had no thread at work"),
        Value(5, "run_delay", "threads were ready to run but had no CPU", label="run delay"),
        Value(
            6,
            "runtime",
            "forking, joining, handing out or looking for work, and Trimtab's own cost",
            label="runtime and tool",
        ),
        Value(7, "unattributed", "blocked, sleeping, or not observed; also the rounding"),
    ),
    labels="SHARE_LABELS",
    typescript="Share",
)
CAUSE = Enumeration(
    "cause",
    "Cause",
    "",
    "Why core time was lost: the causes of findings.",
    (
        Value(1, "imbalance", "the threads of a region have unequal work"),
        Value(2, "small_regions", "forking and joining takes much of a region", label="regions too small"),
        Value(3, "small_chunks", "handing out chunks takes long", label="chunks too small"),
        Value(4, "ordered", "threads wait for their turn in an ordered part", label="ordered part"),
        Value(5, "lock_contention", "threads wait for critical sections", label="lock contention"),
        Value(6, "oversubscription", "threads take CPUs from each other", label="more threads than CPUs"),
        Value(7, "cpu_contention", "other programs take CPUs from the threads", label="CPU contention"),
        Value(
            8, "throttling", "the control group's quota stopped the threads", label="throttled by the quota"
        ),
        Value(9, "wait_policy", "threads without work keep CPUs busy", label="wait policy"),
        Value(10, "serial_part", "one thread at most is at work", label="serial part"),
        Value(11, "few_threads", "a region leaves CPUs without a thread", label="fewer threads than CPUs"),
        Value(12, "small_tasks", "making and finding tasks takes long", label="tasks too small"),
        Value(13, "starvation", "workers find no task, for no other cause", label="too few tasks ready"),
        Value(14, "task_chain", "tasks run one after another", label="a chain of tasks"),
        Value(15, "one_producer", "workers wait for the thread that makes the tasks", label="one producer"),
        Value(
            16,
            "long_task",
            "one task runs much longer than the others, and workers wait for it",
            label="one long task",
        ),
        Value(
            17, "suspended_tasks", "tasks are suspended, and none is ready", label="tasks wait for each other"
        ),
        Value(18, "few_workers", "there are CPUs without a worker", label="fewer workers than CPUs"),
        Value(19, "scheduling_policy", "the runtime advises another one", label="another scheduling policy"),
        Value(20, "process_imbalance", "processes have unequal work", label="imbalance between processes"),
        Value(
            21, "tiny_messages", "a fixed setting sends small parcels one by one", label="messages too small"
        ),
        Value(
            22,
            "queued_parcels",
            "workers are idle while parcels wait in queues",
            label="waiting for queued parcels",
        ),
        Value(
            23,
            "late_locality",
            "the others wait for one locality in collective operations",
            label="late locality",
        ),
        Value(
            24,
            "saturated_server",
            "a communication server has no pause while senders wait",
            label="saturated server",
        ),
        Value(
            25,
            "task_order",
            "tasks that others wait for were ready early, and ran late",
            label="order of tasks",
        ),
        Value(
            30,
            "returned_memory",
            "freed memory is faulted in again",
            label="memory given back and taken again",
        ),
        Value(
            31,
            "small_pages",
            "memory is faulted in by small pages where huge ones fit",
            label="small pages",
        ),
        Value(
            32,
            "allocator_contention",
            "threads wait for each other in malloc and free",
            label="allocator contention",
        ),
        Value(33, "remote_memory", "threads use memory of another node", label="memory on one node"),
        Value(40, "straggler", "a part or task takes far longer than others of its kind, and lanes wait"),
        Value(41, "skew", "one partition has much more data than the others"),
        Value(42, "many_small_tasks", "starting tasks takes much of them", label="too many small tasks"),
        Value(43, "few_partitions", "a stage has fewer tasks than core slots", label="too few partitions"),
        Value(44, "spill", "data did not fit into memory and was written to disk"),
        Value(45, "recomputation", "lost or evicted partitions were computed again"),
        Value(
            46,
            "memory_thrash",
            "partitions are evicted and computed again and again, or collecting garbage takes long",
            label="memory thrash",
        ),
        Value(47, "wide_shuffle", "a shuffle has very many small blocks", label="wide shuffle"),
        Value(48, "idle_executors", "fewer executors would take hardly longer", label="idle executors"),
        Value(49, "driver_busy", "no stage was active: the driver computed or planned", label="driver busy"),
        Value(
            50,
            "late_wake_ups",
            "threads go on long after what they waited for has happened",
            label="wake-up latency",
        ),
        Value(
            51,
            "serial_input",
            "the first thread waits for files or other programs while the others have no work",
            label="serial input or output",
        ),
        Value(
            52,
            "late_executors",
            "jobs waited for executors that had been given back",
            label="late executors",
        ),
    ),
    is_text=True,
)
BLAME_CAUSE = Enumeration(
    "blame_cause",
    "BlameCause",
    "",
    "What idle core time is charged to.",
    (
        Value(
            1,
            "last_arrival",
            "the others waited for one lane, now this one and now that one",
            label="last arrival",
        ),
        Value(2, "imbalance", "a lane has more work than the others in most instances of a region"),
        Value(3, "straggler", "one part of a region took more than twice what it takes on that lane"),
        Value(
            4,
            "dependence_chain",
            "tasks waited for what other tasks were to give them",
            label="dependence chain",
        ),
        Value(5, "serial_part", "only one thread had work", label="serial part"),
        Value(
            6,
            "too_few_workers",
            "there were CPUs for which the program had no thread",
            label="too few workers",
        ),
        Value(7, "bad_distribution", "a worker had no task though one was ready", label="bad distribution"),
        Value(8, "lock_holder", "another thread held the lock or critical section", label="lock holder"),
        Value(9, "preemption", "a thread that could run had no CPU"),
        Value(
            10,
            "wakeup_latency",
            "what was waited for had happened, and the thread had not gone on yet",
            label="wake-up latency",
        ),
        Value(11, "runtime", "the runtime forked, joined, or looked for work; and Trimtab's own cost"),
        Value(12, "spawn_rate", "workers waited for the thread that made the tasks", label="spawn rate"),
        Value(
            13, "blocking_io", "a thread gave its CPU away in the middle of its work", label="blocking I/O"
        ),
        Value(14, "unattributed", "nobody knows: events are missing, or the thread was not observed"),
        Value(
            20,
            "late_message",
            "a message of another process was on its way: in the transport, or not yet noticed; of runs before format 1.8 "
            "also in the queue of its sender",
            label="late message",
        ),
        Value(
            21,
            "queued_message",
            "a message of another process waited in the queue of its sender, for others to travel with or for room",
            label="queued message",
        ),
        Value(30, "stage_barrier", "tasks of Spark waited for the end of a stage", label="stage barrier"),
        Value(31, "skew", "one partition has much more data than the others"),
        Value(32, "few_partitions", "a stage has fewer tasks than core slots", label="too few partitions"),
        Value(33, "executor_start", "an executor was requested, but not there yet", label="executor start"),
        Value(34, "driver_busy", "no stage was active: the driver computed or planned", label="driver busy"),
        Value(35, "pending_tasks", "tasks were pending, but not launched", label="pending tasks"),
        Value(36, "scheduler_delay", "a task was under way to or from its executor", label="scheduler delay"),
        Value(37, "deserialization", "a task was unpacked"),
        Value(38, "serialization", "results and shuffle files were written"),
        Value(39, "fetch", "a task waited for shuffle data"),
        Value(40, "spill", "data did not fit into memory and was written to disk"),
        Value(41, "garbage_collection", "the JVM collected garbage", label="garbage collection"),
        Value(42, "failed_tasks", "attempts that failed or were killed", label="failed tasks"),
    ),
    is_text=True,
)
MISSING_KIND = Enumeration(
    "missing_kind",
    "Missing",
    "",
    "What a report lacks. What C++ reports begins with such a word, or is of another kind.",
    (
        Value(0, "other", "something that the system or the machine does not offer"),
        Value(1, "regions", "everything of OpenMP"),
        Value(2, "tuning", "a change of a region: it has nothing to tune"),
        Value(3, "virtual_threads", "functions that do not fit virtual threads", label="virtual threads"),
        Value(4, "policy", "a policy that was disabled"),
        Value(5, "process", "a process or rank of the run: it is damaged, or elsewhere"),
        Value(6, "record", "a part of what a process recorded: it is damaged"),
        Value(
            7, "end", "the end of a process or rank, or a process that ended before its files were complete"
        ),
    ),
    is_text=True,
    is_written=True,
)
DECISION_REASON = Enumeration(
    "decision_reason",
    "Reason",
    "",
    "Reasons of decisions that readers distinguish; others are texts of the policy.",
    (
        Value(
            1,
            "incumbents_turn",
            "a turn of a trial is over: it alternates with the incumbent",
            label="the incumbent's turn",
        ),
        Value(2, "measured", "a candidate was measured"),
        Value(3, "no_better", "the proof found no gain", label="no better"),
        Value(4, "not_measured", "the subject changed", label="it is not measured any more"),
        Value(5, "earlier_run", "", label="found by an earlier run"),
        Value(6, "set_by_hand", "the user has set it with `trimtab top`", label="set by hand"),
        Value(7, "undone_by_hand", "the user has undone what was set by hand", label="undone by hand"),
    ),
    is_text=True,
    is_written=True,
)
POLICY_NAME = Enumeration(
    "policy_name",
    "PolicyName",
    "",
    "Policies that readers distinguish.",
    (
        Value(1, "history", "applies what earlier runs found"),
        Value(2, "by_hand", "the user, with `trimtab top`", label="by hand"),
    ),
    is_text=True,
    is_written=True,
)
COUNTER_NAME = Enumeration(
    "counter_name",
    "CounterName",
    "",
    "Counters that shares and findings are computed from.",
    (
        Value(1, "process_run_delay", "threads were ready to run but had no CPU", label="process run delay"),
        Value(2, "time_throttled", "the control group's quota stopped the process", label="time throttled"),
        Value(3, "minor_page_faults", "page faults that needed no disk", label="minor page faults"),
        Value(4, "major_page_faults", "page faults that waited for a disk", label="major page faults"),
        Value(5, "kernel_time", "CPU time of the kernel for the process", label="kernel time"),
        Value(6, "peak_memory", "the largest resident set", label="peak resident memory"),
        Value(7, "huge_pages", "memory in transparent huge pages", label="huge pages"),
        Value(8, "page_fault_cost", "of the first use of a page", label="page fault cost"),
        Value(9, "page_release_cost", "of giving a page back", label="page release cost"),
        Value(
            10, "first_thread_time", "CPU time of the process's first thread", label="first thread's CPU time"
        ),
        Value(
            11,
            "ended_threads_delay",
            "threads that ended had waited for a CPU",
            label="run delay of ended threads",
        ),
        Value(
            12, "looks_at_threads", "times that the states of all threads were read", label="looks at threads"
        ),
        Value(13, "idle_no_thread", "CPUs for which there was no thread", label="idle: no thread"),
        Value(14, "idle_for_threads", "threads waited for each other", label="idle: waits for threads"),
        Value(15, "idle_for_files", "threads waited for files", label="idle: waits for files"),
        Value(16, "idle_for_messages", "threads waited for messages", label="idle: waits for messages"),
        Value(17, "idle_for_programs", "threads waited for other programs", label="idle: waits for programs"),
        Value(18, "idle_for_time", "threads slept", label="idle: sleeps"),
        Value(19, "idle_otherwise", "threads waited for something else", label="idle: other waits"),
        Value(
            20, "arena_waits", "threads waited for the lock of an arena", label="waits for arenas of malloc"
        ),
        Value(
            21,
            "memory_map_waits",
            "threads were blocked: memory map or page faults",
            label="waits for the memory map",
        ),
        Value(
            22,
            "arena_waiters",
            "threads that have waited for the lock of an arena",
            label="threads that waited for arenas",
        ),
        Value(23, "arenas", "arenas that malloc has", label="arenas of malloc"),
        Value(
            24,
            "fullest_node",
            "share of the pages on the node that has most of them",
            label="pages on the fullest node",
        ),
        Value(
            25,
            "remote_pages",
            "share of the pages that are not on a thread's node",
            label="pages on other nodes",
        ),
        Value(
            26,
            "node_distance",
            "distance of the fullest node, relative to a thread's own",
            label="distance of the fullest node",
        ),
        Value(
            27,
            "contended_kernel_time",
            "kernel time while an arena had waiters",
            label="kernel time at contended arenas",
        ),
    ),
    is_text=True,
    is_written=True,
)

SCHEDULER_EVENT_KIND = Enumeration(
    "scheduler_event_kind",
    "SchedulerEventKind",
    "u16",
    "What the operating system's scheduler did.",
    (
        Value(1, "switched", "a CPU goes on with another thread"),
        Value(2, "woken", "a thread can run again, or for the first time"),
        Value(3, "moved", "a thread is to run on another CPU"),
        Value(4, "lost", "events of that CPU are missing up to here"),
    ),
)
SCHEDULER_WAIT = Enumeration(
    "scheduler_wait",
    "SchedulerWait",
    "u16",
    "Why a thread waited for a CPU.",
    (
        Value(1, "woken", "it was woken: from the wake-up until it ran"),
        Value(2, "preempted", "it was taken off its CPU while it could go on: from then until it ran again"),
    ),
)
SCHEDULER_CHARGE_KIND = Enumeration(
    "scheduler_charge_kind",
    "SchedulerChargeKind",
    "u16",
    "What a thread has to do with another one's waits.",
    (
        Value(1, "ran_after_wake_up", "it ran on the CPU for which the other one waited after a wake-up"),
        Value(2, "ran_after_preemption", "it ran there while the other one waited after a preemption"),
        Value(3, "woke", "it woke the other one, which waited then"),
    ),
)
SCHEDULER_THREAD_FLAGS = Enumeration(
    "scheduler_thread_flags",
    "SchedulerThreadFlags",
    "u32",
    "What is known of a thread.",
    (Value(1, "watched", "the launcher has started it, or one of its ancestors"),),
    is_flags=True,
)
KNOB_FLAGS = Enumeration(
    "knob_flags",
    "KnobFlags",
    "u32",
    "What is known of a knob.",
    (
        Value(1, "gone", "its subject has ended, or the program turns it itself: it cannot be set"),
        Value(2, "needs_consent", "it can change the program's results, and the user has not consented"),
        Value(4, "by_hand", "its value was set by hand, and searches leave its subject alone"),
    ),
    is_flags=True,
)
KNOB_REQUEST = Enumeration(
    "knob_request",
    "KnobRequest",
    "u32",
    "What a user asks for.",
    (
        Value(1, "set", "set the knob to a value"),
        Value(2, "undo", "bring back the value from before the first one that was set by hand"),
    ),
)
KNOB_ANSWER = Enumeration(
    "knob_answer",
    "KnobAnswer",
    "u32",
    "What became of a request.",
    (
        Value(1, "done", "a decision was made, and is in force"),
        Value(2, "outside_domain", "the knob does not have this value"),
        Value(3, "without_consent", "the knob needs the user's consent when the program starts"),
        Value(4, "no_change", "the knob has this value, or nothing was set by hand"),
        Value(5, "not_applied", "the program could not take the value"),
        Value(6, "subject_gone", "the subject has ended, or the program turns the knob itself"),
        Value(7, "refused", "steering has ended or does not turn this subject any more"),
    ),
)

STORAGE_CALL = Enumeration(
    "storage_call",
    "StorageCall",
    "u16",
    "What was called on a file.",
    (
        Value(1, "open"),
        Value(2, "read"),
        Value(3, "write"),
        Value(4, "close"),
    ),
    labels="STORAGE_CALLS",
)
STORAGE_CLASS = Enumeration(
    "storage_class",
    "StorageClass",
    "u16",
    "What a file is for.",
    (
        Value(1, "other", "opened by no task of Spark, and none of the following"),
        Value(2, "input", "a task opened it to read it"),
        Value(3, "output", "a task opened it to write it"),
        Value(
            4,
            "shuffle_write",
            "a shuffle file, opened to be written, or a temporary file of one",
            "shuffle write",
        ),
        Value(5, "shuffle_read", "a shuffle file, opened to be read", "shuffle read"),
        Value(
            6, "spill", "what did not fit into memory, but for sorts of a shuffle, which are in shuffle_write"
        ),
        Value(7, "cache", "a partition that the program keeps"),
        Value(8, "broadcast", "a broadcast variable"),
        Value(9, "code", "a class, jar or library"),
        Value(10, "system", "in /proc, /sys or /dev"),
    ),
    labels="STORAGE_CLASSES",
)
ALL = (
    FILE_KIND,
    PROCESS_STATE,
    CLOCK_KIND,
    RECORD_LEVEL,
    LANE_KIND,
    EVENT_KIND,
    WAIT_KIND,
    WORKER_STATE,
    WAIT_CAUSE,
    LEAVE_CAUSE,
    SCHEDULE,
    SUBJECT_KIND,
    DECISION_OUTCOME,
    METRIC,
    REGION_FLAGS,
    TASK_FLAGS,
    NAME_TAG,
    SHARE,
    CAUSE,
    BLAME_CAUSE,
    IDLE_VERDICT,
    MISSING_KIND,
    DECISION_REASON,
    POLICY_NAME,
    COUNTER_NAME,
    SCHEDULER_EVENT_KIND,
    SCHEDULER_WAIT,
    SCHEDULER_CHARGE_KIND,
    SCHEDULER_THREAD_FLAGS,
    KNOB_FLAGS,
    KNOB_REQUEST,
    KNOB_ANSWER,
    STORAGE_CALL,
    STORAGE_CLASS,
)
