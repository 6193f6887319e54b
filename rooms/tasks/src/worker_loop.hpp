// What workers do all day: run tasks, look for some, sleep. On each stack that is in use there is one such loop below the
// task that runs there.
#pragma once

#include "policies/contract.hpp"
#include "stack.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::tasks {

class worker_loop {
 public:
  // The first thing on every stack. Ends when the runtime does, by leaving for the thread's own stack for good.
  template <scheduling_policy policy>
  static void run(stack& self) noexcept;

  static void set_current(worker* this_worker) noexcept;
  static bool has_running(const worker& this_worker) noexcept { return this_worker.m_running != nullptr; }

 private:
  static void run_call(stack& self) noexcept;
  static void execute(worker& this_worker, task& item) noexcept;
  template <scheduling_policy policy>
  static task* look(worker& this_worker, policy& scheduler) noexcept;
  template <scheduling_policy policy>
  static void sleep(worker& this_worker, const policy& scheduler) noexcept;
  static bool may_work(const worker& this_worker) noexcept {
    // seq_cst: a worker counts itself as resting before it looks here (event_count).
    return this_worker.m_number < this_worker.m_owner->m_queues.active.load(std::memory_order_seq_cst);
  }
  static void rest(worker& this_worker) noexcept;
  static bool advance_background(runtime& owner) noexcept;
  static bool is_background_found(runtime& owner) noexcept;
  static void judge_steals(worker& this_worker, base::ticks busy) noexcept;
  static std::uint64_t run_by_others(const worker& this_worker) noexcept;
  static void leave_others_alone(worker& this_worker) noexcept;
};

// The functions that differ by policy.
struct runtime::table {
  bool keeps_own;
  bool names_taker;
  task_deque::offering offers;
  std::shared_ptr<void> (*create)(queues&);
  // These wake who may take it.
  void (*push)(runtime&, std::uint32_t worker, task&) noexcept;
  void (*place)(runtime&, task&, std::int32_t hint) noexcept;
  void (*loop)(stack&) noexcept;
};

}  // namespace trimtab::tasks
