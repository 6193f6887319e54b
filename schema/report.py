"""What a report consists of: the types behind `trimtab report --json`, field by field, and the units of their numbers.

Python's structs, the JSON Schema, the page's types and the tables of docs/reference/report.md are generated from it.
Formulas are in docs/reference/metrics.md.
"""

from __future__ import annotations

from schema.description import ReportField as F
from schema.description import ReportSchema
from schema.description import ReportType as T

UNITS = {
    "s": "seconds",
    "ns": "nanoseconds",
    "B": "bytes",
    "KiB": "1024 bytes",
    "CPUs": "may be a fraction",
    "share": "from 0 to 1",
    "J": "joules",
    "W": "watts",
    "J s": "joules x seconds",
}

_PROCESS = F("process", "text", "`id` of the process")
_KEY = F(
    "key", "text", "names the place the same in every process of the run: kind, build and offset, or name"
)
_NAME = F("name", "text", "place in the program, as people read it")

_EVENTS = F("basis", "text", "`events`, and what they lack: an end, or the rest of the time")

EXIT = T(
    "Exit",
    "How the program ended.",
    (
        F("code", "integer?", "exit code", unknown="a signal ended it, or its end was not seen"),
        F("signal", "text?", "name of the signal that ended it", unknown="none did"),
    ),
)
START_VALUE = T(
    "StartValue",
    "An environment variable that Trimtab started the program with.",
    (F("name", "text", ""), F("value", "text", ""), F("reason", "text", "why")),
)
STEERING = T(
    "Steering",
    "How the run was to be changed.",
    (
        F("mode", "text?", "`on`, `frozen`, `known` or `shuffle`", unknown="not recorded"),
        F("known_settings", "integer", "settings that earlier runs had found"),
        F("start_values", "StartValue[]", "what the program was started with"),
        F("threads", "text?", "policy that fits the number of threads", unknown="the program's own number"),
        F("virtual_threads", "integer?", "functions that fit virtual threads", unknown="no consent to them"),
    ),
)
SERIES = T(
    "Series",
    "One region or kind of task over time.",
    (
        F("name", "text", "of the region or kind of task"),
        F("lanes", "number[]", "mean number of lanes inside, for each bin"),
    ),
)
TIMELINE = T(
    "Timeline",
    "How many lanes were inside which region or task, in bins of equal length.",
    (
        F("t0_s", "number", "begin of the first bin", "s"),
        F("dt_s", "number", "length of a bin", "s"),
        F("from_s", "number", "what was before is not recorded", "s"),
        F("series", "Series[]", "most lane time first"),
        F("waiting", "number[]", "mean number of these lanes in barriers and locks, for each bin"),
        F("source", "text", "`all events`, or `flight recorder`: the last events of each lane"),
        F(
            "eligible",
            "number[]",
            "mean number of tasks that could run and had no worker, for each bin; empty: not known",
        ),
        F(
            "ineligible",
            "number[]",
            "mean number of tasks whose inputs were missing, for each bin; empty: not known",
        ),
    ),
)
PROCESS = T(
    "ProcessSummary",
    "One process image: after an exec, or when the system uses a pid again, it is another one.",
    (
        F("id", "text", "unique within the run: the process's directory"),
        F("pid", "integer", "process id on its host"),
        F("image", "integer", "0, then 1 after an exec or when the pid was used again"),
        F("ppid", "integer", "process id of its parent"),
        F(
            "forked_from",
            "integer?",
            "pid of the process that it was forked from",
            unknown="exec since, or none",
        ),
        F("host", "text?", "name of its host", unknown="not recorded"),
        F("rank", "integer?", "rank in the job", unknown="none"),
        F("size", "integer?", "ranks that the job has", unknown="no job, or not known"),
        F("command", "text[]", "its arguments"),
        F("begin_s", "number", "when it began, since the first process of the run did", "s"),
        F("started_real_ns", "number", "when it began, by its host's real-time clock, since 1970", "ns"),
        F("wall_s", "number", "observed time", "s"),
        F("cpu_s", "number", "CPU time of all its threads", "s"),
        F("lanes", "integer", "how many it had"),
        F("workers", "integer", "of task runtimes"),
        F("regions", "integer", "different parallel regions"),
        F("calls", "integer", "instances of these"),
        F("complete", "flag", "it said itself when it ended"),
        F(
            "ended",
            "text?",
            "`exit`; `exec`: the next image of its pid took its place",
            unknown="it did not say: killed, or alive",
        ),
        F("takes_part", "flag", "the shares of the run are of this process, too"),
        F("cpus_available", "number", "that it may use", "CPUs"),
        F("threads", "integer", "most threads of a region, or workers"),
        F("efficiency", "number?", "share of its core time that was work", "share", "takes no part"),
        F("time", "number{share}?", "where its core time went", "share", "takes no part"),
        F("run_delay_s", "number", "its threads were ready to run but had no CPU", "s"),
        F("timeline", "Timeline?", "on the process's own axis of time", unknown="no events"),
    ),
)
BUCKET = T(
    "Bucket",
    "Instances of a region by their length.",
    (F("le_ns", "number", "longest length in this bucket", "ns"), F("count", "integer", "instances")),
)
LOOP = T(
    "Loop",
    "A worksharing loop, or sections, inside a region.",
    (
        _KEY,
        _NAME,
        F("schedule", "text?", "how its iterations are shared out", unknown="not a worksharing loop"),
        F("chunk", "integer?", "chunk size of the schedule", unknown="none was given"),
        F("iterations", "integer?", "iterations in one execution of the loop", unknown="not known"),
        F("executed", "integer", "iterations, over all lanes and executions"),
        F("chunks", "integer", "chunks handed out, over all lanes and executions"),
        F("executions", "integer", "how often teams executed it"),
    ),
)
REGION_LANE = T(
    "RegionLane",
    "What one lane did in a region.",
    (
        _PROCESS,
        F("lane", "integer", "number within the process"),
        F("calls", "integer", "instances it took part in"),
        F("work_s", "number", "in its part, without waits", "s"),
        F("wait_s", "number", "at the join and inside", "s"),
        F("arrival_s", "number", "from the fork until it began its part", "s"),
    ),
)
_OF_REGION = (
    F("calls", "integer", "instances that were joined, or under way when the process was killed"),
    F("threads", "integer", "most threads of an instance"),
    F("wall_s", "number", "sum from fork until join, on the forking lane", "s"),
    F("work_s", "number", "sum of the lanes' work: in their part, without waits", "s"),
    F("wait_s", "number", "sum of the lanes' waits, at the join and inside", "s"),
    F("arrival_s", "number", "sum from the fork until each lane began its part", "s"),
    F(
        "imbalance",
        "number?",
        "slowest lane's work / mean work, summed over the instances; 1 is perfect",
        unknown="no work was timed",
    ),
)
REGION_PART = T("RegionPart", "What a region did in one process.", (_PROCESS, *_OF_REGION))
SPREAD = T(
    "Spread",
    "A figure over the processes that have the region.",
    (F("least", "number", ""), F("median", "number", ""), F("most", "number", "")),
)
REGION_SPREAD = T(
    "RegionSpread",
    "How far the processes differ in a region.",
    (
        F("calls", "Spread", "instances"),
        F("wall_s", "Spread", "", "s"),
        F("work_s", "Spread", "", "s"),
        F("wait_s", "Spread", "", "s"),
    ),
)
REGION = T(
    "Region",
    "A parallel region; of several processes that have it, their sum.",
    (
        _KEY,
        _NAME,
        F("file", "text?", "source file", unknown="no debug information"),
        F("line", "integer?", "line of the directive", unknown="no debug information"),
        F("function", "text?", "that the directive is in", unknown="no symbol"),
        F("runtime", "text?", "OpenMP runtime", unknown="not recorded"),
        F("nested", "flag", "always entered from inside another region"),
        *_OF_REGION,
        F("critical_path_s", "number", "sum over instances of the slowest lane's work", "s"),
        F("mean_work_s", "number", "sum over instances of the lanes' mean work", "s"),
        F("schedule", "text?", "of its loop with most time", unknown="no loop"),
        F("chunk", "integer?", "of the same loop", unknown="none was given"),
        F("iterations", "integer?", "of the same loop, one execution", unknown="not known"),
        F("constructs", "text[]", "kinds of constructs that lie directly in the region"),
        F("loops", "Loop[]", "all of its loops"),
        F("waits", "number{}", "time waited inside, by wait_kind", "s"),
        F("lock_wait_s", "number", "waited for critical sections", "s"),
        F("lock_held_s", "number", "critical sections were held", "s"),
        F("lanes", "RegionLane[]", ""),
        F("histogram", "Bucket[]", "instances by their length"),
        F("processes", "RegionPart[]", "the same figures in each process"),
        F("spread", "RegionSpread", "over these processes"),
        F("lanes_omitted", "flag", "in the data of a page only: `lanes` was left out", is_optional=True),
    ),
)
_TALLY = (
    _KEY,
    _NAME,
    F("count", "integer", "how many"),
    F("timed", "integer", "how many of them were timed"),
    F("total_s", "number?", "time in all; estimated unless all were timed", "s", "none was timed"),
    F("mean_s", "number?", "mean time", "s", "none was timed"),
)
_PROCESSES = F("processes", "text[]", "`id` of the processes that have it")
TASK = T(
    "TaskKind",
    "A kind of task: a function, or what the runtime calls it.",
    (
        *_TALLY,
        F("longest_s", "number?", "longest that was timed", "s", "none was timed"),
        F("includes_inner", "flag", "the times include tasks that ran inside others"),
        F("created", "integer", "made"),
        F("suspended", "integer", "times that one was suspended"),
        F("suspended_s", "number", "time suspended, in none of the times above", "s"),
        _PROCESSES,
    ),
)
SCOPE = T("Scope", "A scope that the program reports itself (trimtab.h).", (*_TALLY, _PROCESSES))
SYSTEM = T(
    "System",
    "What the operating system counted, over all processes.",
    (
        F("run_delay_s", "number?", "threads were ready to run but had no CPU", "s", "no schedstat"),
        F("switches_voluntary", "integer?", "context switches (getrusage)", unknown="not recorded"),
        F("switches_involuntary", "integer?", "context switches (getrusage)", unknown="not recorded"),
        F(
            "preemptions",
            "integer?",
            "a lane lost its CPU while it could have run on",
            unknown="no perf events",
        ),
        F("migrations", "integer?", "changes of CPU of the lanes", unknown="not available"),
        F("cpu_s", "number", "CPU time of user and system", "s"),
        F("max_rss_kb", "integer?", "memory of the largest process", "KiB", "not recorded"),
    ),
)
OVERHEAD = T(
    "Overhead",
    "What the tool itself cost.",
    (
        F("share", "number", "of the available core time", "share"),
        F("seconds", "number", "CPU time", "s"),
        F("setup_s", "number", "of it: set-up and loading", "s"),
        F("sampler_s", "number", "of it: the sampler's thread", "s"),
        F("events", "integer", "recorded"),
        F("dropped", "integer", "events and profile rows that found no room"),
    ),
)
UNAVAILABLE = T(
    "Unavailable",
    "Something that could not be measured, why, and what to do about it.",
    (
        F("what", "text", "what is missing"),
        F("why", "text", ""),
        F("remedy", "text", ""),
        F("kind", "missing_kind", "what kind of thing it is", default="other"),
    ),
)
LONGEST_WAIT = T(
    "LongestWait",
    "Where the longest wait for a finding's cause is.",
    (
        F("process", "text", "`id` of the process"),
        F("lane", "integer", "its number"),
        F("begin_s", "number", "since the process began", "s"),
        F("end_s", "number", "since the process began", "s"),
    ),
)
FINDING = T(
    "Finding",
    "A cause of lost core time, with evidence, an action and its gain.",
    (
        F("cause", "cause", "one of the causes below"),
        F("subject", "text?", "region, kind of task, or runtime", unknown="the whole program"),
        F("evidence", "text", "the figures that show it"),
        F("action", "text", "what to change"),
        F(
            "gain_s",
            "number",
            "wall time that this could give back: by replay, or at best by its formula",
            "s",
        ),
        F("processes", "text[]", "`id` of the processes that it is about"),
        F("gain_low_s", "number", "the least that it gives back; 0 where only a formula is known", "s"),
        F("gain_high_s", "number", "the most that it gives back", "s"),
        F("chain", "text[]", "how the longest wait came about, from the wait to its cause; empty: not known"),
        F("longest_wait", "LongestWait?", "where that wait is", unknown="not known"),
    ),
)
WHAT_IF = T(
    "WhatIf",
    "What the run would take with a change, by a replay of its recorded steps.",
    (
        F("change", "text", "what is different"),
        F("subject", "text?", "region or kind of task", unknown="the whole program"),
        F("key", "text?", "its `key`", unknown="no subject"),
        F("predicted_s", "number", "what the run would take", "s"),
        F("predicted_low_s", "number", "it, less the replay's error and what is not recorded", "s"),
        F("predicted_high_s", "number", "it, and the replay's error and what is not recorded", "s"),
        F("gain_s", "number", "by how much that is shorter; below 0: longer", "s"),
        F(
            "replay_error",
            "number",
            "of the replay of the unchanged run; where it is more than 0.1 no changes are listed",
            "share",
        ),
        _EVENTS,
    ),
)
BLAMED = T(
    "Blamed",
    "Idle core time by cause and place. The shares of all add up to the share of the core time that was not work.",
    (
        F("cause", "blame_cause", "one of the causes below"),
        F(
            "subject",
            "text?",
            "region or kind of task that is to blame, or the program that had the CPU",
            unknown="none",
        ),
        F("key", "text?", "its `key`", unknown="no subject"),
        F("lane_time_s", "number", "core time", "s"),
        F("share", "number", "of `capacity_s`", "share"),
        F(
            "basis",
            "text",
            "what it is read from: `events`, `profile` (sums by region), or both; with what the events lack: an end, or the rest of the time",
        ),
        F("reason", "text?", "of the cause `unattributed`: what is not known", unknown="of another cause"),
    ),
)
RUN_PHASE = T(
    "RunPhase",
    "A stretch of time of a process, between two changes of what its lanes do.",
    (
        F("begin_s", "number", "since the process's library was loaded", "s"),
        F("end_s", "number", "", "s"),
        F("work", "number", "of the time of the lanes that are observed", "share"),
        F("cause", "blame_cause?", "what most of the lost time is charged to", unknown="nothing was lost"),
        F("subject", "text?", "region or kind of task", unknown="none"),
        F("key", "text?", "its `key`", unknown="no subject"),
        F("lost", "number", "of the time of the lanes: what this cause took", "share"),
    ),
)
PATH_PART = T(
    "PathPart",
    "A part of the critical path: the chain of work and waiting that decided when the program ended.",
    (
        F("cause", "blame_cause?", "why time passed without work", unknown="it was work"),
        F("subject", "text?", "region or kind of task", unknown="none"),
        F("key", "text?", "its `key`", unknown="no subject"),
        F("time_s", "number", "of all moments on the path", "s"),
        F("share", "number", "of the path, which is as long as all processes together lived", "share"),
        F("reason", "text?", "of the cause `unattributed`: what is not known", unknown="of another cause"),
        _EVENTS,
    ),
)
POP = T(
    "Pop",
    "Efficiencies of the lanes. `parallel_efficiency` = `serialization` x `load_balance` x `scheduling`.",
    (
        F("lanes", "integer", "threads or workers that took part"),
        F("parallel_efficiency", "number", "work of all lanes / (lanes x time)", "share"),
        F("load_balance", "number", "mean work / most work of a lane", "share"),
        F(
            "serialization",
            "number?",
            "most work of a lane / work on the critical path; above 1 where little of the path is work",
            unknown="no work on the path",
        ),
        F("scheduling", "number", "work on the critical path / time", "share"),
        F(
            "communication",
            "number?",
            "most work of a lane / time: communication efficiency, `serialization` x `scheduling`",
            "share",
            unknown="no lane waited for a message of another process",
        ),
    ),
)
WORKER = T(
    "WorkerSummary",
    "A worker of a task runtime.",
    (
        _PROCESS,
        F("lane", "integer", "number within the process"),
        F("name", "text", "what the runtime calls it"),
        F("runtime", "text", ""),
        F("worker", "integer", "number within the runtime"),
        F("work_s", "number", "ran tasks", "s"),
        F("looking_s", "number", "looked for a task, as far as it is not in `starved_s`", "s"),
        F("starved_s", "number", "had no task while some worker ran one", "s"),
        F("idle_s", "number", "parked while no worker ran a task", "s"),
        F("capped_s", "number", "held back by the cap on workers", "s"),
        F("parks", "integer", "how often it was parked"),
        F("tasks", "integer", "that it ran"),
        F("created", "integer", "tasks that it made"),
    ),
)
CHANGE = T(
    "Change",
    "A knob that a decision turned.",
    (
        F("knob", "text", "name"),
        F("from", "text", "value before"),
        F("to", "text", "value after"),
    ),
)
DECISION = T(
    "Decision",
    "A decision that changed the knobs of one subject while the program ran.",
    (
        _PROCESS,
        F("number", "integer", "of the decision within its process"),
        F("time_s", "number", "since the process began", "s"),
        F("subject", "text", "place in the program"),
        F("key", "text", "names the subject the same from run to run"),
        F("notes", "text{}", "what is to be remembered besides the knobs' values"),
        F("changes", "Change[]", "each knob that it turned"),
        F("outcome", "text", "`trial`, `kept`, `undone` or `set`: decision_outcome of the run directory"),
        F("policy", "text?", "what decided", unknown="not recorded"),
        F("reason", "text", "why"),
        F("evidence", "number{}", "the figures that it rests on"),
        F("gain", "number?", "of the subject's time that it saves", "share", "not measured"),
        F("uncertainty", "number?", "half the width of its 95 % interval", "share", "not measured"),
        F("pairs", "integer", "pairs of measurements that both rest on"),
    ),
)
SCHEDULER = T(
    "Scheduler",
    "The scheduling policy of a task runtime that was left open.",
    (
        _PROCESS,
        F("subject", "text", "the runtime"),
        F("key", "text", "names the runtime the same from run to run"),
        F("now", "text", "policy in force"),
        F("advised", "text?", "policy that may be better", unknown="none"),
        F("reason", "text", "why it is advised"),
        F("others", "text[]", "all other policies of the runtime"),
    ),
)
LANE = T(
    "LaneSummary",
    "The place of a thread (when it ends, a later thread may get its place), or of a CPU, a server or an executor.",
    (
        _PROCESS,
        F("lane", "integer", "number within the process"),
        F("kind", "text", "`thread`, `CPU`, `server` or `executor`"),
        F("name", "text", ""),
        F("tid", "integer", "thread id of its last thread; 0: it is no thread"),
        F("threads", "integer", "threads that had this lane, one after another"),
        F("run_s", "number", "on a CPU", "s"),
        F("run_delay_s", "number", "ready to run without a CPU", "s"),
        F("voluntary", "integer", "context switches"),
        F("involuntary", "integer", "context switches"),
        F("migrations", "integer?", "changes of CPU", unknown="not available"),
    ),
)
COUNTER = T(
    "CounterSeries",
    "A counter over time.",
    (
        _PROCESS,
        F("name", "text", ""),
        F("unit", "text", "of the values"),
        F("source", "text", "where it was read"),
        F("is_cumulative", "flag", "a total that only grows; else a level"),
        F("lanes", "integer?", "how many lanes it is the sum of", unknown="of the process"),
        F("t_s", "number[]", "since the process began", "s"),
        F("values", "number[]", "at these times"),
    ),
)
ENERGY = T(
    "Energy",
    "What the power meters counted of the machines of the run, whoever ran on them.",
    (
        F("meters", "text[]", "their names"),
        F("seconds", "number", "how long they counted, the longest of the hosts", "s"),
        F("joules", "number", "sum over the hosts", "J"),
        F("watts", "number?", "`joules` / `seconds`", "W", "counted for no time"),
        F("joule_seconds", "number", "`joules` x `seconds`", "J s"),
    ),
)
COUNTER_USE = T(
    "CounterUse",
    "How much of a counter was counted while a region or a kind of task ran: an estimate, of a run with all events.",
    (
        _PROCESS,
        F("counter", "text", "its `name` in `counters`"),
        F("unit", "text", "of the values"),
        F(
            "key",
            "text?",
            "`key` of the region or kind of task",
            unknown="neither ran, or several small ones",
        ),
        F("name", "text", "of the region or kind of task, as people read it; `outside`; `others`"),
        F(
            "value",
            "number",
            "counted while it ran, by the lane itself or, if it has no lane, by the whole machine",
        ),
        F("share", "number", "of what was counted in all", "share"),
        F(
            "certain",
            "number",
            "the part of `value` from between two readings with hardly anything else in between",
        ),
    ),
)
CPU_USE = T(
    "CpuUse",
    "How CPU time was used: in the program's own instructions, or by the kernel for it.",
    (
        _PROCESS,
        F("key", "text?", "`key` of the region", unknown="the whole process, or what lies outside regions"),
        F("name", "text", "of the region, as people read it; `all`; `outside`"),
        F("cpu_s", "number", "CPU time of its threads there", "s"),
        F("kernel_s", "number", "the part of `cpu_s` that the kernel used", "s"),
        F("page_fault_s", "number", "the part of `kernel_s` that page faults took, by the cost of one", "s"),
        F("error_s", "number", "half the width of a 95 % interval of `kernel_s`", "s"),
        F("minor_faults", "number", "page faults that needed no disk"),
        F("major_faults", "number", "page faults that waited for a disk"),
        F("samples", "integer", "parts of regions that this rests on; 0: it was counted"),
    ),
)
SIZE_CLASS = T(
    "SizeClass",
    "Parcels by the size of their arguments.",
    (
        F(
            "below",
            "integer",
            "they are shorter than this, and as long as the `below` of the class before it",
            "B",
        ),
        F("count", "integer", "how many"),
    ),
)
_PARCELS = (
    F("count", "integer", "parcels that were sent"),
    F("bytes", "integer", "of their arguments, without headers", "B"),
    F("sizes", "SizeClass[]", "these parcels by size; classes without any are left out"),
)
ACTION_FLOW = T(
    "ActionFlow",
    "What one locality sent to another one for one action.",
    (
        F("action", "text", "function as people read it; `result`, `exception`, `collective operation`"),
        F(
            "key",
            "text?",
            "`key` of the kind of task that these parcels become",
            unknown="the job's own parcels",
        ),
        *_PARCELS,
    ),
)
FLOW = T(
    "Flow",
    "What one locality sent to another one.",
    (
        F("from", "integer", "number of the locality (its rank)"),
        F("to", "integer", "number of the other one"),
        *_PARCELS,
        F("messages", "integer", "in which these parcels travelled"),
        F("message_bytes", "integer", "of the messages, headers included", "B"),
        F(
            "queued_wait_s",
            "number",
            "workers had nothing to do while parcels of theirs waited in the queue",
            "s",
        ),
        F("actions", "ActionFlow[]", "the same parcels by action, most bytes first"),
    ),
)
COMMUNICATION_SERVER = T(
    "CommunicationServer",
    "One communication server: a thread of a locality that sends messages for its other threads.",
    (
        F("server", "integer", "number within the locality"),
        F("messages", "integer", "that it has sent"),
        F("bytes", "integer", "of these messages", "B"),
        F("dropped", "integer", "messages whose receiver was gone"),
        F("full_queue", "integer", "attempts to send that were refused, because its queue was full"),
        F("no_room", "integer", "attempts of the server that the transport had no room for"),
        F("busy_s", "number", "time in which it sent, times without a CPU included", "s"),
        F("busy_share", "number", "`busy_s` / time since it was started", "share"),
        F(
            "saturated_s",
            "number",
            "time in which it sent without a pause while senders were refused",
            "s",
        ),
    ),
)
LOCALITY_SERVERS = T(
    "LocalityServers",
    "What the communication servers of one locality have done, together and one by one.",
    (
        F("locality", "integer", "its number (its rank)"),
        F("handed_over", "integer", "messages that senders have handed to servers"),
        F("sent_directly", "integer", "messages that senders have sent themselves"),
        F(
            "held_for_order",
            "integer",
            "attempts to send that were refused, because earlier messages were still in a server",
        ),
        F(
            "held_for_flow",
            "integer",
            "attempts to send that were refused, because as many messages as may wait in servers did",
        ),
        F("servers", "CommunicationServer[]", "those that were started, by number"),
    ),
)
NETWORK_PHASE = T(
    "NetworkPhase",
    "What was sent in one phase of the program, or in one part of the run.",
    (
        F(
            "name",
            "text?",
            "as the program declares it; the same name in several localities, or again, is one phase",
            unknown="not declared: a part of the run, or what was sent before the first phase",
        ),
        F("begin_s", "number", "when it began first, since the first process of the job began", "s"),
        F("end_s", "number", "when it ended last", "s"),
        F("flows", "Flow[]", "by `from` and `to`; those without a parcel are left out"),
    ),
)
NETWORK = T(
    "Network",
    "The messages between the localities of a job.",
    (
        F("parcels", "integer", "that were sent, by all localities"),
        F("messages", "integer", "in which they travelled"),
        F(
            "overhead",
            "number?",
            "`background_s` / (`background_s` + time in which workers ran tasks)",
            "share",
            "not recorded",
        ),
        F(
            "background_s",
            "number?",
            "receiving, sending, and writing the arguments, over all threads",
            "s",
            "not recorded",
        ),
        F(
            "queued_wait_s",
            "number",
            "workers had nothing to do while parcels of theirs waited in queues",
            "s",
        ),
        F("flows", "Flow[]", "by `from` and `to`"),
        F("servers", "LocalityServers[]", "communication servers, by locality; empty if there were none"),
        F(
            "phases",
            "NetworkPhase[]",
            "the same flows by phase as the program declares them (`job::begin_phase`), else in parts of equal length of the "
            "run; empty if the flows are too many",
        ),
    ),
)
PREEMPTOR = T(
    "Preemptor",
    "A process that ran while threads of the program waited for its CPU.",
    (
        F("name", "text", "of the process"),
        F("pid", "integer?", "process id", unknown="not known, or several programs that ended"),
        F("host", "text", "where it ran"),
        F("is_own", "flag", "it is part of the program"),
        F("time_s", "number", "that threads of the program waited meanwhile", "s"),
        F("share", "number", "of all time that the program's threads waited for a CPU", "share"),
        F("count", "integer", "waits in which it has run"),
        F(
            "preempted_s",
            "number",
            "part of `time_s`: the program's threads were taken off their CPU before",
            "s",
        ),
    ),
)
DELAYS = T(
    "Delays",
    "Waits for a CPU: how many, and how long.",
    (
        F("count", "integer", "waits"),
        F("sum_s", "number", "all together", "s"),
        F("p50_s", "number?", "half of them are not longer", "s", "none"),
        F("p99_s", "number?", "99 % of them are not longer", "s", "none"),
        F("max_s", "number?", "the longest", "s", "none"),
    ),
)
SCHEDULED_PROGRAM = T(
    "ScheduledProgram",
    "What the operating system's scheduler did with all threads of one program, whatever its processes.",
    (
        F("name", "text", "of its processes"),
        F("host", "text", "where it ran"),
        F("is_own", "flag", "it is part of the observed program"),
        F("processes", "integer", "that ran or waited"),
        F("threads", "integer", "likewise"),
        F("running_s", "number", "on CPUs: the parallel cost", "s"),
        F("switches", "integer", "its threads left a CPU"),
        F("voluntary", "integer", "of these: it waited for something, or ended"),
        F("involuntary", "integer", "of these: it could go on"),
        F("migrations", "integer", "moves to other CPUs"),
        F("waiting_s", "number", "ready to run, without a CPU", "s"),
        F("wakeup_latency", "Delays", "waits after a wake-up"),
        F("preemption", "Delays", "waits after a preemption"),
    ),
)
SCHEDULED_THREAD = T(
    "ScheduledThread",
    "The same of one thread of the observed program.",
    (
        F("name", "text", "of the thread"),
        F("program", "text", "of its process"),
        F("host", "text", "where it ran"),
        F("pid", "integer?", "of its process", unknown="not known"),
        F("tid", "integer?", "its own", unknown="not known"),
        F("running_s", "number", "on CPUs", "s"),
        F("voluntary", "integer", "it left its CPU because it waited for something, or ended"),
        F("involuntary", "integer", "it left its CPU while it could go on"),
        F("migrations", "integer", "moves to other CPUs"),
        F("waiting_s", "number", "ready to run, without a CPU", "s"),
        F("wakeup_latency", "Delays", "waits after a wake-up"),
        F("preemption", "Delays", "waits after a preemption"),
        F("idle_though_ready_s", "number", "part of `waiting_s`: its CPU was idle", "s"),
    ),
)
LATE_WAKER = T(
    "LateWaker",
    "Who woke threads of the program, which then waited for a CPU.",
    (
        F("name", "text", "of the process that woke them"),
        F("woken", "text", "name of the threads that were woken"),
        F("host", "text", "where"),
        F("time_s", "number", "that they waited", "s"),
        F("count", "integer", "wake-ups"),
    ),
)
KERNEL = T(
    "Kernel",
    "What the operating system's scheduler did with the program and with everything else, from its own events (`--kernel`).",
    (
        F("observed_s", "number", "recorded time, of all hosts", "s"),
        F("cpus", "integer", "whose events are recorded"),
        F("busy_s", "number", "of these CPUs: a thread ran", "s"),
        F("idle_s", "number", "of these CPUs: none did", "s"),
        F("running_s", "number", "of the program's threads, on CPUs", "s"),
        F("waiting_s", "number", "of the program's threads, ready to run, without a CPU", "s"),
        F("switches", "integer", "of the program's threads"),
        F("preemptors", "Preemptor[]", "most time first"),
        F("idle_though_ready_s", "number", "part of `waiting_s`: the thread's CPU was idle", "s"),
        F("unknown_s", "number", "part of `waiting_s`: what the CPU did is not known", "s"),
        F("wakeup_latency", "Delays", "waits of the program's threads after a wake-up"),
        F("preemption", "Delays", "waits of the program's threads after a preemption"),
        F("programs", "ScheduledProgram[]", "everything that ran, most time first"),
        F("threads", "ScheduledThread[]", "of the observed program, most time waited first"),
        F("late_wakers", "LateWaker[]", "most time first"),
        F("events", "integer", "of the scheduler that were recorded"),
        F("lost", "integer", "events that were lost"),
        F("inferred", "integer", "switches that the kernel did not record"),
        F("recorder_s", "number", "CPU time that recording took", "s"),
        F("complete", "flag", "every recording ended in order"),
    ),
)
TASK_TIMES = T(
    "TaskTimes",
    "What the tasks of one kind did from their creation until their end, by their events; sums over tasks.",
    (
        _PROCESS,
        _KEY,
        _NAME,
        F("count", "integer", "tasks"),
        F("staged_s", "number", "from creation until the begin", "s"),
        F("ineligible_s", "number", "of that, without all that the task needed", "s"),
        F(
            "eligible_s",
            "number",
            "with all that it needed, before its begin or after a wait, and no worker",
            "s",
        ),
        F("active_s", "number", "running, without tasks that ran inside", "s"),
        F("suspended_s", "number{}", "waiting after the begin, by wait_cause", "s"),
        F("is_own", "flag", "a task of the runtime itself: views of the program's tasks leave it out"),
    ),
)
IDLE_REGION = T(
    "IdleRegion",
    "A time from when all workers were busy, over one with at most one busy worker, until all were busy again.",
    (
        _PROCESS,
        F("begin_s", "number", "on the process's own axis of time", "s"),
        F("end_s", "number", "", "s"),
        F("lane_time_s", "number", "of workers that were not busy", "s"),
        F("verdict", "idle_verdict", "one of the verdicts below"),
        F(
            "breaking",
            "text?",
            "kind of the breaking task: had it ended earlier, the region would have",
            unknown="the next work came from outside of all tasks",
        ),
        F("breaking_task", "text?", "its identity", unknown="none is recorded"),
        F(
            "initiating",
            "text?",
            "kind of the initiating task: the latest one of the chain that started before the region",
            unknown="the chain began inside the region",
        ),
        F("initiating_task", "text?", "its identity", unknown="none is recorded"),
        F(
            "chain",
            "text[]",
            "kinds of task, each waited for by the one before it; begins with the first that ran beside another at the "
            "region's end; `...`: tasks left out",
        ),
        F(
            "delayed",
            "text?",
            "kind of the task of the chain that could have started earlier by most",
            unknown="all began as soon as they could, or nearly",
        ),
        F("earlier_s", "number", "by how much", "s"),
        F(
            "more_workers",
            "integer?",
            "so many more would have let it start then",
            unknown="another verdict than `not enough workers`",
        ),
    ),
)
IDLE_REGION_GROUP = T(
    "IdleRegionGroup",
    "Idle regions of one process with the same verdict and kinds of task.",
    (
        _PROCESS,
        F("verdict", "idle_verdict", "one of the verdicts below"),
        F("breaking", "text?", "as of its regions", unknown="as there"),
        F("initiating", "text?", "as of its regions", unknown="as there"),
        F("count", "integer", "regions"),
        F("time_s", "number", "of the regions", "s"),
        F("lane_time_s", "number", "of workers that were not busy", "s"),
        F("share", "number", "`lane_time_s` / (workers x time of the process)", "share"),
        F("more_workers", "integer?", "the most of its regions", unknown="as there"),
    ),
)
STAGE = T(
    "Stage",
    "One attempt of a stage of a Spark application.",
    (
        F("id", "integer", "number of the stage"),
        F("attempt", "integer", "0, then 1 after tasks could not fetch shuffle data"),
        F("key", "text", "`key` of the same stage in `regions`"),
        F("name", "text", "what Spark calls it"),
        F("place", "text", "call and source line that made its last RDD or plan node"),
        F("operators", "text[]", "plan nodes and RDDs, the last first"),
        F("job", "integer?", "number of its job", unknown="not in the log"),
        F("query", "integer?", "number of its SQL query", unknown="no query"),
        F("submitted_s", "number?", "since the application started", "s", "not in the log"),
        F("completed_s", "number?", "since the application started", "s", "not in the log"),
        F("failure", "text?", "why it failed", unknown="it did not"),
        F("tasks", "integer", "partitions that it had to compute"),
        F("attempts", "integer", "attempts of tasks"),
        F("failed", "integer", "attempts of tasks that failed or were killed"),
        F("stragglers", "integer", "tasks that held up others"),
        F("core_time_s", "number", "on core slots", "s"),
        F("median_s", "number", "median task", "s"),
        F("longest_s", "number", "longest task", "s"),
        F("time", "number{}", "core time by part of a task", "s"),
        F("idle", "number{}", "idle core time that is charged to it, by cause", "s"),
        F("read_bytes", "integer", "of shuffles and input", "B"),
        F("written_bytes", "integer", "of shuffles", "B"),
        F("spilled_bytes", "integer", "to disk", "B"),
        F("blocks", "integer", "of shuffles that its tasks fetched"),
        F(
            "sensitivity",
            "number?",
            "slope of the replayed time of its job against the standard deviation of its task times, s per s",
            unknown="not replayed",
        ),
    ),
)
SPARK_GROUP = T(
    "SparkGroup",
    "The core time of one job, query, executor, host or source line.",
    (
        F("group", "text", "`job`, `query`, `executor`, `host` or `line`"),
        F("name", "text", ""),
        F("core_time_s", "number", "all of the following", "s"),
        F("time", "number{}", "by part of a task, and idle time by cause", "s"),
    ),
)
SPARK = T(
    "Spark",
    "What an event log of Spark says beyond what every report has.",
    (
        F("application", "text", "its id"),
        F("version", "text", "of Spark"),
        F("executors", "integer", "that were there at some time"),
        F("slots", "integer", "core slots of these"),
        F("time", "number{}", "share of the core time by part of a task, and idle time by cause", "share"),
        F("replay_error", "number?", "of the unchanged replay", "share", "nothing to replay"),
        F("replay_trusted", "flag", "the error is small enough for claims"),
        F("groups", "SparkGroup[]", "by kind of group, most core time first"),
    ),
)
STORAGE_CALLS = T(
    "StorageCalls",
    "Calls of one kind on a group of files, by one stage, in JVMs of a Spark application.",
    (
        F("process", "text", "`id` of the process"),
        F("stage", "integer?", "number of the stage", unknown="no task called"),
        F("attempt", "integer?", "of the stage", unknown="no task called"),
        F("file_class", "text", "what the files are for: storage_class of the run directory"),
        F("group", "text", "kind of shuffle file, or folder"),
        F("call", "text", "`open`, `read`, `write` or `close`"),
        F("count", "integer", "calls"),
        F("failed", "integer", "of these, with an error"),
        F("bytes", "integer", "read or written", "B"),
        F("total_s", "number", "in all calls", "s"),
        F("median_s", "number", "interpolated between powers of two", "s"),
        F("p99_s", "number", "99th percentile, likewise", "s"),
        F("longest_s", "number", "", "s"),
    ),
)
REPORT = T(
    "Report",
    "The report of a run, over all of its processes.",
    (
        F("trimtab", "text", "version of Trimtab that made the report"),
        F("program", "text", ""),
        F("command", "text[]", "the program and its arguments"),
        F("level", "text", "how much was recorded: record_level of the run directory"),
        F("started_real_ns", "number?", "when the program was started, since 1970", "ns", "not recorded"),
        F("machine", "any{}", "what the launcher saw of the machine"),
        F("complete", "flag", "the program ended by itself"),
        F("exit", "Exit", ""),
        F("steering", "Steering?", "how the run was to be changed", unknown="not at all"),
        F("hosts", "text[]", "hosts of its processes, as far as they are recorded"),
        F("processes", "ProcessSummary[]", "all processes of the run"),
        F("wall_s", "number", "from the start of the program until it ended, by the launcher", "s"),
        F("observed_s", "number", "time in which at least one process that takes part lived", "s"),
        F("capacity_s", "number?", "available core time: what the shares are shares of", "s", "no process"),
        F("cpus_available", "number?", "`capacity_s` / `observed_s`", "CPUs", "no process"),
        F("threads", "integer?", "the most at a time", unknown="no process"),
        F("efficiency", "number?", "share of the core time that was work", "share", "no process"),
        F("time", "number{share}?", "where the core time went; adds up to 1", "share", "no process"),
        F("regions", "Region[]", "most wall time first"),
        F("tasks", "TaskKind[]", "most time first"),
        F("scopes", "Scope[]", ""),
        F("os", "System", ""),
        F("overhead", "Overhead", ""),
        F("unavailable", "Unavailable[]", ""),
        F("findings", "Finding[]", "largest gain first"),
        F("blame", "Blamed[]", "who is to blame for all idle core time, most first"),
        F(
            "phases",
            "RunPhase[]",
            "in order of time; of one process with all events; none where the mix of what its lanes do does not change",
        ),
        F("critical_path", "PathPart[]", "most time first; of one process with all events"),
        F(
            "pop",
            "Pop?",
            "of one process with all events",
            unknown="not all events were recorded, or of several processes",
        ),
        F(
            "what_if",
            "WhatIf[]",
            "first the unchanged run, then the shortest first; of one process with all events, or of a Spark application",
        ),
        F("workers", "WorkerSummary[]", ""),
        F("network", "Network?", "messages between localities", unknown="none were recorded"),
        F("kernel", "Kernel?", "the operating system's scheduler", unknown="not recorded (`--kernel`)"),
        F("decisions", "Decision[]", "in order of time"),
        F("schedulers", "Scheduler[]", ""),
        F("lanes", "LaneSummary[]", ""),
        F("counters", "CounterSeries[]", ""),
        F("energy", "Energy?", "of the machines", unknown="there was no power meter that could be read"),
        F(
            "cpu_use",
            "CpuUse[]",
            "by process: all of it, then regions, largest kernel time first, then outside",
        ),
        F("counter_use", "CounterUse[]", "largest first, by process and counter; none without all events"),
        F("timeline", "Timeline?", "the sum over the processes that take part", unknown="no events"),
        F("task_times", "TaskTimes[]", "most active time first, by process; none without all events"),
        F("idle_regions", "IdleRegion[]", "the 100 that cost most, in order of time, by process"),
        F("idle_region_groups", "IdleRegionGroup[]", "of all idle regions; most lane time first"),
        F(
            "no_idle_regions",
            "text?",
            "why idle regions are not looked for",
            unknown="they are, in at least one process",
        ),
        F("stages", "Stage[]", "of a Spark application, in order of their submission"),
        F("spark", "Spark?", "of a Spark application", unknown="it is none"),
        F("storage", "StorageCalls[]", "calls on files by JVMs of Spark, most time first"),
    ),
)

REPORT_SCHEMA = ReportSchema(
    (
        REPORT,
        EXIT,
        STEERING,
        START_VALUE,
        PROCESS,
        REGION,
        REGION_PART,
        REGION_LANE,
        REGION_SPREAD,
        SPREAD,
        LOOP,
        BUCKET,
        TASK,
        SCOPE,
        SYSTEM,
        OVERHEAD,
        UNAVAILABLE,
        LONGEST_WAIT,
        FINDING,
        WHAT_IF,
        BLAMED,
        RUN_PHASE,
        PATH_PART,
        POP,
        WORKER,
        NETWORK,
        NETWORK_PHASE,
        LOCALITY_SERVERS,
        COMMUNICATION_SERVER,
        FLOW,
        ACTION_FLOW,
        SIZE_CLASS,
        KERNEL,
        PREEMPTOR,
        SCHEDULED_PROGRAM,
        SCHEDULED_THREAD,
        LATE_WAKER,
        DELAYS,
        DECISION,
        CHANGE,
        SCHEDULER,
        LANE,
        COUNTER,
        ENERGY,
        COUNTER_USE,
        CPU_USE,
        TIMELINE,
        SERIES,
        TASK_TIMES,
        IDLE_REGION,
        IDLE_REGION_GROUP,
        STAGE,
        SPARK,
        STORAGE_CALLS,
        SPARK_GROUP,
    ),
    UNITS,
)
