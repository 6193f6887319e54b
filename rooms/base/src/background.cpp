#include "trimtab/base/background.hpp"

#include <pthread.h>
#include <sched.h>

#include <cerrno>

namespace trimtab::base {

void stay_in_background() noexcept {
  const int before = errno;
  const sched_param none{};
  if (sched_getscheduler(0) == SCHED_OTHER) pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
  errno = before;
}

}  // namespace trimtab::base
