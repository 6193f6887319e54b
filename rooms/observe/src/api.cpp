// The functions behind trimtab.h. Subject numbers there are ours plus one, so that 0 can mean "none".
#include <cstring>
#include <exception>

#include "trimtab.h"
#include "trimtab/observe/decision_text.hpp"
#include "trimtab/observe/program_knobs.hpp"
#include "trimtab/observe/program_requests.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

static_assert(TRIMTAB_PROFILE == static_cast<int>(record_level::profile) &&
              TRIMTAB_TRACE == static_cast<int>(record_level::trace));
static_assert(TRIMTAB_CLOCK_TSC == static_cast<int>(clock_kind::tsc));
static_assert(TRIMTAB_WORKER_CAPPED == static_cast<int>(worker_state::capped));
static_assert(TRIMTAB_CAUSE_TIME == static_cast<int>(wait_cause::time));

namespace {

std::uint32_t api_named(subject_kind kind, const char* name, const char* file, std::uint32_t line) {
  if (this_lane() == nullptr) return 0;
  const std::uint32_t id = the_recorder.named_subject(kind, name, file, line);
  return id == no_subject ? 0 : id + 1;
}

std::uint32_t api_subject(const char* name, const char* file, std::uint32_t line) {
  return api_named(subject_kind::scope, name, file, line);
}

void api_begin(std::uint32_t subject) {
  if (lane* const here = this_lane(); here != nullptr) here->scope_begin(subject - 1);
}

void api_end(std::uint32_t subject) {
  if (lane* const here = this_lane(); here != nullptr) here->scope_end(subject - 1);
}

void api_mark(std::uint32_t subject) {
  lane* const here = this_lane();
  if (here == nullptr) return;
  here->count_hook(1);
  here->record(event_kind::mark, subject - 1, 0, 0, 0, base::now());
}

std::uint32_t api_counter(const char* name, const char* unit) {
  return this_lane() == nullptr ? 0 : the_recorder.add_counter(name, unit, "program", false);
}

void api_set(std::uint32_t counter, double value) { the_recorder.sample(counter, no_lane, value, base::now()); }

// Taken from all threads' common number a block at a time.
std::uint64_t new_task() noexcept {
  constexpr std::uint64_t block = 4096;
  static constinit std::atomic<std::uint64_t> blocks{0};
  static constinit thread_local std::uint64_t last = 0;
  if (last % block == 0) last = blocks.fetch_add(1, std::memory_order_relaxed) * block;
  return ++last;
}

std::uint64_t api_task_made(std::uint32_t subject, std::uint64_t by) {
  lane* const here = this_lane();
  if (here == nullptr) return 0;
  const std::uint64_t task = new_task();
  here->count_hook(1);
  here->record(event_kind::task_created, subject - 1, 0, task, by != 0 ? by : here->task_here(), base::now());
  if (profile_row* const row = here->own_row(subject - 1, metric::task); row != nullptr) row->x[task_fields::created] += 1;
  return task;
}

std::uint64_t api_task_created(std::uint32_t subject) { return api_task_made(subject, 0); }

void api_task_begin(std::uint32_t subject, std::uint64_t task) {
  lane* const here = this_lane();
  if (here == nullptr) return;
  here->count_hook(1);
  here->task_begin(subject - 1, task, base::now());
}

void api_task_end(std::uint32_t subject, std::uint64_t task) {
  lane* const here = this_lane();
  if (here == nullptr) return;
  here->count_hook(1);
  here->task_ends(subject - 1, task, base::now());
}

void api_task_edge(std::uint64_t before, std::uint64_t after, std::uint32_t cause) {
  lane* const here = this_lane();
  if (here == nullptr) return;
  here->count_hook(1);
  here->record(event_kind::edge, no_subject, static_cast<std::uint16_t>(cause), before, after, base::now());
}

void api_edge(std::uint64_t before, std::uint64_t after) { api_task_edge(before, after, TRIMTAB_CAUSE_OTHER); }

std::uint32_t api_level() { return static_cast<std::uint32_t>(the_recorder.level()); }

std::uint32_t api_clock() {
  return static_cast<std::uint32_t>(base::clock_is_tsc ? clock_kind::tsc : clock_kind::monotonic);
}

std::uint64_t api_now() { return base::now(); }

std::uint32_t api_task_subject(const char* name, const char* file, std::uint32_t line) {
  return api_named(subject_kind::task, name, file, line);
}

std::uint32_t api_code_subject(const void* code) {
  if (this_lane() == nullptr) return 0;
  const std::uint32_t id = the_recorder.subject(subject_kind::task, code, false);
  return id == no_subject ? 0 : id + 1;
}

void api_task_ready(std::uint32_t subject, std::uint64_t task, std::uint64_t by) {
  lane* const here = this_lane();
  if (here == nullptr) return;
  here->count_hook(1);
  here->record(event_kind::task_ready, subject - 1, 0, task, by, base::now());
}

void api_task_suspended(std::uint32_t subject, std::uint64_t task, std::uint32_t cause, std::uint64_t awaited) {
  lane* const here = this_lane();
  if (here == nullptr) return;
  here->count_hook(1);
  here->task_suspended(subject - 1, task, static_cast<wait_cause>(cause & 0xff), awaited, base::now());
}

void api_task_resumed(std::uint32_t subject, std::uint64_t task, std::uint32_t cause, std::uint64_t ticks) {
  lane* const here = this_lane();
  if (here == nullptr) return;
  here->count_hook(1);
  here->task_resumed(subject - 1, task, static_cast<wait_cause>(cause & 0xff), ticks, base::now());
}

void api_tasks_ran(const trimtab_batch* batch) {
  lane* const here = this_lane();
  if (here == nullptr || the_recorder.traces() || batch->subject == 0 || batch->bytes < sizeof(trimtab_batch)) return;
  lane::batch told;
  told.made = batch->made;
  told.ran = batch->ran;
  told.suspended = batch->suspended;
  told.ticks = batch->ticks;
  told.timed = batch->timed;
  told.is_inclusive = batch->is_inclusive != 0;
  here->tasks_ran(batch->subject - 1, told);
}

std::uint32_t api_runtime(const char* name) { return api_named(subject_kind::workers, name, "", 0); }

void api_worker_begins(std::uint32_t runtime, std::uint32_t worker) {
  lane* const here = this_lane();
  if (here == nullptr || runtime == 0) return;
  here->worker_begins(runtime - 1, worker, base::now());
}

void api_worker_state(std::uint32_t state) {
  if (lane* const here = this_lane(); here != nullptr && state <= TRIMTAB_WORKER_CAPPED)
    here->worker_enters(static_cast<worker_state>(state), base::now());
}

void api_name_lane(const char* name) {
  if (lane* const here = this_lane(); here != nullptr) here->name(name);
}

std::uint32_t api_path_counter(const char* path, const char* unit, std::uint32_t is_cumulative) {
  return this_lane() == nullptr ? 0 : the_recorder.add_counter(path, unit, "runtime", is_cumulative != 0);
}

std::uint32_t api_knob(std::uint32_t subject, const char* name, const char* key, const char* value_names) {
  return subject == 0 ? 0 : the_recorder.add_knob(subject - 1, name, key, value_names);
}

std::uint32_t api_policy(const char* name) { return the_recorder.add_policy(name); }

void api_decide(const trimtab_decision* made) {
  if (made->bytes < sizeof(trimtab_decision) || made->subject == 0) return;
  decision record{};
  record.ticks = base::now();
  record.number = made->number;
  record.subject = made->subject - 1;
  record.knob = made->knob;
  record.from = made->from;
  record.to = made->to;
  record.gain = made->gain;
  record.uncertainty = made->uncertainty;
  record.pairs = made->pairs;
  record.outcome = static_cast<decision_outcome>(made->outcome);
  record.policy = static_cast<std::uint16_t>(made->policy);
  write_text(record, made->reason, made->evidence);
  the_recorder.decide(record);
}

void api_fact(const char* key, const char* value) { the_recorder.fact(key, value); }

const char* api_snapshots_folder() { return the_recorder.options().has_snapshots ? the_recorder.directory() : nullptr; }

void api_unavailable(const char* what, const char* why, const char* remedy) { the_recorder.unavailable(what, why, remedy); }

void api_fit_threads(std::uint32_t is_on) {
  requested_thread_fitting.store(is_on != 0 ? thread_fitting_request::on : thread_fitting_request::off,
                                 std::memory_order_relaxed);
}

const char* api_process_folder() { return the_recorder.directory(); }

trimtab_work* api_work(const char* name) {
  // The first lane of a process begins its steering.
  const std::uint32_t subject_1 = name == nullptr ? 0 : api_subject(name, "", 0);
  if (subject_1 == 0) return nullptr;
  try {
    return the_program_works.add(name, subject_1 - 1);
  } catch (const std::exception&) {
    return nullptr;
  }
}

std::uint32_t api_declare_knob(trimtab_work* work, const trimtab_knob_declaration* declared) {
  if (declared->bytes < sizeof(trimtab_knob_declaration)) return 0;
  try {
    return the_program_works.declare(static_cast<program_work&>(*work), *declared);
  } catch (const std::exception&) {
    return 0;
  }
}

void api_event_ended(const trimtab_event* event, double cost, double seconds, double units) {
  if (!the_program_works.are_measured()) return;
  if (seconds < 0) seconds = static_cast<double>(base::now() - event->begin) * the_recorder.clock().ns_per_tick * 1e-9;
  static_cast<program_work*>(event->work)->add(event->values->decision, cost < 0 ? seconds / units : cost, seconds);
}

constexpr trimtab_api make_api() {
  trimtab_api made{};
  made.bytes = sizeof(trimtab_api);
  made.subject = api_subject;
  made.begin = api_begin;
  made.end = api_end;
  made.mark = api_mark;
  made.counter = api_counter;
  made.set = api_set;
  made.task_created = api_task_created;
  made.task_begin = api_task_begin;
  made.task_end = api_task_end;
  made.edge = api_edge;
  made.level = api_level;
  made.clock = api_clock;
  made.now = api_now;
  made.task_subject = api_task_subject;
  made.code_subject = api_code_subject;
  made.task_made = api_task_made;
  made.task_ready = api_task_ready;
  made.task_suspended = api_task_suspended;
  made.task_resumed = api_task_resumed;
  made.task_edge = api_task_edge;
  made.tasks_ran = api_tasks_ran;
  made.runtime = api_runtime;
  made.worker_begins = api_worker_begins;
  made.worker_state = api_worker_state;
  made.name_lane = api_name_lane;
  made.path_counter = api_path_counter;
  made.knob = api_knob;
  made.policy = api_policy;
  made.decide = api_decide;
  made.fact = api_fact;
  made.unavailable = api_unavailable;
  made.fit_threads = api_fit_threads;
  made.snapshots_folder = api_snapshots_folder;
  made.work = api_work;
  made.declare_knob = api_declare_knob;
  made.event_ended = api_event_ended;
  made.process_folder = api_process_folder;
  return made;
}

constexpr trimtab_api api = make_api();

}  // namespace

}  // namespace trimtab::observe

// nullptr: this version is not offered, or nothing is recorded.
extern "C" __attribute__((visibility("default"))) const trimtab_api* trimtab_get_api(std::uint32_t version) {
  using namespace trimtab::observe;
  if (version != 1 || the_recorder.is_off() || the_recorder.level() < record_level::profile) return nullptr;
  return &api;
}
