// The one file of this room that knows trimtab.h. What it calls is there for as long as the process lives.
#include "trimtab/tasks/core/recording.hpp"

#include <pthread.h>
#include <trimtab.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <utility>

#include "known_subjects.hpp"
#include "process_locks.hpp"
#include "trimtab/base/hash.hpp"

namespace trimtab::tasks::recording {

namespace {

// Set once, before `current` says that anything is recorded.
constinit const trimtab_api* api = nullptr;
constinit bool knows_parcels = false;
constinit bool knows_answers = false;
constinit bool knows_leaving = false;
constinit std::atomic<std::uint32_t> runtimes{0};

// What the runtimes are called, for their workers' names. Those beyond have workers without.
struct runtime_name {
  std::atomic<std::uint32_t> id{0};
  char text[24];
};
constexpr std::uint32_t most_named = 64;
runtime_name names[most_named];

constexpr std::uint16_t always_timed = 8;  // looks at the distance
// From these lengths on every task is timed, or every fourth: the two clock reads are then under 1 % of it.
constexpr base::ticks long_task = 15'000;
constexpr base::ticks medium_task = 3'000;
constexpr std::uint32_t one_in_short = 64;

[[maybe_unused]] const int is_recording_renewed = pthread_atfork(nullptr, nullptr, [] {
  detail::generation.fetch_add(1, std::memory_order_relaxed);
  runtimes.store(0, std::memory_order_relaxed);
});

void turn_on() noexcept {
  static constinit bool is_initialized = false;
  const std::lock_guard guard(lock_of(of_process::recording));
  if (std::exchange(is_initialized, true)) return;
  api = trimtab_tasks_api();
  if (api == nullptr) return;
  knows_parcels = api->bytes >= offsetof(trimtab_api, parcel_received) + sizeof(api->parcel_received);
  knows_answers = api->bytes >= offsetof(trimtab_api, answer_received) + sizeof(api->answer_received);
  knows_leaving = api->bytes >= offsetof(trimtab_api, parcels_left) + sizeof(api->parcels_left);
  // The recorder has measured the clock that all stamps are of.
  base::clock_is_tsc = api->clock() == TRIMTAB_CLOCK_TSC;
  detail::current.store(api->level() == TRIMTAB_TRACE ? level::trace : level::profile, std::memory_order_release);
}

struct arrived_parcel {
  std::uint64_t number = 0;  // 0: none
  std::uint32_t from = 0;
};
constinit thread_local arrived_parcel parcel_of_thread;
constinit thread_local bool is_timer_thread = false;

// True: the task goes on because of the parcel that this thread handles.
bool is_answered(std::uint64_t task) noexcept {
  const arrived_parcel parcel = parcel_of_thread;
  if (task == 0 || parcel.number == 0) return false;
  api->answer_received(task, parcel.from, parcel.number);
  return true;
}

constexpr std::uint32_t number_of(cause reason) noexcept { return static_cast<std::uint32_t>(reason); }

}  // namespace

std::uint32_t attach(const char* name) noexcept {
  turn_on();
  if (!is_enabled()) return 0;
  const std::uint32_t number = runtimes.fetch_add(1, std::memory_order_relaxed);
  char numbered[sizeof runtime_name::text];
  std::snprintf(numbered, sizeof numbered, "%.12s %u", name, number + 1);
  const std::uint32_t id = api->runtime(numbered);
  if (number < most_named) {
    std::memcpy(names[number].text, numbered, sizeof numbered);
    names[number].id.store(id, std::memory_order_release);
  }
  return id;
}

void worker_begins(std::uint32_t runtime, std::uint32_t number) noexcept {
  if (runtime == 0) return;
  for (const runtime_name& entry : names) {
    if (entry.id.load(std::memory_order_acquire) != runtime) continue;
    char title[40];
    std::snprintf(title, sizeof title, "%s, worker %u", entry.text, number);
    api->name_lane(title);
    break;
  }
  api->worker_begins(runtime, number);
}

void worker_state(state next) noexcept {
  if (is_enabled()) api->worker_state(static_cast<std::uint32_t>(next));
}

void worker_ends() noexcept { worker_state(state::absent); }

std::uint32_t subject_of(const char* name, const char* file, std::uint32_t line) noexcept {
  return is_enabled() ? api->task_subject(name, file, line) : 0;
}

std::uint32_t subject_of_code(const void* code) noexcept {
  return is_enabled() && code != nullptr ? api->code_subject(code) : 0;
}

std::uint32_t subject_of_name(std::string_view name) noexcept {
  static constinit known_subjects<1024> table;
  constexpr std::size_t longest = 200;
  if (name.empty() || !is_enabled()) return 0;
  return table.find(
      base::mix(std::hash<std::string_view>()(name)) | 1,
      [name] {
        char text[longest + 1] = {};
        name.copy(text, longest);
        return subject_of(text, "", 0);
      },
      [] { return 0u; });
}

namespace {

template <class function>
std::uint32_t find(std::atomic<std::uint64_t>& cache, function&& query) noexcept {
  if (!is_enabled()) return 0;
  const std::uint64_t generation = detail::generation.load(std::memory_order_relaxed);
  const std::uint32_t subject = query();
  cache.store(generation << 32 | subject, std::memory_order_relaxed);
  return subject;
}

}  // namespace

std::uint32_t detail::find_subject(std::atomic<std::uint64_t>& cache, const void* code) noexcept {
  return recording::find(cache, [&] { return subject_of_code(code); });
}

std::uint32_t kind::find() noexcept {
  return recording::find(m_cached,
                         [&] { return m_name != nullptr ? subject_of(m_name, m_file, m_line) : subject_of_code(m_code); });
}

void tally::took(std::uint32_t subject, base::ticks ticks, bool is_inclusive) noexcept {
  if (subject == 0) return;
  entry& counted = entry_of(subject);
  if (counted.timed > 0 && counted.is_inclusive != is_inclusive) report(counted);
  counted.is_inclusive = is_inclusive;
  counted.ticks[counted.timed++] = ticks;
  counted.shortest = std::min(counted.shortest, ticks);
  const bool is_look = ++counted.since_look == most_timed;
  if (counted.timed == most_timed || is_look) report(counted);
  if (is_look) adapt(counted);
  // Not in step with what the program does: between half and one and a half of the distance.
  const std::uint64_t jitter = counted.distance < 2 ? 0 : base::mix_fast(m_ran) % counted.distance;
  counted.next_timed = counted.ran + counted.distance - counted.distance / 2 + jitter;
}

// The shortest decides: timing the long ones among many short ones would cost the short ones.
void tally::adapt(entry& batch) noexcept {
  if (batch.looks < always_timed) batch.looks += 1;
  if (batch.looks == always_timed)
    batch.distance = batch.shortest >= long_task ? 1 : batch.shortest >= medium_task ? 4 : one_in_short;
  batch.since_look = 0;
  batch.shortest = ~base::ticks{0};
}

void tally::flush() noexcept {
  for (entry& each : m_entries)
    if (each.created + each.ran + each.suspended != 0) report(each);
}

void tally::replace(entry& old, std::uint32_t subject) noexcept {
  if (old.created + old.ran + old.suspended != 0) report(old);
  old = {};
  old.subject = subject;
}

void tally::report(entry& counted) noexcept {
  const trimtab_batch batch{sizeof(trimtab_batch), counted.subject, counted.created, counted.ran,
                            counted.suspended,     counted.ticks,   counted.timed,   counted.is_inclusive ? 1u : 0u};
  api->tasks_ran(&batch);
  counted.next_timed = counted.next_timed > counted.ran ? counted.next_timed - counted.ran : 1;
  counted.created = counted.ran = counted.suspended = 0;
  counted.timed = 0;
}

tally& tally_of_thread() noexcept {
  struct flushed : tally {
    ~flushed() { flush(); }
  };
  thread_local flushed thread_counts;
  return thread_counts;
}

std::uint64_t task_created(std::uint32_t subject, std::uint64_t cause_task) noexcept {
  return subject != 0 ? api->task_made(subject, cause_task) : 0;
}

void task_ready(std::uint32_t subject, std::uint64_t task, std::uint64_t cause_task) noexcept {
  if (task == 0) return;
  // A task that receives while it sends is not the cause.
  api->task_ready(subject, task, parcel_of_thread.number != 0 ? 0 : cause_task);
  is_answered(task);
}

void task_begin(std::uint32_t subject, std::uint64_t task) noexcept {
  if (task != 0) api->task_begin(subject, task);
}

void task_end(std::uint32_t subject, std::uint64_t task) noexcept {
  if (task != 0) api->task_end(subject, task);
}

void task_suspended(std::uint32_t subject, std::uint64_t task, cause reason, std::uint64_t awaited) noexcept {
  if (task != 0) api->task_suspended(subject, task, number_of(reason), awaited);
}

void task_resumed(std::uint32_t subject, std::uint64_t task, cause reason, base::ticks ticks) noexcept {
  if (subject != 0) api->task_resumed(subject, task, number_of(reason), ticks);
}

void edge(std::uint64_t predecessor, std::uint64_t successor, cause reason) noexcept {
  // An input of a task of a graph may have come long before the parcel.
  if (reason != cause::slot && is_answered(successor)) return;
  // An input that code outside of all tasks gave is not given at this moment.
  const bool is_given_now = predecessor != 0 || (reason != cause::slot && !is_timer_thread);
  if (!is_given_now || successor == 0) return;
  // In run directories an edge without a cause is a dependence of whole tasks, not of this moment.
  api->task_edge(predecessor, successor, number_of(reason == cause::unknown ? cause::future : reason));
}

void this_thread_is_timer() noexcept { is_timer_thread = true; }

// Of a library that is older than this, api ends before these functions.
std::uint64_t parcel_sent(std::uint32_t subject, std::uint32_t to) noexcept {
  if (subject == 0 || !knows_parcels) return 0;
  return api->parcel_sent(subject, to);
}

void parcel_received(std::uint32_t subject, std::uint64_t task, std::uint32_t from, std::uint64_t parcel) noexcept {
  if (task != 0 && parcel != 0 && knows_parcels) api->parcel_received(subject, task, from, parcel);
  parcel_of_thread = {};
}

void parcels_left(std::span<const std::uint64_t> parcels, std::uint32_t why, std::uint64_t message,
                  base::ticks ticks) noexcept {
  if (!parcels.empty() && knows_leaving)
    api->parcels_left(parcels.data(), static_cast<std::uint32_t>(parcels.size()), why, message, ticks);
}

void handled_parcel::begin(std::uint32_t from, std::uint64_t parcel) noexcept {
  if (knows_answers) parcel_of_thread = {parcel, from};
}

void handled_parcel::end() noexcept { parcel_of_thread = {}; }

std::uint32_t counter(const char* path, const char* unit, bool is_cumulative) noexcept {
  return is_enabled() ? api->path_counter(path, unit, is_cumulative ? 1 : 0) : 0;
}

void set(std::uint32_t counter, double value) noexcept {
  if (counter != 0) api->set(counter, value);
}

}  // namespace trimtab::tasks::recording
