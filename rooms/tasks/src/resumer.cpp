#include "trimtab/tasks/coroutines/resumer.hpp"

#include "trimtab/tasks/core/blocks.hpp"
#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/spawn.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks::detail {

namespace {

struct resumption final : task {
  explicit resumption(std::coroutine_handle<> of) : coroutine(of) {
    what = kind::fork;
    if (worker* const here = worker::current(); here != nullptr) number = here->running().number;
    run = [](task& self, place) noexcept {
      auto& own = static_cast<resumption&>(self);
      const std::coroutine_handle<> resumed = own.coroutine;
      worker::current()->running().number = own.number;
      drop_resumption(self);
      resumed.resume();
    };
  }
  std::coroutine_handle<> coroutine;
  std::uint32_t number = 0;  // of this_task::get_id
};

}  // namespace

task& make_resumption(std::coroutine_handle<> who) { return *new (allocate_block(sizeof(resumption))) resumption(who); }

void drop_resumption(task& made) noexcept { free_block(&static_cast<resumption&>(made), sizeof(resumption)); }

runtime& begin_wait(task& by) {
  worker* const here = worker::current();
  if (here == nullptr) {
    // Not counted as a wait of a worker's task, and so not as its end either.
    by.what = task::kind::fork;
    return runtime::standard();
  }
  by.what = task::kind::resumption;
  here->counters().suspended.add();
  return here->owner();
}

void undo_wait(task& by) noexcept {
  if (by.what == task::kind::resumption) worker::current()->counters().resumed.add();
}

void end_wait(task& by, runtime& home) noexcept { make_ready(by, home); }

}  // namespace trimtab::tasks::detail
