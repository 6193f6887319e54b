#include "trimtab/tasks/coroutines/resumer.hpp"

#include "trimtab/tasks/core/blocks.hpp"
#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/spawn.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks::detail {

namespace {

struct resumption final : task {
  explicit resumption(std::coroutine_handle<> handle) : coroutine(handle) {
    role = kind::fork;
    if (worker* const this_worker = worker::current(); this_worker != nullptr) number = this_worker->running().number;
    run = [](task& self, place) noexcept {
      auto& derived = static_cast<resumption&>(self);
      const std::coroutine_handle<> resumed = derived.coroutine;
      worker::current()->running().number = derived.number;
      drop_resumption(self);
      resumed.resume();
    };
  }
  std::coroutine_handle<> coroutine;
  std::uint32_t number = 0;  // of this_task::get_id
};

}  // namespace

task& make_resumption(std::coroutine_handle<> coroutine) {
  return *new (allocate_block(sizeof(resumption))) resumption(coroutine);
}

void drop_resumption(task& unused) noexcept { free_block(&static_cast<resumption&>(unused), sizeof(resumption)); }

runtime& begin_wait(task& resumption) {
  worker* const this_worker = worker::current();
  if (this_worker == nullptr) {
    // Not counted as a wait of a worker's task, and so not as its end either.
    resumption.role = task::kind::fork;
    return runtime::standard();
  }
  resumption.role = task::kind::resumption;
  this_worker->counters().suspended.add();
  return this_worker->owner();
}

void undo_wait(task& resumption) noexcept {
  if (resumption.role == task::kind::resumption) worker::current()->counters().resumed.add();
}

void end_wait(task& resumption, runtime& home) noexcept { make_ready(resumption, home); }

}  // namespace trimtab::tasks::detail
