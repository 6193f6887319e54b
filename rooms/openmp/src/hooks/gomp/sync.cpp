// Hooks of GCC's synchronisation entry points.
#include "accounting/waits.hpp"
#include "hooks/hook.hpp"

namespace trimtab::openmp {
namespace {

using observe::subject_kind;
using observe::wait_kind;

template <class call>
void enter_lock(const caller& from, const void* lock, call enter) {
  lane_context context;
  if (from.is_internal || !lookup(context)) return enter();
  const ticks begin = base::now();
  enter();
  lock_entered(context, begin, lock);
}

void leave_lock(const caller& from, const void* place, subject_kind kind) noexcept {
  lane_context context;
  if (!from.is_internal && lookup(context)) lock_left(context, place, kind);
}

}  // namespace
}  // namespace trimtab::openmp

using namespace trimtab::openmp;

#define TRIMTAB_WAIT(name, kind, why)                       \
  TRIMTAB_HOOK void name() {                                \
    const caller from = TRIMTAB_CALLER;                     \
    auto* const forward = real<void()>(from, symbol::name); \
    if (forward == nullptr) return;                         \
    if (from.is_internal) return forward();                 \
    const wait waited(kind, why, TRIMTAB_PLACE);            \
    forward();                                              \
  }
TRIMTAB_WAIT(GOMP_taskwait, subject_kind::taskwait, wait_kind::taskwait)
TRIMTAB_WAIT(GOMP_taskgroup_end, subject_kind::taskwait, wait_kind::taskwait)
TRIMTAB_WAIT(GOMP_ordered_start, subject_kind::ordered, wait_kind::ordered)
#undef TRIMTAB_WAIT

TRIMTAB_HOOK void GOMP_barrier() {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<void()>(from, symbol::GOMP_barrier);
  if (forward == nullptr) return;
  if (from.is_internal) return forward();
  const team_barrier passed(from, subject_kind::barrier, wait_kind::barrier, TRIMTAB_PLACE);
  forward();
}

TRIMTAB_HOOK bool GOMP_barrier_cancel() {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<bool()>(from, symbol::GOMP_barrier_cancel);
  if (forward == nullptr) return false;
  if (from.is_internal) return forward();
  const team_barrier passed(from, subject_kind::barrier, wait_kind::barrier, TRIMTAB_PLACE);
  return forward();
}

TRIMTAB_HOOK void GOMP_taskwait_depend(void** depend) {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<void(void**)>(from, symbol::GOMP_taskwait_depend);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(depend);
  const wait waited(subject_kind::taskwait, wait_kind::taskwait, TRIMTAB_PLACE);
  forward(depend);
}

// The end of a construct with task reductions, barrier included.
TRIMTAB_HOOK void GOMP_workshare_task_reduction_unregister(bool is_cancelled) {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<void(bool)>(from, symbol::GOMP_workshare_task_reduction_unregister);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(is_cancelled);
  const team_barrier passed(from, subject_kind::barrier, wait_kind::reduction, TRIMTAB_PLACE);
  forward(is_cancelled);
}

// An atomic that the processor cannot do is one lock for the whole program, as an unnamed critical is another.
#define TRIMTAB_LOCK(start, end)                                             \
  TRIMTAB_HOOK void start() {                                                \
    const caller from = TRIMTAB_CALLER;                                      \
    auto* const forward = real<void()>(from, symbol::start);                 \
    static const char identity = 0;                                          \
    if (forward != nullptr) enter_lock(from, &identity, [&] { forward(); }); \
  }                                                                          \
  TRIMTAB_HOOK void end() {                                                  \
    const caller from = TRIMTAB_CALLER;                                      \
    auto* const forward = real<void()>(from, symbol::end);                   \
    if (forward != nullptr) forward();                                       \
    leave_lock(from, TRIMTAB_PLACE, subject_kind::critical);                 \
  }
TRIMTAB_LOCK(GOMP_critical_start, GOMP_critical_end)
TRIMTAB_LOCK(GOMP_atomic_start, GOMP_atomic_end)
#undef TRIMTAB_LOCK

TRIMTAB_HOOK void GOMP_critical_name_start(void** lock) {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<void(void**)>(from, symbol::GOMP_critical_name_start);
  if (forward != nullptr) enter_lock(from, lock, [&] { forward(lock); });
}

TRIMTAB_HOOK void GOMP_critical_name_end(void** lock) {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<void(void**)>(from, symbol::GOMP_critical_name_end);
  if (forward != nullptr) forward(lock);
  leave_lock(from, TRIMTAB_PLACE, subject_kind::critical);
}

TRIMTAB_HOOK bool GOMP_single_start() {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<bool()>(from, symbol::GOMP_single_start);
  if (forward == nullptr) return true;
  const bool is_executed = forward();
  lane_context context;
  if (!from.is_internal && lookup(context)) single_passed(context, TRIMTAB_PLACE, is_executed);
  return is_executed;
}

TRIMTAB_HOOK void* GOMP_single_copy_start() {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<void*()>(from, symbol::GOMP_single_copy_start);
  if (forward == nullptr) return nullptr;
  lane_context context;
  if (from.is_internal || !lookup(context)) return forward();
  const ticks begin = trimtab::base::now();
  void* const copied = forward();
  // nullptr: this lane executes; otherwise it has waited for the one that did, at a barrier.
  if (copied != nullptr) team_barrier_passed(from);
  if (copied != nullptr && context.state->innermost != nullptr) context.state->idle += trimtab::base::now() - begin;
  single_passed(context, TRIMTAB_PLACE, copied == nullptr);
  return copied;
}

// The lane that executed it waits until all others have copied.
TRIMTAB_HOOK void GOMP_single_copy_end(void* data) {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<void(void*)>(from, symbol::GOMP_single_copy_end);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(data);
  const team_barrier passed(from, subject_kind::single, wait_kind::single, TRIMTAB_PLACE);
  forward(data);
}
