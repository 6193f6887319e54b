// On which earlier siblings a task depends, from its depend list: for runtimes that do not tell. Siblings are created by the
// same task, which no other thread runs meanwhile; so each lane has a table of its own.
//
// Of each address there are two sets of tasks. Those of the current set may run at the same time; each depends on all of the
// set before:
//
//   in after in, inoutset after inoutset    joins the current set
//   anything else                           begins a set of its own; mutexinoutset is an out, as in libgomp
//
// (OpenMP 5.2, 15.9.5.) Fixed in size and never locked: what has no room is counted as lost.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trimtab::openmp {

enum class dependence_kind : std::uint32_t { none, in, out, inoutset };

// One item of a depend list. Address 0 stands for all memory (omp_all_memory).
struct dependence {
  std::uintptr_t address;
  dependence_kind kind;
  bool operator==(const dependence&) const = default;
};

// The task that creates others now: siblings have the same one.
struct task_scope {
  std::uint64_t creator = 0;          // its identity; 0: an implicit task, or not known
  std::uint64_t number = 0;           // among those of the lane that had dependences; 0: none yet
  std::uint64_t all_memory_task = 0;  // the latest one that depends on all memory
  std::uint32_t entries = 0;          // the first one of its list, + 1
};

// In zeroed memory. Used by its lane's thread only.
class task_dependences {
 public:
  static constexpr std::uint32_t max_entries = 1u << 15;  // addresses of all scopes that are open
  static constexpr std::uint32_t max_tasks = 1u << 17;    // in all sets

  // `task`, which `scope` creates, has this item in its list. Calls report(identity) for each task that it depends on, once
  // for each item that says so.
  template <class function>
  void add(task_scope& scope, const dependence& item, std::uint64_t task, function report) noexcept {
    if (scope.number == 0) scope.number = ++m_scopes;
    if (item.address == 0) return add_all_memory(scope, task, report);
    entry* const found = find(scope, item.address);
    if (found == nullptr) {
      m_lost += 1;
      return;
    }
    const bool joins = item.kind != dependence_kind::out && item.kind == found->kind;
    if (!joins) begin_set(*found, item.kind);
    for (std::uint32_t at = found->before.first; at != 0; at = m_tasks[at].next)
      if (m_tasks[at].task != task) report(m_tasks[at].task);
    append(found->current, task);
  }

  // Its task has ended, or creates no more siblings of those before.
  void end(task_scope& scope) noexcept;

  std::uint64_t lost() const noexcept { return m_lost; }

 private:
  static constexpr std::uint32_t longest_probe = 64;
  struct listed_task {
    std::uint64_t task;
    std::uint32_t next;  // 0: none
  };
  struct task_set {
    std::uint32_t first, last;  // 0: none
  };
  struct entry {
    std::uint64_t scope;  // 0: free
    std::uintptr_t address;
    task_set current, before;
    dependence_kind kind;  // of the current set
    std::uint32_t next;    // of the scope's entries, + 1
  };

  template <class function>
  void add_all_memory(task_scope& scope, std::uint64_t task, function report) noexcept {
    for (std::uint32_t at = scope.entries; at != 0; at = m_entries[at - 1].next)
      for (std::uint32_t other = m_entries[at - 1].current.first; other != 0; other = m_tasks[other].next)
        if (m_tasks[other].task != task) report(m_tasks[other].task);
    if (scope.all_memory_task != 0 && scope.entries == 0) report(scope.all_memory_task);
    const std::uint64_t number = scope.number;
    end(scope);
    scope.number = number;
    scope.all_memory_task = task;
  }

  entry* find(task_scope& scope, std::uintptr_t address) noexcept;
  void begin_set(entry& target, dependence_kind kind) noexcept;
  void append(task_set& target, std::uint64_t task) noexcept;
  void give_back(task_set& target) noexcept;

  std::uint64_t m_scopes;
  std::uint64_t m_lost;
  std::uint32_t m_free_tasks;  // a list
  std::uint32_t m_used_tasks;  // of which never one was used
  entry m_entries[max_entries];
  listed_task m_tasks[max_tasks];  // the first one stands for none
};

}  // namespace trimtab::openmp
