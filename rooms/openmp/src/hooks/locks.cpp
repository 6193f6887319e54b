// Hooks of the locks of every runtime.
#include "accounting/waits.hpp"
#include "hooks/hook.hpp"

using namespace trimtab::openmp;
using trimtab::observe::subject_kind;
using trimtab::observe::the_recorder;
using trimtab::observe::wait_kind;

namespace {

void taken(const void* place, const void* lock) noexcept {
  lane_context context;
  if (the_recorder.traces() && lookup(context)) omp_lock_taken(context, place, lock);
}

void left(const void* lock) noexcept {
  lane_context context;
  if (the_recorder.traces() && lookup(context)) omp_lock_left(context, lock);
}

}  // namespace

// A lock may be left by another task than took it: the wait is recorded by itself, and who held the lock where that is the
// same lane.
TRIMTAB_HOOK void omp_set_lock(void* lock) {
  const caller from = caller_at(__builtin_return_address(0), entry::omp);
  auto* const forward = real<void(void*)>(from, symbol::omp_set_lock);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(lock);
  // Of one that is free nobody waits: it is only counted.
  auto* const test = real<int(void*)>(from, symbol::omp_test_lock);
  lane_context context;
  if (test != nullptr && lookup(context) && !the_recorder.traces() && test(lock) != 0) {
    count_wait(context, subject_kind::lock, wait_kind::lock, TRIMTAB_PLACE, nullptr);
    return;
  }
  {
    const wait waited(subject_kind::lock, wait_kind::lock, TRIMTAB_PLACE);
    forward(lock);
  }
  taken(TRIMTAB_PLACE, lock);
}

TRIMTAB_HOOK void omp_set_nest_lock(void* lock) {
  const caller from = caller_at(__builtin_return_address(0), entry::omp);
  auto* const forward = real<void(void*)>(from, symbol::omp_set_nest_lock);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(lock);
  {
    const wait waited(subject_kind::lock, wait_kind::lock, TRIMTAB_PLACE);
    forward(lock);
  }
  taken(TRIMTAB_PLACE, lock);
}

#define TRIMTAB_TEST_LOCK(name)                                             \
  TRIMTAB_HOOK int name(void* lock) {                                       \
    const caller from = caller_at(__builtin_return_address(0), entry::omp); \
    auto* const forward = real<int(void*)>(from, symbol::name);             \
    if (forward == nullptr) return 0;                                       \
    const int depth = forward(lock);                                        \
    if (depth != 0 && !from.is_internal) taken(TRIMTAB_PLACE, lock);        \
    return depth;                                                           \
  }
TRIMTAB_TEST_LOCK(omp_test_lock)
TRIMTAB_TEST_LOCK(omp_test_nest_lock)
#undef TRIMTAB_TEST_LOCK

// Before the real call: behind it another lane may have the lock.
#define TRIMTAB_UNSET_LOCK(name)                                            \
  TRIMTAB_HOOK void name(void* lock) {                                      \
    const caller from = caller_at(__builtin_return_address(0), entry::omp); \
    auto* const forward = real<void(void*)>(from, symbol::name);            \
    if (forward == nullptr) return;                                         \
    if (!from.is_internal) left(lock);                                      \
    forward(lock);                                                          \
  }
TRIMTAB_UNSET_LOCK(omp_unset_lock)
TRIMTAB_UNSET_LOCK(omp_unset_nest_lock)
#undef TRIMTAB_UNSET_LOCK
