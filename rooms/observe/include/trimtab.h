/* Report subjects, tasks and counters of your own to Trimtab. Plain C, header only, nothing to link beyond
 * libdl on old systems. A program that does not run under `trimtab run` pays one load and one branch a call.
 *
 *   static uint32_t solve;                                   // a subject: a named kind of work
 *   if (!solve) solve = trimtab_subject("solve");
 *   trimtab_begin(solve);  ...  trimtab_end(solve);          // nest properly, on one thread
 *
 *   uint32_t residual = trimtab_counter("residual", "1");
 *   trimtab_set(residual, 1e-6);
 *
 * C++: trimtab::subject and trimtab::scope do the same by RAII.
 * Every function may be called from any thread, never fails and never prints. Subject 0 is "none".
 */
#ifndef TRIMTAB_H
#define TRIMTAB_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* At profile level: tasks of one subject that this thread has made or run since the last batch. */
typedef struct trimtab_batch {
  uint32_t bytes; /* sizeof(trimtab_batch): how far the caller knows it */
  uint32_t subject;
  uint64_t made;
  uint64_t ran;
  uint64_t suspended;    /* how often they were */
  const uint64_t* ticks; /* how long some of them took: of `timed`, each */
  uint32_t timed;
  uint32_t is_inclusive; /* 1: with the tasks that ran inside them; 0: without */
} trimtab_batch;

/* A change of one knob by a steering engine, or what became of it. */
typedef struct trimtab_decision {
  uint32_t bytes; /* sizeof(trimtab_decision) */
  uint32_t subject;
  uint64_t number; /* from 1; the same for all knobs that one decision turns */
  uint32_t knob;
  uint32_t policy;
  int64_t from;
  int64_t to;
  double gain; /* share of the subject's time that is saved; means nothing with pairs 0 */
  double uncertainty;
  uint32_t pairs;
  uint32_t outcome; /* 1 trial, 2 kept, 3 undone, 4 set */
  const char* reason;
  const char* evidence; /* NAME=VALUE, blanks between */
} trimtab_decision;

/* Knobs of the program's own; see "Tuning" below. */
enum { TRIMTAB_MOST_KNOBS = 8 }; /* per work */
/* The values of a work's knobs that are in force together. Never changes once it can be seen, and is never freed. */
typedef struct trimtab_values {
  uint64_t decision; /* that put them in force; 0: the program's own */
  uint64_t count;    /* of knobs that had been declared by then */
  int64_t value[TRIMTAB_MOST_KNOBS];
} trimtab_values;
/* Work that is tuned: owned by the library in the process, for as long as the process. NULL: not watched. */
typedef struct trimtab_work {
  const trimtab_values* in_force;
} trimtab_work;
typedef struct trimtab_knob {
  uint32_t place;  /* among the knobs of its work, from 1; 0: it is not tuned */
  int64_t initial; /* its value where it is not tuned */
} trimtab_knob;
/* One execution of a work, on the stack of who does it. */
typedef struct trimtab_event {
  trimtab_work* work;
  const trimtab_values* values;
  uint64_t begin; /* ticks */
} trimtab_event;
typedef struct trimtab_knob_declaration {
  uint32_t bytes; /* sizeof(trimtab_knob_declaration) */
  const char* name;
  int64_t least, most, step; /* of a range: values NULL, count 0 */
  const int64_t* values;     /* of a list */
  uint32_t count;
  const char* names; /* of values without an order, with commas between: their values are 0, 1, ...; NULL: numbers */
  int64_t initial;
} trimtab_knob_declaration;

/* What the library inside a watched process offers. Grows at the end only; `bytes` says how far it goes. */
typedef struct trimtab_api {
  uint32_t bytes;
  uint32_t (*subject)(const char* name, const char* file, uint32_t line);
  void (*begin)(uint32_t subject);
  void (*end)(uint32_t subject);
  void (*mark)(uint32_t subject);
  uint32_t (*counter)(const char* name, const char* unit);
  void (*set)(uint32_t counter, double value);
  uint64_t (*task_created)(uint32_t subject);
  void (*task_begin)(uint32_t subject, uint64_t task);
  void (*task_end)(uint32_t subject, uint64_t task);
  void (*edge)(uint64_t before, uint64_t after);
  /* For task runtimes; from here on since format 1.1. */
  uint32_t (*level)(void);
  uint32_t (*clock)(void);
  uint64_t (*now)(void);
  uint32_t (*task_subject)(const char* name, const char* file, uint32_t line);
  uint32_t (*code_subject)(const void* code);
  uint64_t (*task_made)(uint32_t subject, uint64_t by);
  void (*task_ready)(uint32_t subject, uint64_t task, uint64_t by);
  void (*task_suspended)(uint32_t subject, uint64_t task, uint32_t cause, uint64_t awaited);
  void (*task_resumed)(uint32_t subject, uint64_t task, uint32_t cause, uint64_t ticks);
  void (*task_edge)(uint64_t before, uint64_t after, uint32_t cause);
  void (*tasks_ran)(const struct trimtab_batch* batch);
  uint32_t (*runtime)(const char* name);
  void (*worker_begins)(uint32_t runtime, uint32_t worker);
  void (*worker_state)(uint32_t state);
  void (*name_lane)(const char* name);
  uint32_t (*path_counter)(const char* path, const char* unit, uint32_t is_cumulative);
  /* For what turns knobs of the program while it runs. */
  uint32_t (*knob)(uint32_t subject, const char* name, const char* key, const char* value_names);
  uint32_t (*policy)(const char* name);
  void (*decide)(const struct trimtab_decision* made);
  void (*fact)(const char* key, const char* value);
  void (*unavailable)(const char* what, const char* why, const char* remedy);
  void (*fit_threads)(uint32_t is_on);
  /* Where a steering engine writes what it is told, so that its decisions can be replayed; NULL: nowhere. */
  const char* (*snapshots_folder)(void);
  /* For programs that have knobs of their own. */
  trimtab_work* (*work)(const char* name);
  uint32_t (*declare_knob)(trimtab_work* work, const struct trimtab_knob_declaration* declared);
  /* seconds below 0: by the clock, since `begin`; cost below 0: seconds per unit. */
  void (*event_ended)(const struct trimtab_event* event, double cost, double seconds, double units);
  /* The folder of this process in the run, where an engine finds a policy in another process. */
  const char* (*process_folder)(void);
  /* For runtimes whose tasks come from other processes of a job, at TRIMTAB_TRACE only. The sender gets the parcel's number,
   * which travels with the call: 0: there is none. `from`, `to`: the other process's rank. */
  uint64_t (*parcel_sent)(uint32_t subject, uint32_t to);
  void (*parcel_received)(uint32_t subject, uint64_t task, uint32_t from, uint64_t parcel);
  /* A parcel that lets a task go on, or begin, that is there already; since format 1.7. */
  void (*answer_received)(uint64_t task, uint32_t from, uint64_t parcel);
  /* These parcels left the queue of their sender at `ticks` in one message, the `message`th to that process: the calling thread
   * sent it. why: TRIMTAB_LEFT_...; since format 1.8. */
  void (*parcels_left)(const uint64_t* parcels, uint32_t count, uint32_t why, uint64_t message, uint64_t ticks);
} trimtab_api;

/* Of trimtab_api.level. */
enum { TRIMTAB_PROFILE = 2, TRIMTAB_TRACE = 3 };
/* Of trimtab_api.clock: what `now` and all ticks are. */
enum { TRIMTAB_CLOCK_TSC = 1, TRIMTAB_CLOCK_MONOTONIC_NS = 2 };
/* schema: worker_state */
/* What the worker of a task runtime does. */
enum {
  TRIMTAB_WORKER_NONE = 0,   /* the lane's thread is no worker, or no longer */
  TRIMTAB_WORKER_RUNS = 1,   /* it runs tasks, and finds the next one at once */
  TRIMTAB_WORKER_LOOKS = 2,  /* it looks for a task */
  TRIMTAB_WORKER_IDLE = 3,   /* parked: there was nothing to run */
  TRIMTAB_WORKER_CAPPED = 4, /* parked: the runtime may not use more workers */
};
/* end */
/* schema: wait_cause */
/* What a task waits for, or what one task gives another. */
enum {
  TRIMTAB_CAUSE_OTHER = 0,
  TRIMTAB_CAUSE_FUTURE = 1,
  TRIMTAB_CAUSE_SLOT = 2, /* an input of a task of a graph */
  TRIMTAB_CAUSE_MUTEX = 3,
  TRIMTAB_CAUSE_CONDITION = 4,
  TRIMTAB_CAUSE_SEMAPHORE = 5,
  TRIMTAB_CAUSE_LATCH = 6,
  TRIMTAB_CAUSE_BARRIER = 7,
  TRIMTAB_CAUSE_CHANNEL = 8,
  TRIMTAB_CAUSE_CHILDREN = 9, /* forked tasks */
  TRIMTAB_CAUSE_TIME = 10,
};
/* end */
/* schema: leave_cause */
/* Why a parcel left the queue of its sender. */
enum {
  TRIMTAB_LEFT_NONE = 0,         /* it did not wait for others: it is too long for a queue */
  TRIMTAB_LEFT_COUNT = 1,        /* a fixed setting: as many parcels as the queue may hold */
  TRIMTAB_LEFT_BATCH = 2,        /* as many parcels as make up for the cost of a message */
  TRIMTAB_LEFT_TIME = 3,         /* a fixed setting: the oldest parcel had waited long enough */
  TRIMTAB_LEFT_FULL = 4,         /* as many bytes as the queue may hold */
  TRIMTAB_LEFT_HANDLED = 5,      /* the receiver had handled all earlier messages */
  TRIMTAB_LEFT_SENDER_WAITS = 6, /* its sender had nothing else to do */
  TRIMTAB_LEFT_AGE = 7,          /* a thread had nothing else to do, and the parcels had waited for longer than a message costs */
  TRIMTAB_LEFT_ASKED = 8,        /* the program asked for it, or the job ended */
  TRIMTAB_LEFT_ROOM = 9,         /* the transport had no room before */
};
/* end */

/* One pointer a program; NULL while not watched. Set by the first call that makes a subject or counter. */
#ifdef __cplusplus
inline const trimtab_api* trimtab_attached_api = NULL;
#else
__attribute__((weak)) const trimtab_api* trimtab_attached_api;
#endif

static inline const trimtab_api* trimtab_attach(void) {
  if (trimtab_attached_api == NULL) {
    void* const program = dlopen(NULL, RTLD_LAZY);
    const trimtab_api* (*get)(uint32_t) = NULL;
    if (program != NULL) {
      *(void**)(&get) = dlsym(program, "trimtab_get_api");
      dlclose(program);
    }
    if (get != NULL) trimtab_attached_api = get(1);
  }
  return trimtab_attached_api;
}

/* A named kind of work. Call once and keep the number; the same name and place give the same subject. */
static inline uint32_t trimtab_subject_at(const char* name, const char* file, uint32_t line) {
  const trimtab_api* const api = trimtab_attach();
  return api != NULL ? api->subject(name, file, line) : 0;
}
#define trimtab_subject(name) trimtab_subject_at((name), __FILE__, (uint32_t)__LINE__)

static inline void trimtab_begin(uint32_t subject) {
  if (subject != 0) trimtab_attached_api->begin(subject);
}
static inline void trimtab_end(uint32_t subject) {
  if (subject != 0) trimtab_attached_api->end(subject);
}
/* A point in time. */
static inline void trimtab_mark(uint32_t subject) {
  if (subject != 0) trimtab_attached_api->mark(subject);
}

/* A figure over time, with its unit. */
static inline uint32_t trimtab_counter(const char* name, const char* unit) {
  const trimtab_api* const api = trimtab_attach();
  return api != NULL ? api->counter(name, unit) : 0;
}
static inline void trimtab_set(uint32_t counter, double value) {
  if (counter != 0) trimtab_attached_api->set(counter, value);
}

/* Tasks have an identity of their own, since they may begin on one thread and end on another. 0: not watched. */
static inline uint64_t trimtab_task_created(uint32_t subject) {
  return subject != 0 ? trimtab_attached_api->task_created(subject) : 0;
}
static inline void trimtab_task_begin(uint32_t subject, uint64_t task) {
  if (subject != 0) trimtab_attached_api->task_begin(subject, task);
}
static inline void trimtab_task_end(uint32_t subject, uint64_t task) {
  if (subject != 0) trimtab_attached_api->task_end(subject, task);
}
/* Task `after` could not start before task `before` had ended. */
static inline void trimtab_edge(uint64_t before, uint64_t after) {
  if (before != 0 && after != 0) trimtab_attached_api->edge(before, after);
}

/* Task runtimes. A runtime calls trimtab_api's functions itself, through what this returns: NULL where nothing is
 * recorded, or by a library too old to know tasks.
 *
 *   const trimtab_api* const to = trimtab_tasks_api();
 *   if (to != NULL) mine = to->runtime("my runtime");         // once; its workers are told apart from others' by it
 *
 * Each worker thread calls worker_begins, and worker_state at every change of what it does, with NONE before it ends.
 * Looking for work that is found at the first try is part of running: say LOOKS only when it was not.
 *
 * Subjects of tasks come from task_subject (0: none) or, of tasks without a name, from code_subject: the address of
 * the function that is the task, which reports resolve to its place in the source.
 *
 * At TRIMTAB_PROFILE a task costs its runtime a count: tasks_ran is told of many at a time. At TRIMTAB_TRACE each is
 * told of by itself, and tasks_ran takes no notice: task_made gives it its identity (by: the task that makes it, 0:
 * the one that runs on this thread), then task_ready (by: the task that made it so, or 0), task_begin, any number of
 * task_suspended and task_resumed (ticks: how long it was, 0: not known; on any thread), and task_end. Parts of tasks
 * nest on a thread: a task that waits on its stack while another runs is not suspended. Both levels: task_resumed.
 * task_edge: `after` could not go on before `before` gave it something; called by who gives, when it does. before 0: code
 * outside of all tasks gave it.
 */
static inline const trimtab_api* trimtab_tasks_api(void) {
  const trimtab_api* const api = trimtab_attach();
  return api != NULL && api->bytes >= offsetof(trimtab_api, path_counter) + sizeof(api->path_counter) ? api : NULL;
}

/* The same for what turns knobs: knob once for each, with the subject's number and a key that names the subject the same
 * in every run (value_names: of the values 0, 1, ... with commas between; "": they are numbers), policy once for each, then
 * decide. None of these may be called while an event is recorded: they take locks. */
static inline const trimtab_api* trimtab_steering_api(void) {
  const trimtab_api* const api = trimtab_attach();
  return api != NULL && api->bytes >= offsetof(trimtab_api, unavailable) + sizeof(api->unavailable) ? api : NULL;
}

/* Under `trimtab run --threads` with a policy that fits the number of threads to the machine: 0 ends that, and regions get
 * as many as the program asks for, from one of the next on; 1 begins it anew. Otherwise nothing happens. Any thread, any
 * time. */
static inline void trimtab_fit_threads(int is_on) {
  const trimtab_api* const api = trimtab_attach();
  if (api != NULL && api->bytes >= offsetof(trimtab_api, fit_threads) + sizeof(api->fit_threads))
    api->fit_threads(is_on != 0 ? 1 : 0);
}

/* The folder of `trimtab_api.snapshots_folder`; NULL: nothing is to be written. */
static inline const char* trimtab_snapshots_folder(void) {
  const trimtab_api* const api = trimtab_attach();
  const size_t known = offsetof(trimtab_api, snapshots_folder) + sizeof(api->snapshots_folder);
  return api != NULL && api->bytes >= known ? api->snapshots_folder() : NULL;
}

/* The folder of `trimtab_api.process_folder`; NULL: the process is not recorded. */
static inline const char* trimtab_process_folder(void) {
  const trimtab_api* const api = trimtab_attach();
  const size_t known = offsetof(trimtab_api, process_folder) + sizeof(api->process_folder);
  return api != NULL && api->bytes >= known ? api->process_folder() : NULL;
}

/* Tuning: a program has values that it may choose freely (a tile size, a batch, one of two algorithms), and work that it
 * does again and again with them. `trimtab run --tune` finds the values with which the work costs least; later runs begin
 * with them.
 *
 *   static trimtab_work* solve;
 *   static trimtab_knob tile;
 *   solve = trimtab_tuned_work("solve");                        // once, and its knobs before its first event
 *   tile = trimtab_knob_range(solve, "tile", 16, 512, 16, 64);  // 16, 32, ... 512; 64 is the program's own
 *
 *   trimtab_event step = trimtab_event_begin(solve);            // one execution; on any thread, several at a time
 *   run(trimtab_knob_value(&step, tile));                       // the same value until the event ends
 *   trimtab_event_end(&step, 1);                                // costs the seconds that it took
 *
 * Every value of a knob must give a right answer: to declare it is the program's consent to each of them. Values change only
 * between events: an event keeps those that were in force when it began. Where nothing is tuned a knob has its initial
 * value. Declarations take locks and allocate; events do neither. The names are copied. */

/* The same name gives the same work. NULL: the program does not run under Trimtab. At most 64 in a process. */
static inline trimtab_work* trimtab_tuned_work(const char* name) {
  const trimtab_api* const api = trimtab_attach();
  const size_t known = offsetof(trimtab_api, event_ended) + sizeof(api->event_ended);
  return api != NULL && api->bytes >= known ? api->work(name) : NULL;
}

/* A wrong declaration has no effect: the knob keeps its initial value, and the run's report says what was wrong. */
static inline trimtab_knob trimtab_declare_knob(trimtab_work* work, const trimtab_knob_declaration* declared) {
  trimtab_knob made;
  made.place = work != NULL ? trimtab_attached_api->declare_knob(work, declared) : 0;
  made.initial = declared->initial;
  return made;
}
/* least, least + step, ... up to most; step above 0. */
static inline trimtab_knob trimtab_knob_range(trimtab_work* work, const char* name, int64_t least, int64_t most,
                                              int64_t step, int64_t initial) {
  trimtab_knob_declaration declared = {sizeof(trimtab_knob_declaration), name, least, most, step, NULL, 0, NULL, initial};
  return trimtab_declare_knob(work, &declared);
}
/* One of these numbers, in any order. */
static inline trimtab_knob trimtab_knob_list(trimtab_work* work, const char* name, const int64_t* values, uint32_t count,
                                             int64_t initial) {
  trimtab_knob_declaration declared = {sizeof(trimtab_knob_declaration), name, 0, 0, 0, values, count, NULL, initial};
  return trimtab_declare_knob(work, &declared);
}
/* Things without an order, such as algorithms: "rows,columns". The value is the place in the text, from 0. */
static inline trimtab_knob trimtab_knob_names(trimtab_work* work, const char* name, const char* names, int64_t initial) {
  trimtab_knob_declaration declared = {sizeof(trimtab_knob_declaration), name, 0, 0, 0, NULL, 0, names, initial};
  return trimtab_declare_knob(work, &declared);
}

static inline trimtab_event trimtab_event_begin(trimtab_work* work) {
  trimtab_event made = {work, NULL, 0};
  if (work != NULL) {
    /* Pairs with the release of who puts values in force. */
    made.values = __atomic_load_n(&work->in_force, __ATOMIC_ACQUIRE);
    made.begin = trimtab_attached_api->now();
  }
  return made;
}
/* Of a knob of this event's work. */
static inline int64_t trimtab_knob_value(const trimtab_event* event, trimtab_knob knob) {
  /* Place 0 is above every count; a knob that was declared within the event has its initial value. */
  return event->values != NULL && knob.place - 1u < event->values->count ? event->values->value[knob.place - 1]
                                                                         : knob.initial;
}
/* The cost is the time since the event began, in seconds, divided by `units` (above 0). If events differ in size, give their
 * sizes as units: otherwise the sizes would be compared. */
static inline void trimtab_event_end(const trimtab_event* event, double units) {
  if (event->work != NULL) trimtab_attached_api->event_ended(event, -1, -1, units);
}
/* The same with seconds that the program has measured. */
static inline void trimtab_event_took(const trimtab_event* event, double seconds, double units) {
  if (event->work != NULL) trimtab_attached_api->event_ended(event, -1, seconds < 0 ? 0 : seconds, units);
}
/* Costs what the program says, which is to become less: a count, an error, bytes. 0 or more. */
static inline void trimtab_event_costs(const trimtab_event* event, double cost) {
  if (event->work != NULL) trimtab_attached_api->event_ended(event, cost < 0 ? 0 : cost, -1, 1);
}

/* Says who the calling thread is, better than the system's name for it. Up to 39 bytes are kept. */
static inline void trimtab_name_lane(const char* name) {
  const trimtab_api* const api = trimtab_tasks_api();
  if (api != NULL) api->name_lane(name);
}

#ifdef __cplusplus
} /* extern "C" */

namespace trimtab {

/* A named kind of work, made once: `static const trimtab::subject solve("solve");` */
class subject {
 public:
  explicit subject(const char* name, const char* file = __builtin_FILE(),
                   uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept
      : m_id(trimtab_subject_at(name, file, line)) {}
  uint32_t id() const noexcept { return m_id; }

 private:
  uint32_t m_id;
};

/* Time from construction to destruction, on one thread. */
class scope {
 public:
  explicit scope(const subject& of) noexcept : m_id(of.id()) { trimtab_begin(m_id); }
  ~scope() { trimtab_end(m_id); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

 private:
  uint32_t m_id;
};

class counter {
 public:
  counter(const char* name, const char* unit) noexcept : m_id(trimtab_counter(name, unit)) {}
  void set(double value) const noexcept { trimtab_set(m_id, value); }

 private:
  uint32_t m_id;
};

/* Work with knobs: `static trimtab::work solve("solve");` */
class work {
 public:
  explicit work(const char* name) noexcept : m_work(trimtab_tuned_work(name)) {}
  trimtab_work* get() const noexcept { return m_work; }

 private:
  trimtab_work* m_work;
};

/* `static const trimtab::knob tile(solve, "tile", {16, 512, 16}, 64), order(solve, "order", "rows,columns", 0);` */
class knob {
 public:
  struct range {
    int64_t least, most, step;
  };
  knob(const work& of, const char* name, range values, int64_t initial) noexcept
      : m_knob(trimtab_knob_range(of.get(), name, values.least, values.most, values.step, initial)) {}
  knob(const work& of, const char* name, const char* names, int64_t initial) noexcept
      : m_knob(trimtab_knob_names(of.get(), name, names, initial)) {}
  template <size_t count>
  knob(const work& of, const char* name, const int64_t (&values)[count], int64_t initial) noexcept
      : m_knob(trimtab_knob_list(of.get(), name, values, static_cast<uint32_t>(count), initial)) {}
  trimtab_knob get() const noexcept { return m_knob; }

 private:
  trimtab_knob m_knob;
};

/* From construction to destruction, which costs seconds, unless something else was said before. */
class work_event {
 public:
  explicit work_event(const work& of, double units = 1) noexcept : m_event(trimtab_event_begin(of.get())), m_units(units) {}
  ~work_event() { trimtab_event_end(&m_event, m_units); }
  work_event(const work_event&) = delete;
  work_event& operator=(const work_event&) = delete;
  int64_t operator[](const knob& of) const noexcept { return trimtab_knob_value(&m_event, of.get()); }
  void units(double done) noexcept { m_units = done; }
  void took(double seconds) noexcept {
    trimtab_event_took(&m_event, seconds, m_units);
    m_event.work = NULL;
  }
  void costs(double cost) noexcept {
    trimtab_event_costs(&m_event, cost);
    m_event.work = NULL;
  }

 private:
  trimtab_event m_event;
  double m_units;
};

}  // namespace trimtab
#endif

#endif /* TRIMTAB_H */
