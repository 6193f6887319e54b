#include "trimtab/parcels/calls/remote_call.hpp"

#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::parcels::detail {

void queue_received(tasks::task& item, tasks::runtime& home) {
  tasks::worker* const this_worker = tasks::worker::current();
  if (this_worker != nullptr && &this_worker->owner() == &home)
    this_worker->counters().created.add();
  else
    home.count_made_outside();
  tasks::detail::make_ready(item, home);
}

}  // namespace trimtab::parcels::detail
