// Hooks of the locks of every runtime.
#include "accounting/waits.hpp"
#include "hooks/hook.hpp"

using namespace trimtab::openmp;
using trimtab::observe::subject_kind;
using trimtab::observe::the_recorder;
using trimtab::observe::wait_kind;

namespace {

void taken(const void* place, const void* lock, lock_type type) noexcept {
  lane_context context;
  if (the_recorder.traces() && lookup(context)) omp_lock_taken(context, place, lock, type);
}

void left(const void* lock) noexcept {
  lane_context context;
  if (the_recorder.traces() && lookup(context)) omp_lock_left(context, lock);
}

// Of a lock that is free nobody waits: it is only counted.
bool takes_free(void* lock, const void* place, int (*test)(void*)) noexcept {
  lane_context context;
  if (test == nullptr || !lookup(context) || the_recorder.traces() || test(lock) == 0) return false;
  count_wait(context, subject_kind::lock, wait_kind::lock, place, nullptr);
  return true;
}

void wait_for(void* lock, const void* place, lock_type type, void (*set)(void*)) noexcept {
  {
    const wait waited(subject_kind::lock, wait_kind::lock, place);
    set(lock);
  }
  taken(place, lock, type);
}

}  // namespace

// A lock may be left by another task than took it: the wait is recorded by itself, and who held the lock where that is the
// same lane. Names that end with _ are those of Fortran, whose locks are variables, too.
#define TRIMTAB_SET_LOCK(name, test_name)                                                   \
  TRIMTAB_HOOK void name(void* lock) {                                                      \
    const caller from = caller_at(__builtin_return_address(0), entry::omp);                 \
    auto* const forward = real<void(void*)>(from, symbol::name);                            \
    if (forward == nullptr) return;                                                         \
    if (from.is_internal) return forward(lock);                                             \
    if (takes_free(lock, TRIMTAB_PLACE, real<int(void*)>(from, symbol::test_name))) return; \
    wait_for(lock, TRIMTAB_PLACE, lock_type::simple, forward);                              \
  }
TRIMTAB_SET_LOCK(omp_set_lock, omp_test_lock)
TRIMTAB_SET_LOCK(omp_set_lock_, omp_test_lock_)
#undef TRIMTAB_SET_LOCK

#define TRIMTAB_SET_NEST_LOCK(name)                                         \
  TRIMTAB_HOOK void name(void* lock) {                                      \
    const caller from = caller_at(__builtin_return_address(0), entry::omp); \
    auto* const forward = real<void(void*)>(from, symbol::name);            \
    if (forward == nullptr) return;                                         \
    if (from.is_internal) return forward(lock);                             \
    wait_for(lock, TRIMTAB_PLACE, lock_type::nestable, forward);            \
  }
TRIMTAB_SET_NEST_LOCK(omp_set_nest_lock)
TRIMTAB_SET_NEST_LOCK(omp_set_nest_lock_)
#undef TRIMTAB_SET_NEST_LOCK

#define TRIMTAB_TEST_LOCK(name, type)                                       \
  TRIMTAB_HOOK int name(void* lock) {                                       \
    const caller from = caller_at(__builtin_return_address(0), entry::omp); \
    auto* const forward = real<int(void*)>(from, symbol::name);             \
    if (forward == nullptr) return 0;                                       \
    const int depth = forward(lock);                                        \
    if (depth != 0 && !from.is_internal) taken(TRIMTAB_PLACE, lock, type);  \
    return depth;                                                           \
  }
TRIMTAB_TEST_LOCK(omp_test_lock, lock_type::simple)
TRIMTAB_TEST_LOCK(omp_test_lock_, lock_type::simple)
TRIMTAB_TEST_LOCK(omp_test_nest_lock, lock_type::nestable)
TRIMTAB_TEST_LOCK(omp_test_nest_lock_, lock_type::nestable)
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
TRIMTAB_UNSET_LOCK(omp_unset_lock_)
TRIMTAB_UNSET_LOCK(omp_unset_nest_lock)
TRIMTAB_UNSET_LOCK(omp_unset_nest_lock_)
#undef TRIMTAB_UNSET_LOCK
