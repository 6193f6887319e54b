// The functions behind trimtab.h. Subject numbers there are ours plus one, so that 0 can mean "none".
#include <cstring>

#include "trimtab.h"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

namespace {

std::atomic<std::uint64_t> next_task{0};

std::uint32_t api_subject(const char* name, const char* file, std::uint32_t line) {
  if (this_lane() == nullptr) return 0;
  const std::uint32_t id = the_recorder.named_subject(subject_kind::scope, name, file, line);
  return id == no_subject ? 0 : id + 1;
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

std::uint64_t api_task_created(std::uint32_t subject) {
  lane* const here = this_lane();
  if (here == nullptr) return 0;
  const std::uint64_t task = next_task.fetch_add(1, std::memory_order_relaxed) + 1;
  here->count_hook(1);
  here->record(event_kind::task_created, subject - 1, 0, task, 0, base::now());
  if (profile_row* const row = here->own_row(subject - 1, metric::task); row != nullptr) row->x[0] += 1;
  return task;
}

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
  here->task_end(subject - 1, task, base::now());
}

void api_edge(std::uint64_t before, std::uint64_t after) {
  if (lane* const here = this_lane(); here != nullptr)
    here->record(event_kind::edge, no_subject, 0, before, after, base::now());
}

constexpr trimtab_api api = {sizeof(trimtab_api), api_subject,    api_begin,    api_end, api_mark, api_counter, api_set,
                             api_task_created,    api_task_begin, api_task_end, api_edge};

}  // namespace

}  // namespace trimtab::observe

// nullptr: this version is not offered, or nothing is recorded.
extern "C" __attribute__((visibility("default"))) const trimtab_api* trimtab_get_api(std::uint32_t version) {
  using namespace trimtab::observe;
  if (version != 1 || the_recorder.is_off() || the_recorder.level() < record_level::profile) return nullptr;
  return &api;
}
