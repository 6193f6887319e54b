#include "accounting/task_dependences.hpp"

#include <utility>

#include "trimtab/base/hash.hpp"

namespace trimtab::openmp {

task_dependences::entry* task_dependences::find(task_scope& scope, std::uintptr_t address) noexcept {
  const std::uint64_t hash = base::mix_fast(address ^ (scope.number << 48 | scope.number >> 16));
  entry* free = nullptr;
  for (std::uint32_t i = 0; i < longest_probe; ++i) {
    entry& candidate = m_entries[(hash + i) % max_entries];
    if (candidate.scope == scope.number && candidate.address == address) return &candidate;
    if (candidate.scope == 0 && free == nullptr) free = &candidate;
  }
  if (free == nullptr) return nullptr;
  *free = {scope.number, address, {}, {}, dependence_kind::none, scope.entries};
  scope.entries = static_cast<std::uint32_t>(free - m_entries) + 1;
  if (scope.all_memory_task != 0) append(free->current, scope.all_memory_task);
  return free;
}

void task_dependences::begin_set(entry& target, dependence_kind kind) noexcept {
  give_back(target.before);
  target.before = std::exchange(target.current, {});
  target.kind = kind;
}

void task_dependences::append(task_set& target, std::uint64_t task) noexcept {
  std::uint32_t place = m_free_tasks;
  if (place != 0) {
    m_free_tasks = m_tasks[place].next;
  } else if (m_used_tasks + 1 < max_tasks) {
    place = ++m_used_tasks;
  } else {
    m_lost += 1;
    return;
  }
  m_tasks[place] = {task, 0};
  (target.first == 0 ? target.first : m_tasks[target.last].next) = place;
  target.last = place;
}

void task_dependences::give_back(task_set& target) noexcept {
  if (target.first == 0) return;
  m_tasks[target.last].next = std::exchange(m_free_tasks, target.first);
  target = {};
}

void task_dependences::end(task_scope& scope) noexcept {
  for (std::uint32_t at = scope.entries; at != 0;) {
    entry& ended = m_entries[at - 1];
    at = ended.next;
    give_back(ended.current);
    give_back(ended.before);
    ended.scope = 0;
  }
  scope.number = 0;
  scope.entries = 0;
}

}  // namespace trimtab::openmp
