// Hooks of the locks of every runtime.
#include "accounting/waits.hpp"
#include "hooks/hook.hpp"

using namespace trimtab::openmp;
using trimtab::observe::subject_kind;
using trimtab::observe::wait_kind;

// Locks may be left by another task than took them: only the wait is recorded.
TRIMTAB_HOOK void omp_set_lock(void* lock) {
  const caller from = caller_at(__builtin_return_address(0), entry::omp);
  auto* const forward = real<void(void*)>(from, symbol::omp_set_lock);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(lock);
  // Of one that is free nobody waits: it is only counted.
  auto* const test = real<int(void*)>(from, symbol::omp_test_lock);
  lane_context context;
  if (test != nullptr && lookup(context) && !trimtab::observe::the_recorder.traces() && test(lock) != 0) {
    count_wait(context, subject_kind::lock, wait_kind::lock, TRIMTAB_PLACE, nullptr);
    return;
  }
  const wait waited(subject_kind::lock, wait_kind::lock, TRIMTAB_PLACE);
  forward(lock);
}

TRIMTAB_HOOK void omp_set_nest_lock(void* lock) {
  const caller from = caller_at(__builtin_return_address(0), entry::omp);
  auto* const forward = real<void(void*)>(from, symbol::omp_set_nest_lock);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(lock);
  const wait waited(subject_kind::lock, wait_kind::lock, TRIMTAB_PLACE);
  forward(lock);
}
