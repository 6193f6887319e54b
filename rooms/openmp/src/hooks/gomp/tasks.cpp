// Hooks of GCC's task entry points.
#include "accounting/tasks.hpp"

#include "accounting/waits.hpp"
#include "hooks/hook.hpp"

namespace trimtab::openmp {
namespace {

struct task_call {
  void (*forward)();  // nullptr: there is no runtime
  gomp_function run;
};

[[gnu::noinline]] task_call call_of_task(gomp_function fn, const void* called_from) noexcept {
  const caller from = caller_of(reinterpret_cast<const void*>(fn), called_from, entry::gomp);
  auto* const forward = real<void()>(from, symbol::GOMP_task);
  lane_context context;
  if (forward == nullptr || from.is_internal || !lookup(context)) return {forward, fn};
  const auto thunk = thunk_of(fn);
  task_created(context, thunk.slot, reinterpret_cast<const void*>(fn), from.of);
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

}  // namespace trimtab::openmp

using namespace trimtab::openmp;

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
    lane_context context;                                                                                                   \
    if (from.is_internal || !lookup(context))                                                                               \
      return forward(fn, data, copy, bytes, alignment, flags, tasks, priority, first, last, step);                          \
    const taskloop_call making(context, reinterpret_cast<const void*>(fn));                                                 \
    const wait waited(trimtab::observe::subject_kind::taskloop, trimtab::observe::wait_kind::taskwait, TRIMTAB_PLACE);      \
    forward(thunk_of(fn).run, data, copy, bytes, alignment, flags, tasks, priority, first, last, step);                     \
  }
TRIMTAB_TASKLOOP(GOMP_taskloop, long)
TRIMTAB_TASKLOOP(GOMP_taskloop_ull, unsigned long long)
#undef TRIMTAB_TASKLOOP
