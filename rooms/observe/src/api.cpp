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

// Without a lane for the calling thread, where it does not need one: a runtime's own thread is not part of the program.
bool is_recorded() noexcept { return the_recorder.is_on() || this_lane() != nullptr; }

std::uint32_t api_named(subject_kind kind, const char* name, const char* file, std::uint32_t line) {
  if (this_lane() == nullptr) return 0;
  const std::uint32_t id = the_recorder.named_subject(kind, name, file, line);
  return id == no_subject ? 0 : id + 1;
}

std::uint32_t api_subject(const char* name, const char* file, std::uint32_t line) {
  return api_named(subject_kind::scope, name, file, line);
}

void api_begin(std::uint32_t subject) {
  if (lane* const own_lane = this_lane(); own_lane != nullptr) own_lane->scope_begin(subject - 1);
}

void api_end(std::uint32_t subject) {
  if (lane* const own_lane = this_lane(); own_lane != nullptr) own_lane->scope_end(subject - 1);
}

void api_mark(std::uint32_t subject) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr) return;
  own_lane->count_hook(1);
  own_lane->record(event_kind::mark, subject - 1, 0, 0, 0, base::now());
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

std::uint64_t api_task_made(std::uint32_t subject, std::uint64_t creator) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr) return 0;
  const std::uint64_t task = new_task();
  own_lane->count_hook(1);
  own_lane->record(event_kind::task_created, subject - 1, 0, task, creator != 0 ? creator : own_lane->task_here(),
                   base::now());
  if (profile_row* const row = own_lane->own_row(subject - 1, metric::task); row != nullptr)
    row->x[task_fields::created] += 1;
  return task;
}

std::uint64_t api_task_created(std::uint32_t subject) { return api_task_made(subject, 0); }

void api_task_begin(std::uint32_t subject, std::uint64_t task) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr) return;
  own_lane->count_hook(1);
  own_lane->task_begin(subject - 1, task, base::now());
}

void api_task_end(std::uint32_t subject, std::uint64_t task) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr) return;
  own_lane->count_hook(1);
  own_lane->task_ends(subject - 1, task, base::now());
}

void api_task_edge(std::uint64_t before, std::uint64_t after, std::uint32_t cause) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr) return;
  own_lane->count_hook(1);
  own_lane->record(event_kind::edge, no_subject, static_cast<std::uint16_t>(cause), before, after, base::now());
}

std::uint64_t api_parcel_sent(std::uint32_t subject, std::uint32_t to) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr || subject == 0) return 0;
  const std::uint64_t parcel = new_task();
  own_lane->count_hook(1);
  own_lane->record(event_kind::parcel_sent, subject - 1, static_cast<std::uint16_t>(to), parcel, own_lane->task_here(),
                   base::now());
  return parcel;
}

void api_parcel_received(std::uint32_t subject, std::uint64_t task, std::uint32_t from, std::uint64_t parcel) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr || subject == 0) return;
  own_lane->count_hook(1);
  own_lane->record(event_kind::parcel_received, subject - 1, static_cast<std::uint16_t>(from), task, parcel, base::now());
}

void api_answer_received(std::uint64_t task, std::uint32_t from, std::uint64_t parcel) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr) return;
  own_lane->count_hook(1);
  own_lane->record(event_kind::answer_received, no_subject, static_cast<std::uint16_t>(from), task, parcel, base::now());
}

void api_parcels_left(const std::uint64_t* parcels, std::uint32_t count, std::uint32_t why, std::uint64_t message,
                      std::uint64_t ticks) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr) return;
  own_lane->count_hook(1);
  for (std::uint32_t i = 0; i < count; ++i)
    own_lane->record(event_kind::parcel_left, no_subject, static_cast<std::uint16_t>(why), parcels[i], message, ticks);
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
  if (!is_recorded()) return 0;
  const std::uint32_t id = the_recorder.subject(subject_kind::task, code, false);
  return id == no_subject ? 0 : id + 1;
}

void api_task_ready(std::uint32_t subject, std::uint64_t task, std::uint64_t creator) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr) return;
  own_lane->count_hook(1);
  own_lane->record(event_kind::task_ready, subject - 1, 0, task, creator, base::now());
}

void api_task_suspended(std::uint32_t subject, std::uint64_t task, std::uint32_t cause, std::uint64_t awaited) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr) return;
  own_lane->count_hook(1);
  own_lane->task_suspended(subject - 1, task, static_cast<wait_cause>(cause & 0xff), awaited, base::now());
}

void api_task_resumed(std::uint32_t subject, std::uint64_t task, std::uint32_t cause, std::uint64_t ticks) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr) return;
  own_lane->count_hook(1);
  own_lane->task_resumed(subject - 1, task, static_cast<wait_cause>(cause & 0xff), ticks, base::now());
}

void api_tasks_ran(const trimtab_batch* batch) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr || the_recorder.traces() || batch->subject == 0 || batch->bytes < sizeof(trimtab_batch)) return;
  lane::batch tasks_done;
  tasks_done.made = batch->made;
  tasks_done.ran = batch->ran;
  tasks_done.suspended = batch->suspended;
  tasks_done.ticks = batch->ticks;
  tasks_done.timed = batch->timed;
  tasks_done.is_inclusive = batch->is_inclusive != 0;
  own_lane->tasks_ran(batch->subject - 1, tasks_done);
}

std::uint32_t api_runtime(const char* name) { return api_named(subject_kind::workers, name, "", 0); }

void api_worker_begins(std::uint32_t runtime, std::uint32_t worker) {
  lane* const own_lane = this_lane();
  if (own_lane == nullptr || runtime == 0) return;
  own_lane->worker_begins(runtime - 1, worker, base::now());
}

void api_worker_state(std::uint32_t state) {
  if (lane* const own_lane = this_lane(); own_lane != nullptr && state <= TRIMTAB_WORKER_CAPPED)
    own_lane->worker_enters(static_cast<worker_state>(state), base::now());
}

void api_name_lane(const char* name) {
  if (lane* const own_lane = this_lane(); own_lane != nullptr) own_lane->name(name);
}

std::uint32_t api_path_counter(const char* path, const char* unit, std::uint32_t is_cumulative) {
  return is_recorded() ? the_recorder.add_counter(path, unit, "runtime", is_cumulative != 0) : 0;
}

std::uint32_t api_knob(std::uint32_t subject, const char* name, const char* key, const char* value_names) {
  return subject == 0 ? 0 : the_recorder.add_knob(subject - 1, name, key, value_names);
}

std::uint32_t api_policy(const char* name) { return the_recorder.add_policy(name); }

void api_decide(const trimtab_decision* decision_made) {
  if (decision_made->bytes < sizeof(trimtab_decision) || decision_made->subject == 0) return;
  decision record{};
  record.ticks = base::now();
  record.number = decision_made->number;
  record.subject = decision_made->subject - 1;
  record.knob = decision_made->knob;
  record.from = decision_made->from;
  record.to = decision_made->to;
  record.gain = decision_made->gain;
  record.uncertainty = decision_made->uncertainty;
  record.pairs = decision_made->pairs;
  record.outcome = static_cast<decision_outcome>(decision_made->outcome);
  record.policy = static_cast<std::uint16_t>(decision_made->policy);
  write_text(record, decision_made->reason, decision_made->evidence);
  the_recorder.decide(record);
}

void api_fact(const char* key, const char* value) { the_recorder.fact(key, value); }

const char* api_snapshots_folder() { return the_recorder.options().has_snapshots ? the_recorder.directory() : nullptr; }

void api_unavailable(const char* feature, const char* reason, const char* remedy) {
  the_recorder.unavailable(feature, reason, remedy);
}

void api_fit_threads(std::uint32_t is_enabled) {
  requested_thread_fitting.store(is_enabled != 0 ? thread_fitting_request::on : thread_fitting_request::off,
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
  trimtab_api table{};
  table.bytes = sizeof(trimtab_api);
  table.subject = api_subject;
  table.begin = api_begin;
  table.end = api_end;
  table.mark = api_mark;
  table.counter = api_counter;
  table.set = api_set;
  table.task_created = api_task_created;
  table.task_begin = api_task_begin;
  table.task_end = api_task_end;
  table.edge = api_edge;
  table.level = api_level;
  table.clock = api_clock;
  table.now = api_now;
  table.task_subject = api_task_subject;
  table.code_subject = api_code_subject;
  table.task_made = api_task_made;
  table.task_ready = api_task_ready;
  table.task_suspended = api_task_suspended;
  table.task_resumed = api_task_resumed;
  table.task_edge = api_task_edge;
  table.tasks_ran = api_tasks_ran;
  table.runtime = api_runtime;
  table.worker_begins = api_worker_begins;
  table.worker_state = api_worker_state;
  table.name_lane = api_name_lane;
  table.path_counter = api_path_counter;
  table.knob = api_knob;
  table.policy = api_policy;
  table.decide = api_decide;
  table.fact = api_fact;
  table.unavailable = api_unavailable;
  table.fit_threads = api_fit_threads;
  table.snapshots_folder = api_snapshots_folder;
  table.work = api_work;
  table.declare_knob = api_declare_knob;
  table.event_ended = api_event_ended;
  table.process_folder = api_process_folder;
  table.parcel_sent = api_parcel_sent;
  table.parcel_received = api_parcel_received;
  table.answer_received = api_answer_received;
  table.parcels_left = api_parcels_left;
  return table;
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
