// What workers do all day: run tasks, look for some, sleep. On each stack that is in use there is one such loop below the
// task that runs there.
#pragma once

#include "stack.hpp"
#include "policies/contract.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::tasks {

class worker_loop {
 public:
  // The first thing on every stack. Ends when the runtime does, by leaving for the thread's own stack for good.
  template <scheduling_policy policy>
  static void run(stack& self) noexcept;

  static void set_current(worker* here) noexcept;
  static bool has_running(const worker& here) noexcept { return here.m_running != nullptr; }

 private:
  static void run_call(stack& self) noexcept;
  static void execute(worker& here, task& what) noexcept;
  template <scheduling_policy policy>
  static task* look(worker& here, policy& how_to) noexcept;
  template <scheduling_policy policy>
  static void sleep(worker& here, const policy& how_to) noexcept;
  static bool may_work(const worker& here) noexcept {
    // seq_cst: who goes to rest has told so before it looks here (event_count).
    return here.m_number < here.m_owner->m_queues.active.load(std::memory_order_seq_cst);
  }
  static void rest(worker& here) noexcept;
  static void judge_steals(worker& here, base::ticks busy) noexcept;
  static std::uint64_t run_by_others(const worker& here) noexcept;
  static void leave_others_alone(worker& here) noexcept;
};

// The functions that differ by policy.
struct runtime::table {
  bool keeps_own;
  bool names_taker;
  task_deque::offering offers;
  std::shared_ptr<void> (*make)(queues&);
  // These wake who may take it.
  void (*push)(runtime&, std::uint32_t worker, task&) noexcept;
  void (*put)(runtime&, task&, std::int32_t hint) noexcept;
  void (*loop)(stack&) noexcept;
};

}  // namespace trimtab::tasks
