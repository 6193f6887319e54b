"""All records of a run directory, byte by byte, and the files that hold them.

Integers are little-endian. Times are in ticks of the process's clock unless the unit says otherwise.
"""

from __future__ import annotations

from schema.description import Constant, Field, File, Record, Schema
from schema.enumerations import ALL

UNITS = {
    "ticks": "of the process's clock; process.tt says how long one is",
    "ns": "nanoseconds",
    "bytes": "",
    "KiB": "1024 bytes",
    "CPUs": "may be a fraction",
}
_NO_LANE = "the greatest number: no lane"
_NO_SUBJECT = "the greatest number: no subject"

CONSTANTS = (
    Constant(
        "format_version", "VERSION", "u32", 1, "Rises with every change that older readers would misread."
    ),
    Constant(
        "format_minor",
        "MINOR",
        "u64",
        8,
        "Rises with what older readers may pass over: kinds of events, metrics, fields behind those that there were.",
    ),
    Constant("header_bytes", "HEADER_BYTES", "size", 4096, "Bytes of the header of every file."),
    Constant("no_lane", "NO_LANE", "u32", 0xFFFFFFFF, "Stands for no lane."),
    Constant("no_subject", "NO_SUBJECT", "u32", 0xFFFFFFFF, "Stands for no subject."),
    Constant("unknown", "UNKNOWN", "u64", 0xFFFFFFFFFFFFFFFF, "Stands for a number that is not known."),
    Constant(
        "histogram_buckets", "HISTOGRAM_BUCKETS", "size", 42, "Numbers in the histogram of a profile row."
    ),
)

FILE_HEADER = Record(
    "file_header",
    "FILE_HEADER",
    "At byte 0 of every file. The header of the file's kind follows; zeros up to byte 4096.",
    (
        Field("magic", "char[8]", "`TRIMTAB` and a NUL byte; written last"),
        Field("version", "u32", "format_version"),
        Field("header_size", "u32", "header_bytes", "bytes"),
        Field("kind", "file_kind"),
        Field("record_bytes", "u32", "size of a record; 0 for names (variable) and process (none)", "bytes"),
        Field("capacity", "u64", "records (names: bytes) that the file has room for now"),
        Field(
            "written",
            "u64",
            "records (names: bytes) ever written; above capacity only for events: a ring that wrapped",
        ),
        Field("dropped", "u64", "records that found no room"),
        Field("minor", "u64", "format_minor"),
        Field("reserved", "u64"),
    ),
)
PROCESS_HEADER = Record(
    "process_header",
    "PROCESS_HEADER",
    "process.tt, at byte 64. From ticks to CLOCK_MONOTONIC: ns = mono_ns_0 + (ticks - ticks_0) * ns_per_tick.",
    (
        Field("pid", "u32"),
        Field("ppid", "u32"),
        Field("clock", "clock_kind"),
        Field("level", "record_level"),
        Field("state", "process_state"),
        Field("lanes", "u32", "lanes ever opened: as many pairs of lane files"),
        Field("ticks_0", "u64", "when mono_ns_0 and real_ns_0 were read", "ticks"),
        Field("mono_ns_0", "u64", "CLOCK_MONOTONIC at ticks_0", "ns"),
        Field("real_ns_0", "u64", "CLOCK_REALTIME at ticks_0", "ns"),
        Field("ns_per_tick", "f64"),
        Field("start_ticks", "u64", "the library was loaded", "ticks"),
        Field("last_ticks", "u64", "heartbeat: the process was known to be alive", "ticks"),
        Field("end_ticks", "u64", "the process ended", "ticks", "0: no end was seen"),
        Field("cpus_available", "f64", "the smaller of affinity and quota", "CPUs"),
        Field("cpus_affinity", "u32", "", "CPUs"),
        Field("cpus_online", "u32", "", "CPUs", "0: not read, nor the quota, as the process was short"),
        Field("cpus_quota", "f64", "", "CPUs", "0: none"),
        Field(
            "parallel_ticks",
            "u64",
            "at least one outermost region was active, or a worker ran tasks",
            "ticks",
        ),
        Field("parallel_since", "u64", "when the last such phase began", "ticks", "0: none"),
        Field("setup_ticks", "u64", "own cost: setting up the process, lanes and subjects", "ticks"),
        Field("sampler_cpu_ns", "u64", "own cost: CPU time of the sampler thread", "ns"),
        Field("clock_read_ns", "f64", "own cost: one clock read, measured at start", "ns"),
        Field(
            "forked_from",
            "u64",
            "pid of the process that this one was forked from, without exec",
            "",
            "0: none",
        ),
        Field("user_ns", "u64", "getrusage(RUSAGE_SELF), at exit or by heartbeat", "ns"),
        Field("system_ns", "u64", "the same", "ns"),
        Field("voluntary_switches", "u64", "the same"),
        Field("involuntary_switches", "u64", "the same"),
        Field("max_rss_kb", "u64", "the same", "KiB"),
        Field("command", "char[2048]", "arguments with a NUL byte behind each, cut off at the end"),
    ),
    start=64,
)
LANE_HEADER = Record(
    "lane_header",
    "LANE_HEADER",
    "lane-*.events, at byte 64. In lane-*.profile only the first field is filled.",
    (
        Field("lane", "u32"),
        Field("tid", "u32", "thread that has the lane now, or had it last"),
        Field("start_ticks", "u64", "the lane was opened", "ticks"),
        Field("end_ticks", "u64", "its last thread ended", "ticks", "0: open"),
        Field("threads", "u32", "threads that had this lane, one after another"),
        Field("is_main", "u32", "1: the process's first thread"),
        Field("name", "char[16]", "of the thread"),
        Field(
            "run_ns",
            "u64",
            "on a CPU; this and the next four of all its threads, from schedstat and status",
            "ns",
        ),
        Field("run_delay_ns", "u64", "runnable without a CPU", "ns"),
        Field("time_slices", "u64"),
        Field("voluntary_switches", "u64"),
        Field("involuntary_switches", "u64"),
        Field("migrations", "u64", "", "", "unknown: not available"),
        Field("alive_ticks", "u64", "of threads that ended", "ticks"),
        Field("hooks", "u64", "own cost: calls of ours that the program made"),
        Field("clock_reads", "u64", "own cost"),
        Field(
            "worker_of",
            "u32",
            "of a worker of a task runtime: the subject of its runtime, plus one",
            "",
            "0: no worker",
        ),
        Field("worker", "u32", "its number in the runtime"),
        Field("title", "char[40]", "what the program calls the lane", "", "empty: nothing"),
        Field(
            "kind",
            "lane_kind",
            "what it stands for; one that is no thread has no tid and no times of a thread",
        ),
        Field("number", "u32", "of a lane that is no thread: which of its kind, such as the number of a CPU"),
        Field(
            "summarized_events",
            "u64",
            "of a ring: the fields below describe the lane after its first events, this many; later events are in the ring",
        ),
        Field(
            "region_ticks",
            "u64",
            "when the outermost region began that the lane had forked and not joined by then",
            "ticks",
            "0: none",
        ),
        Field("region_instance", "u64", "its instance"),
        Field(
            "part_ticks",
            "u64",
            "when the outermost part of a region began that the lane had not ended by then",
            "ticks",
            "0: none",
        ),
        Field("part_instance", "u64", "instance of that region", "", "0: not known"),
        Field("part_wait", "u64", "waited in that part by then", "ticks"),
        Field("region_subject", "u32", "subject of the region that began at region_ticks"),
        Field("part_subject", "u32", "subject of the region whose part began at part_ticks"),
        Field(
            "program_ns",
            "u64",
            "executing the program's own instructions; this and the next three of all its threads, from stat",
            "ns",
        ),
        Field("kernel_ns", "u64", "executing the kernel for the thread", "ns"),
        Field("minor_faults", "u64", "page faults that needed no disk"),
        Field("major_faults", "u64", "page faults that waited for a disk"),
    ),
    start=64,
)
EVENT = Record(
    "event",
    "EVENT",
    "In lane-*.events and switches.tt. What arg, a and b mean depends on the kind.",
    (
        Field("ticks", "u64", "when it happened; of loop, wait and lock when it began", "ticks"),
        Field("subject", "u32"),
        Field("kind", "u16", "event_kind"),
        Field("arg", "u16"),
        Field("a", "u64"),
        Field("b", "u64"),
    ),
)
PROFILE_ROW = Record(
    "profile_row",
    "ROW",
    "In lane-*.profile: one subject, one metric, on one lane. Only the lane that has the file writes it.",
    (
        Field("subject", "u32"),
        Field("what", "metric"),
        Field("flags", "u16", "what they mean depends on the metric"),
        Field(
            "about",
            "u32",
            "lane that it speaks of: the forking lane has a row about each member of its teams",
        ),
        Field("in_region", "u32", "subject of the enclosing region", "", _NO_SUBJECT),
        Field("count", "u64", "occurrences"),
        Field("timed", "u64", "how many of them were timed; sum * count / timed estimates the total"),
        Field("sum", "u64", "of those that were timed", "ticks"),
        Field("min", "u64", "", "ticks"),
        Field("max", "u64", "", "ticks"),
        Field("x", "u64[4]", "four fields, named by the metric"),
        Field("histogram", "u32[42]", "bucket i counts durations of bit width i: 2^(i-1) to 2^i - 1 ticks"),
    ),
)
SAMPLE = Record(
    "sample",
    "SAMPLE",
    "In counters.tt, written by the sampler thread.",
    (
        Field("ticks", "u64", "", "ticks"),
        Field("counter", "u32", "its definition is in names.tt"),
        Field("lane", "u32", "", "", _NO_LANE),
        Field("value", "f64", "in the counter's unit"),
        Field("reserved", "u64"),
    ),
)
DECISION = Record(
    "decision",
    "DECISION",
    "In decisions.tt: a change of one knob. A decision that changes several has a record for each, with the same number.",
    (
        Field("ticks", "u64", "", "ticks"),
        Field("number", "u64", "of the process, from 1"),
        Field("subject", "u32"),
        Field("knob", "u32", "its definition is in names.tt"),
        Field("from", "i64"),
        Field("to", "i64"),
        Field("gain", "f64", "share of the subject's time that is saved; means nothing with pairs 0"),
        Field("uncertainty", "f64", "half the width of a 95 % interval of the gain"),
        Field("pairs", "u32", "pairs of measurements that the gain rests on", "", "0: none"),
        Field("outcome", "decision_outcome"),
        Field("policy", "u16", "its definition is in names.tt", "", "0: none"),
        Field(
            "text",
            "char[192]",
            "reason, then evidence (NAME=VALUE, blanks between) in UTF-8, a NUL byte behind each, cut off where too long",
        ),
    ),
)
KNOB_SLOT = Record(
    "knob_slot",
    "KNOB_SLOT",
    "In knobs.tt: a knob that can be turned. The program writes all but the four fields of the request, another process these.",
    (
        Field("knob", "u32", "its definition is in names.tt"),
        Field("subject", "u32"),
        Field("flags", "u32", "knob_flags"),
        Field("values", "u32", "how many values it may have"),
        Field("in_force", "i64"),
        Field("accepted", "i64", "where it is another value than in_force, that one is on trial"),
        Field("least", "i64", "its smallest value"),
        Field("most", "i64", "its largest value"),
        Field("request_number", "u64", "written last, one more than before", "", "0: none yet"),
        Field("request_value", "i64"),
        Field("request", "knob_request"),
        Field("request_reserved", "u32"),
        Field("answered_number", "u64", "the request that was answered; written last", "", "0: none yet"),
        Field(
            "decision",
            "u64",
            "the decision that was made of it, by its number in decisions.tt",
            "",
            "0: none",
        ),
        Field("answer", "knob_answer"),
        Field("reserved", "u32"),
        Field(
            "text", "char[160]", "the values with blanks between; cut off behind a whole one where too long"
        ),
    ),
)

STORAGE_ROW = Record(
    "storage_row",
    "STORAGE_ROW",
    "In storage.tt: one kind of call on files of one group, by one stage of Spark. All threads of the process add to it.",
    (
        Field("stage", "u32", "number of the stage", "", "the greatest number: no task called"),
        Field("attempt", "u32", "of the stage"),
        Field("call", "storage_call"),
        Field("file_class", "storage_class"),
        Field("reserved", "u32"),
        Field("count", "u64", "calls"),
        Field("failed", "u64", "of these, with an error"),
        Field("bytes", "u64", "read or written", "bytes"),
        Field("sum_ns", "u64", "in all calls", "ns"),
        Field("longest_ns", "u64", "", "ns"),
        Field("histogram", "u32[42]", "bucket i counts calls of bit width i: 2^(i-1) to 2^i - 1 ns"),
        Field(
            "group",
            "char[120]",
            "of shuffles `shuffle N`, a blank and the kind of file; otherwise the folder, its beginning cut off where too long",
        ),
    ),
)

SCHEDULER_HEADER = Record(
    "scheduler_header",
    "SCHEDULER_HEADER",
    "HOST.scheduler/threads.tt, at byte 64: what was recorded of all CPUs of a host. Times are of CLOCK_MONOTONIC.",
    (
        Field("begin_ns", "u64", "the recording began", "ns"),
        Field("end_ns", "u64", "up to when everything is counted", "ns"),
        Field("is_ended", "u32", "1: the recording ended in order; 0: it goes on, or was killed"),
        Field("cpus", "u32", "whose events are recorded"),
        Field("busy_ns", "u64", "all CPUs together: a thread ran", "ns"),
        Field("idle_ns", "u64", "likewise: none did", "ns"),
        Field("events", "u64", "of the scheduler"),
        Field("lost", "u64", "events that found no room in the kernel's rings"),
        Field("inferred", "u64", "switches that the kernel did not record"),
        Field("damaged", "u64", "records of the kernel that were not understood"),
        Field("watched_pid", "u32", "process whose descendants are the program"),
        Field("recorder_pid", "u32", "process that records"),
        Field("recorder_cpu_ns", "u64", "own cost: its CPU time", "ns"),
        Field("host", "char[64]", "name of the host"),
    ),
    start=64,
)
SCHEDULER_THREAD = Record(
    "scheduler_thread",
    "SCHEDULER_THREAD",
    "In HOST.scheduler/threads.tt: a thread of any program. Its number there, from 1, stands for it in the other files.",
    (
        Field("pid", "u32", "of its process, as the recorder sees it", "", "0: not known"),
        Field("tid", "u32", "its own, likewise", "", "0: not known"),
        Field("system_tid", "u32", "its own, as the first namespace of processes has it"),
        Field("parent", "u32", "number of the thread that made it", "", "0: not seen"),
        Field("flags", "u32", "scheduler_thread_flags"),
        Field("reserved", "u32"),
        Field("name", "char[16]", "of the thread"),
        Field("program", "char[16]", "name of its process"),
        Field("begin_ns", "u64", "first seen", "ns"),
        Field("running_ns", "u64", "on a CPU", "ns"),
        Field("voluntary_switches", "u64", "it left its CPU because it waited for something, or ended"),
        Field("involuntary_switches", "u64", "it left its CPU while it could go on"),
        Field("moves", "u64", "to other CPUs"),
        Field("woken_waits", "u64", "waits for a CPU after a wake-up"),
        Field("woken_ns", "u64", "in these", "ns"),
        Field("longest_woken_ns", "u64", "the longest of these", "ns"),
        Field("preempted_waits", "u64", "waits for a CPU after a preemption"),
        Field("preempted_ns", "u64", "in these", "ns"),
        Field("longest_preempted_ns", "u64", "the longest of these", "ns"),
        Field("idle_though_ready_ns", "u64", "part of both kinds of waits: its CPU was idle", "ns"),
        Field("unknown_ns", "u64", "part of both kinds of waits: nobody knows what its CPU did", "ns"),
    ),
)
SCHEDULER_CHARGE = Record(
    "scheduler_charge",
    "SCHEDULER_CHARGE",
    "In HOST.scheduler/charges.tt: what one thread has to do with another one's waits for a CPU. What ran, idle and unknown time "
    "of a thread add up to its waits.",
    (
        Field("waiter", "u32", "number of the thread that waited"),
        Field("other", "u32", "number of the thread that ran, or woke it"),
        Field("kind", "scheduler_charge_kind"),
        Field("reserved", "u16[3]"),
        Field("ns", "u64", "of the waits", "ns"),
        Field("count", "u64", "waits"),
    ),
)
SCHEDULER_DELAY = Record(
    "scheduler_delay",
    "SCHEDULER_DELAY",
    "In HOST.scheduler/delays.tt: how many waits of a thread took how long.",
    (
        Field("thread", "u32", "its number"),
        Field("kind", "scheduler_wait"),
        Field("reserved", "u16"),
        Field("longest_ns", "u64", "no wait of these was longer, and none shorter by more than 1/32", "ns"),
        Field("count", "u64", "waits"),
    ),
)
SCHEDULER_EVENT = Record(
    "scheduler_event",
    "SCHEDULER_EVENT",
    "In HOST.scheduler/events.tt, in the order of time; only in a trace.",
    (
        Field("time_ns", "u64", "CLOCK_MONOTONIC", "ns"),
        Field(
            "thread",
            "u32",
            "switched: who leaves the CPU, 0: it was idle; woken, moved: who; lost: how many events",
        ),
        Field("other", "u32", "switched: who gets the CPU, 0: nobody; woken: who woke it, 0: an interrupt"),
        Field("cpu", "u16", "where it happened"),
        Field("target_cpu", "u16", "woken, moved: where the thread is to run"),
        Field("kind", "scheduler_event_kind"),
        Field("can_run", "u16", "switched: 1: who leaves could go on"),
    ),
)

NAME_RECORD = Record(
    "name_record",
    "NAME_RECORD",
    "Each record of names.tt begins with it. The fixed part of its tag follows, then its texts in UTF-8, a NUL byte behind each.",
    (
        Field("bytes", "u32", "of the whole record, a multiple of 8", "bytes"),
        Field("tag", "name_tag"),
        Field("reserved", "u16"),
    ),
)
NAMES = (
    Record(
        "name_module",
        "NameModule",
        "A loaded object.",
        (
            Field("id", "u32"),
            Field("reserved", "u32"),
            Field("base", "u64", "load address: an address less base is an address in the file"),
            Field("end", "u64"),
        ),
        strings=("path", "build id in hex, empty: none"),
        tag=1,
    ),
    Record(
        "name_subject",
        "NameSubject",
        "A named kind of work. A text is empty where the runtime did not give it.",
        (
            Field("id", "u32"),
            Field("kind", "subject_kind"),
            Field("runtime", "u16", "", "", "0: none"),
            Field("module", "u32", "", "", "the greatest number: none"),
            Field("line", "u32", "", "", "0: not known"),
            Field("offset", "u64", "of the outlined function, or of the call's return address"),
            Field("parent", "u32", "subject of the region that it was first seen in", "", _NO_SUBJECT),
            Field("is_call", "u32", "1: offset is a return address, look up the byte before it"),
        ),
        strings=("name", "file", "function"),
        tag=2,
    ),
    Record(
        "name_counter",
        "NameCounter",
        "A named quantity over time.",
        (Field("id", "u32"), Field("is_cumulative", "u32", "1: ever growing, 0: a level")),
        strings=("name", "unit", "source"),
        tag=3,
    ),
    Record(
        "name_unavailable",
        "NameUnavailable",
        "Something that could not be measured.",
        (),
        strings=("what", "why", "remedy"),
        tag=4,
    ),
    Record(
        "name_runtime",
        "NameRuntime",
        "A parallel runtime of the process.",
        (Field("id", "u16"), Field("reserved", "u16[3]")),
        strings=("name (libgomp, libomp, libiomp5)", "path", "version"),
        tag=5,
    ),
    Record(
        "name_fact",
        "NameFact",
        "Something that a report may need. `cpus`: the CPUs that the process may use, such as `0-3,8`.",
        (),
        strings=("key", "value"),
        tag=6,
    ),
    Record(
        "name_knob",
        "NameKnob",
        "A named value that can be set while the program runs.",
        (Field("id", "u32"), Field("subject", "u32", "", "", _NO_SUBJECT)),
        strings=(
            "name",
            "key of its subject from run to run",
            "names of the values 0, 1, ... with commas between, empty: numbers",
        ),
        tag=7,
    ),
    Record(
        "name_policy",
        "NamePolicy",
        "What decides about knobs.",
        (Field("id", "u16"), Field("reserved", "u16[3]")),
        strings=("name",),
        tag=8,
    ),
    Record(
        "name_sample",
        "NameSample",
        "A sample of a process that has no counters.tt, as `sample` has it.",
        (
            Field("ticks", "u64", "", "ticks"),
            Field("counter", "u32"),
            Field("lane", "u32", "", "", _NO_LANE),
            Field("value", "f64", "in the counter's unit"),
        ),
        strings=(),
        tag=9,
    ),
)

FILES = (
    File("run.json", "command, machine, how it ended: by the launcher"),
    File("symbols.json", "source places found by the first report"),
    File(
        "settings.txt",
        "what earlier runs found, as the program's library was given it; absent without any ([guide](../guide/tune.md#the-history))",
    ),
    File("reported", "of a job: a launcher has printed, or is about to print, the verdict; empty"),
    File(
        "rank-R/run.json, rank-R/settings.txt",
        "of a job: the same of rank R, by the launcher that started it",
    ),
    File("rank-R/launcher.lock", "of a job: locked (`flock`) while that launcher lives; empty"),
    File(
        "HOST.processes",
        "a page of 4096 bytes for each process that has needed no folder: what its process.tt would be, and from byte 2304 on `written` bytes of its names.tt; without magic where it has a folder by now",
    ),
    File("HOST-PID-N/process.tt", "who the process is, its clock, how far it got"),
    File("HOST-PID-N/names.tt", "modules, subjects, counters, what was unavailable", "name_record"),
    File("HOST-PID-N/counters.tt", "samples over time; absent without any", "sample"),
    File("HOST-PID-N/switches.tt", "context switches of the lanes; absent without any", "event"),
    File("HOST-PID-N/decisions.tt", "what was changed while the process ran; absent without any", "decision"),
    File(
        "HOST-PID-N/knobs.tt, knobs-runtime-1.tt, ...",
        "knobs that another process of the user can turn; absent without any",
        "knob_slot",
    ),
    File(
        "HOST-PID-N/snapshots.txt, snapshots-runtime-1.txt, snapshots-scheduler-1.txt, ...",
        "what steering received; only with `--record-snapshots`",
    ),
    File("HOST-PID-N/storage.tt", "calls on files; absent but in JVMs of Spark", "storage_row"),
    File("HOST-PID-N/lane-0000.events", "events of a lane: a ring, or appended to", "event"),
    File("HOST-PID-N/lane-0000.profile", "profile rows of a lane", "profile_row"),
    File(
        "HOST.scheduler/threads.tt",
        "what the operating system's scheduler did with each thread of the host; only with `--kernel`",
        "scheduler_thread",
    ),
    File("HOST.scheduler/charges.tt", "who ran while whom waited for a CPU", "scheduler_charge"),
    File("HOST.scheduler/delays.tt", "how long these waits took", "scheduler_delay"),
    File("HOST.scheduler/events.tt", "every event; only in a trace", "scheduler_event"),
)

SCHEMA = Schema(
    ALL,
    (
        FILE_HEADER,
        PROCESS_HEADER,
        LANE_HEADER,
        EVENT,
        PROFILE_ROW,
        DECISION,
        KNOB_SLOT,
        SAMPLE,
        STORAGE_ROW,
        SCHEDULER_HEADER,
        SCHEDULER_THREAD,
        SCHEDULER_CHARGE,
        SCHEDULER_DELAY,
        SCHEDULER_EVENT,
        NAME_RECORD,
    ),
    NAMES,
    CONSTANTS,
    FILES,
    UNITS,
)
