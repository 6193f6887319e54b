// Hooks of GCC's synchronisation and task entry points, of omp_set_lock for every runtime, and of dlclose.
#include <dlfcn.h>

#include "hooks.hpp"
#include "steering/steered_loops.hpp"

namespace trimtab::openmp {
namespace {

using observe::subject_kind;
using observe::wait_kind;

template <class call>
void enter_lock(const caller& from, call enter) {
  here at;
  if (from.is_internal || !find_here(at)) return enter();
  const ticks asked = base::now();
  enter();
  lock_entered(at, asked);
}

void leave_lock(const caller& from, const void* place, subject_kind kind) noexcept {
  here at;
  if (!from.is_internal && find_here(at)) lock_left(at, place, kind);
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
#define TRIMTAB_LOCK(start, end)                                  \
  TRIMTAB_HOOK void start() {                                     \
    const caller from = TRIMTAB_CALLER;                           \
    auto* const forward = real<void()>(from, symbol::start);      \
    if (forward != nullptr) enter_lock(from, [&] { forward(); }); \
  }                                                               \
  TRIMTAB_HOOK void end() {                                       \
    const caller from = TRIMTAB_CALLER;                           \
    auto* const forward = real<void()>(from, symbol::end);        \
    if (forward != nullptr) forward();                            \
    leave_lock(from, TRIMTAB_PLACE, subject_kind::critical);      \
  }
TRIMTAB_LOCK(GOMP_critical_start, GOMP_critical_end)
TRIMTAB_LOCK(GOMP_atomic_start, GOMP_atomic_end)
#undef TRIMTAB_LOCK

TRIMTAB_HOOK void GOMP_critical_name_start(void** lock) {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<void(void**)>(from, symbol::GOMP_critical_name_start);
  if (forward != nullptr) enter_lock(from, [&] { forward(lock); });
}

TRIMTAB_HOOK void GOMP_critical_name_end(void** lock) {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<void(void**)>(from, symbol::GOMP_critical_name_end);
  if (forward != nullptr) forward(lock);
  leave_lock(from, TRIMTAB_PLACE, subject_kind::critical);
}

// Locks may be left by another task than took them: only the wait is recorded.
TRIMTAB_HOOK void omp_set_lock(void* lock) {
  const caller from = caller_at(__builtin_return_address(0), entry::omp);
  auto* const forward = real<void(void*)>(from, symbol::omp_set_lock);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(lock);
  // Of one that is free nobody waits: it is only counted.
  auto* const test = real<int(void*)>(from, symbol::omp_test_lock);
  here at;
  if (test != nullptr && find_here(at) && !trimtab::observe::the_recorder.traces() && test(lock) != 0) {
    count_wait(at, subject_kind::lock, wait_kind::lock, TRIMTAB_PLACE, nullptr);
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

TRIMTAB_HOOK bool GOMP_single_start() {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<bool()>(from, symbol::GOMP_single_start);
  if (forward == nullptr) return true;
  const bool is_mine = forward();
  here at;
  if (!from.is_internal && find_here(at)) single_passed(at, TRIMTAB_PLACE, is_mine);
  return is_mine;
}

TRIMTAB_HOOK void* GOMP_single_copy_start() {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<void*()>(from, symbol::GOMP_single_copy_start);
  if (forward == nullptr) return nullptr;
  here at;
  if (from.is_internal || !find_here(at)) return forward();
  const ticks asked = trimtab::base::now();
  void* const copied = forward();
  // nullptr: this lane executes; otherwise it has waited for the one that did, at a barrier.
  if (copied != nullptr) barrier_passed(from);
  if (copied != nullptr && at.state->innermost != nullptr) at.state->idle += trimtab::base::now() - asked;
  single_passed(at, TRIMTAB_PLACE, copied == nullptr);
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

namespace {

struct task_call {
  void (*forward)();  // nullptr: there is no runtime
  gomp_function run;
};

[[gnu::noinline]] task_call call_of_task(gomp_function fn, const void* called_from) noexcept {
  const caller from = caller_of(reinterpret_cast<const void*>(fn), called_from, entry::gomp);
  auto* const forward = real<void()>(from, symbol::GOMP_task);
  here at;
  if (forward == nullptr || from.is_internal || !find_here(at)) return {forward, fn};
  const auto thunk = thunk_of(fn);
  task_created(at, thunk.slot, reinterpret_cast<const void*>(fn), from.of);
  return {forward, thunk.run};
}

// `rest`: flags, dependences, priority (since GCC 6), detach event (since GCC 11).
template <class... arguments>
[[gnu::always_inline]] inline void pass_on(const task_call& call, void* data, void (*copy)(void*, void*), long bytes,
                                           long alignment, bool is_deferred, arguments... rest) {
  using entry = void(gomp_function, void*, void (*)(void*, void*), long, long, bool, arguments...);
  if (call.forward != nullptr)
    reinterpret_cast<entry*>(call.forward)(call.run, data, copy, bytes, alignment, is_deferred, rest...);
}

}  // namespace

// Keeps nothing on the stack while the runtime runs the task: tasks run inside each other by the thousand. On x86-64 `rest`
// lies on the caller's stack, as words of a structure do, too: so the compiler leaves them there, and jumps. Programs of
// older GCCs have fewer words there, and the next ones are not ours to write.
#if defined(__x86_64__)
struct task_words {
  std::uintptr_t words[4];
};
TRIMTAB_HOOK void GOMP_task(gomp_function fn, void* data, void (*copy)(void*, void*), long bytes, long alignment,
                            bool is_deferred, task_words rest) {
  pass_on(call_of_task(fn, __builtin_return_address(0)), data, copy, bytes, alignment, is_deferred, rest);
}
#else
TRIMTAB_HOOK void GOMP_task(gomp_function fn, void* data, void (*copy)(void*, void*), long bytes, long alignment,
                            bool is_deferred, unsigned flags, void** depend, int priority, void* detach) {
  pass_on(call_of_task(fn, __builtin_return_address(0)), data, copy, bytes, alignment, is_deferred, flags, depend, priority,
          detach);
}
#endif

#define TRIMTAB_TASKLOOP(name, number)                                                                                      \
  TRIMTAB_HOOK void name(gomp_function fn, void* data, void (*copy)(void*, void*), long bytes, long alignment,              \
                         unsigned flags, unsigned long tasks, int priority, number first, number last, number step) {       \
    const caller from = caller_of(reinterpret_cast<const void*>(fn), __builtin_return_address(0), entry::gomp);             \
    auto* const forward = real<void(gomp_function, void*, void (*)(void*, void*), long, long, unsigned, unsigned long, int, \
                                    number, number, number)>(from, symbol::name);                                           \
    if (forward == nullptr) return;                                                                                         \
    here at;                                                                                                                \
    if (from.is_internal || !find_here(at))                                                                                 \
      return forward(fn, data, copy, bytes, alignment, flags, tasks, priority, first, last, step);                          \
    const taskloop_call making(at, reinterpret_cast<const void*>(fn));                                                      \
    const wait waited(subject_kind::taskloop, wait_kind::taskwait, TRIMTAB_PLACE);                                          \
    forward(thunk_of(fn).run, data, copy, bytes, alignment, flags, tasks, priority, first, last, step);                     \
  }
TRIMTAB_TASKLOOP(GOMP_taskloop, long)
TRIMTAB_TASKLOOP(GOMP_taskloop_ull, unsigned long long)
#undef TRIMTAB_TASKLOOP

// An unloaded object's addresses may come to belong to another one, which may use another runtime.
TRIMTAB_HOOK int dlclose(void* handle) {
  static const auto forward = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "dlclose"));
  const int result = forward(handle);
  forget_unloaded();
  return result;
}
