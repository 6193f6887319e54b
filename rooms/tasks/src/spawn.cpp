#include "trimtab/tasks/core/spawn.hpp"

#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks::detail {

void record_made(task& item) noexcept {
  worker* const this_worker = worker::current();
  if (this_worker != nullptr) return this_worker->record_made(item);
  item.id = recording::record_created(item.subject, recording::tally_of_thread());
}

runtime* home_of_caller() {
  worker* const this_worker = worker::current();
  return this_worker != nullptr ? &this_worker->owner() : &runtime::standard();
}

void count_made() {
  if (worker* const this_worker = worker::current(); this_worker != nullptr)
    this_worker->counters().created.add();
  else
    runtime::standard().count_made_outside();
}

void make_ready(task& item, runtime& home, std::int32_t hint) noexcept {
  worker* const this_worker = worker::current();
  if (item.id != 0) [[unlikely]]
    recording::task_ready(item.subject, item.id, this_worker != nullptr ? this_worker->running().id : 0);
  if (this_worker != nullptr && &this_worker->owner() == &home && this_worker->suits(hint))
    this_worker->push(item);
  else
    home.place(item, hint);
}

void spawn(task& item, const task_options& options) {
  worker* const this_worker = worker::current();
  if (this_worker == nullptr) return runtime::standard().submit(item, options.worker);
  this_worker->counters().created.add();
  if (this_worker->suits(options.worker))
    this_worker->push(item);
  else
    this_worker->owner().place(item, options.worker);
}

}  // namespace trimtab::tasks::detail
