#include "accounting/identified_tasks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "accounting/task_identities.hpp"
#include "trimtab/base/system_calls.hpp"

namespace trimtab::openmp {

using observe::event_kind;

namespace {

std::atomic<std::uint64_t> lost{0};

// Not noexcept: pthread_exit and cancellation unwind through a task.
class execution {
 public:
  explicit execution(const task_identity& task) noexcept {
    begin_identified_task(m_task, start_task(task.slot, false), task.identity);
  }
  ~execution() { end_task(m_task); }
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;

 private:
  running_task m_task;
};

void run(const task_identity& task, void* own_data) {
  const execution recorded(task);
  task.function(own_data);
}

void created(const task_pattern& pattern, std::uint64_t identity) noexcept {
  const lane_context& context = pattern.context;
  context.on->record(event_kind::task_created, subject_of_identity(identity), 0, identity, context.state->scope.creator,
                     base::now());
  context.on->count_hook(1);
}

void copy_own_data(void* target, const task_pattern& pattern) {
  if (pattern.copy != nullptr)
    pattern.copy(target, pattern.data);
  else if (pattern.bytes != 0)
    std::memcpy(target, pattern.data, pattern.bytes);
}

char* at(void* data, std::size_t bytes) noexcept { return static_cast<char*>(data) + bytes; }

task_dependences* dependences_of(lane_state& state) noexcept {
  if (state.dependences != nullptr || state.has_no_dependences) return state.dependences;
  state.has_no_dependences = true;  // if it fails, it is not tried again
  const base::system_call_section section;
  if (!section.is_permitted()) return nullptr;
  void* const memory =
      mmap(nullptr, sizeof(task_dependences), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) state.dependences = static_cast<task_dependences*>(memory);
  return state.dependences;
}

}  // namespace

data_layout layout_with(std::size_t identity_bytes, long bytes, long alignment) noexcept {
  const std::size_t own_alignment = std::max<std::size_t>(alignment > 0 ? static_cast<std::size_t>(alignment) : 1, 16);
  const auto aligned = [own_alignment](std::size_t size) {
    return (size + own_alignment - 1) / own_alignment * own_alignment;
  };
  const std::size_t own_data = aligned(identity_bytes);
  const std::size_t all = aligned(own_data + static_cast<std::size_t>(bytes));
  return {static_cast<std::uint32_t>(own_data), static_cast<long>(all), static_cast<long>(own_alignment)};
}

void copy_identified_task(void* target, void* source) {
  const auto& pattern = *static_cast<const task_pattern*>(source);
  if (pattern.is_detached && pattern.data != nullptr) *static_cast<std::uintptr_t*>(pattern.data) = pattern.words.bounds[0];
  created(pattern, pattern.identity);
  *static_cast<task_identity*>(target) = {pattern.identity, pattern.function, pattern.slot, pattern.own_data};
  copy_own_data(at(target, pattern.own_data), pattern);
}

void run_identified_task(void* data) {
  const auto& task = *static_cast<const task_identity*>(data);
  run(task, at(data, task.own_data));
}

void copy_identified_piece(void* target, void* source) {
  const auto& pattern = *static_cast<const task_pattern*>(source);
  const std::uint64_t identity = new_identity(pattern.context, subject_of_identity(pattern.identity));
  created(pattern, identity);
  *static_cast<piece_identity*>(target) = {pattern.words, {identity, pattern.function, pattern.slot, pattern.own_data}};
  copy_own_data(at(target, pattern.own_data), pattern);
}

void run_identified_piece(void* data) {
  const auto& piece = *static_cast<const piece_identity*>(data);
  void* const own_data = at(data, piece.task.own_data);
  std::memcpy(own_data, piece.words.bounds, sizeof piece.words.bounds);
  run(piece.task, own_data);
}

void task_depends(const lane_context& context, std::uint64_t task, const dependence* list, std::size_t count) noexcept {
  lane_state& state = *context.state;
  task_dependences* const known = dependences_of(state);
  if (known == nullptr) {
    lost.fetch_add(count, std::memory_order_relaxed);
    return;
  }
  const std::uint64_t lost_before = known->lost();
  const ticks now = base::now();
  std::uint64_t last_giver = 0;
  for (std::size_t i = 0; i < count; ++i)
    known->add(state.scope, list[i], task, [&](std::uint64_t giver) {
      if (giver == last_giver) return;
      last_giver = giver;
      context.on->record(event_kind::edge, state.region, 0, giver, task, now);
    });
  context.on->count_hook(1);
  if (known->lost() != lost_before) [[unlikely]]
    lost.fetch_add(known->lost() - lost_before, std::memory_order_relaxed);
}

std::uint64_t lost_dependences() noexcept { return lost.load(std::memory_order_relaxed); }

void end_scope(lane_state& state, const task_scope& outer) noexcept {
  if (state.scope.number != 0 && state.dependences != nullptr) state.dependences->end(state.scope);
  state.scope = outer;
}

}  // namespace trimtab::openmp
