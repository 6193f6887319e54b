#include "trimtab/tasks/core/spawn.hpp"

#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks::detail {

void record_made(task& what) noexcept {
  worker* const here = worker::current();
  if (here != nullptr) return here->record_made(what);
  what.id = recording::made(what.subject, recording::tally_of_thread());
}

runtime* home_of_caller() {
  worker* const here = worker::current();
  return here != nullptr ? &here->owner() : &runtime::standard();
}

void count_made() {
  if (worker* const here = worker::current(); here != nullptr)
    here->counters().made.add();
  else
    runtime::standard().count_made_outside();
}

void make_ready(task& what, runtime& home, std::int32_t hint) noexcept {
  worker* const here = worker::current();
  if (what.id != 0) [[unlikely]]
    recording::task_ready(what.subject, what.id, here != nullptr ? here->running().id : 0);
  if (here != nullptr && &here->owner() == &home && here->suits(hint))
    here->push(what);
  else
    home.put(what, hint);
}

void spawn(task& what, const task_options& options) {
  worker* const here = worker::current();
  if (here == nullptr) return runtime::standard().submit(what, options.worker);
  here->counters().made.add();
  if (here->suits(options.worker))
    here->push(what);
  else
    here->owner().put(what, options.worker);
}

}  // namespace trimtab::tasks::detail
