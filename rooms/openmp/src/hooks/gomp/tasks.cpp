// Hooks of GCC's task entry points.
#include "accounting/tasks.hpp"

#include <algorithm>

#include "accounting/identified_tasks.hpp"
#include "accounting/task_identities.hpp"
#include "accounting/waits.hpp"
#include "hooks/gomp/depend_list.hpp"
#include "hooks/hook.hpp"

namespace trimtab::openmp {
namespace {

using observe::subject_kind;
using observe::the_recorder;
using observe::wait_kind;

// libgomp's own numbers (gomp-constants.h).
constexpr unsigned flag_depend = 1u << 3;
constexpr unsigned flag_up = 1u << 8;
constexpr unsigned flag_grain = 1u << 9;
constexpr unsigned flag_reduction = 1u << 12;
constexpr unsigned flag_detach = 1u << 13;

// Data that is copied only for our sake goes to the stack where the runtime runs the task at once; a runtime's task itself
// takes less than this.
constexpr long most_copied = 16 * 1024;
constexpr std::size_t bytes_of_task = 384;

struct task_call {
  void (*forward)();  // nullptr: there is no runtime
  gomp_function run;  // nullptr: the task gets an identity
};

// What call_of_task has found out for the task that gets an identity next.
struct identified_call {
  void (*forward)();
  lane_context context;
  const void* place;
  std::uint32_t slot;
  std::uint32_t subject;
};
constinit thread_local identified_call t_identified_call{};

bool needs_identities(const caller& from) noexcept {
  return the_recorder.traces() && from.of->family == runtime_family::gomp && !has_identities(from.of);
}

[[gnu::noinline]] bool take_identified_call(const lane_context& context, std::uint32_t slot, gomp_function fn,
                                            const caller& from, void (*forward)(), bool has_room) noexcept {
  region_of_construct(*context.state);  // the region has a construct
  const std::uint32_t subject = count_created(context, slot, reinterpret_cast<const void*>(fn), nullptr);
  if (slot != no_slot && subject != no_subject && has_room) {
    t_identified_call = {forward, context, nullptr, slot, subject};
    return true;
  }
  if (subject != no_subject) record_unnamed(context, subject, from.of);
  return false;
}

[[gnu::noinline]] task_call call_of_task(gomp_function fn, const void* called_from, bool has_room) noexcept {
  const caller from = caller_of(reinterpret_cast<const void*>(fn), called_from, entry::gomp);
  auto* const forward = real<void()>(from, symbol::GOMP_task);
  lane_context context;
  if (forward == nullptr || from.is_internal || !lookup(context)) return {forward, fn};
  const auto thunk = thunk_of(fn);
  if (needs_identities(from)) {
    const bool is_identified = take_identified_call(context, thunk.slot, fn, from, forward, has_room);
    t_identified_call.place = place_of_call(called_from);
    return {forward, is_identified ? nullptr : thunk.run};
  }
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

struct task_options {
  unsigned flags;
  void** depend;
};

// The task that t_identified_call tells of. It stays on the stack while the runtime runs the task, in traces alone.
template <class... arguments>
[[gnu::noinline]] void pass_on_identified(gomp_function fn, void* data, copy_function copy, long bytes, long alignment,
                                          bool is_deferred, const task_options& options, arguments... rest) {
  const identified_call call = t_identified_call;
  const data_layout layout = layout_with(sizeof(task_identity), bytes, alignment);
  task_pattern pattern{{},
                       call.context,
                       fn,
                       copy,
                       data,
                       static_cast<std::size_t>(bytes),
                       new_identity(call.context, call.subject),
                       call.slot,
                       layout.own_data,
                       (options.flags & flag_detach) != 0};
  const bool has_list = (options.flags & flag_depend) != 0 && options.depend != nullptr;
  if (has_list)
    for_depend_list(options.depend, [&](const dependence* list, std::size_t count) {
      task_depends(call.context, pattern.identity, list, count);
    });
  using entry = void(gomp_function, void*, copy_function, long, long, bool, arguments...);
  auto* const forward = reinterpret_cast<entry*>(call.forward);
  const auto create = [&] {
    forward(run_identified_task, &pattern, copy_identified_task, layout.bytes, layout.alignment, is_deferred, rest...);
  };
  if (is_deferred || !has_list) return create();
  const wait waited(subject_kind::taskwait, wait_kind::taskwait, call.place);
  create();
}

bool has_room_for_copy(copy_function copy, long bytes) noexcept { return copy != nullptr || bytes <= most_copied; }

// At most so many pieces a taskloop has.
std::size_t most_pieces(const caller& from, unsigned flags, std::uint64_t tasks, std::uint64_t iterations) noexcept {
  if ((flags & flag_grain) != 0) return tasks == 0 ? iterations : iterations / tasks + 1;
  auto* const threads = real<int()>(from, symbol::omp_get_num_threads);
  const std::uint64_t wanted = tasks != 0 ? tasks : threads != nullptr ? static_cast<std::uint64_t>(threads()) : 1;
  return std::min(wanted, iterations);
}

template <class number>
std::uint64_t iterations_of(unsigned flags, number first, number last, number step) noexcept {
  const bool is_up = (flags & flag_up) != 0;
  const auto begin = static_cast<std::uint64_t>(is_up ? first : last),
             end = static_cast<std::uint64_t>(is_up ? last : first);
  const auto stride = is_up ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  return stride == 0 ? ~std::uint64_t{0} : (end - begin) / stride + 1;
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
namespace {
[[gnu::noinline]] void pass_on_words(gomp_function fn, void* data, copy_function copy, long bytes, long alignment,
                                     bool is_deferred, task_words rest) {
  const task_options options{static_cast<unsigned>(rest.words[0]), reinterpret_cast<void**>(rest.words[1])};
  pass_on_identified(fn, data, copy, bytes, alignment, is_deferred, options, rest);
}
}  // namespace
TRIMTAB_HOOK void GOMP_task(gomp_function fn, void* data, void (*copy)(void*, void*), long bytes, long alignment,
                            bool is_deferred, task_words rest) {
  const task_call call = call_of_task(fn, __builtin_return_address(0), has_room_for_copy(copy, bytes));
  if (call.run == nullptr) return pass_on_words(fn, data, copy, bytes, alignment, is_deferred, rest);
  pass_on(call, data, copy, bytes, alignment, is_deferred, rest);
}
#else
TRIMTAB_HOOK void GOMP_task(gomp_function fn, void* data, void (*copy)(void*, void*), long bytes, long alignment,
                            bool is_deferred, unsigned flags, void** depend, int priority, void* detach) {
  const task_call call = call_of_task(fn, __builtin_return_address(0), has_room_for_copy(copy, bytes));
  if (call.run == nullptr)
    return pass_on_identified(fn, data, copy, bytes, alignment, is_deferred, {flags, depend}, flags, depend, priority,
                              detach);
  pass_on(call, data, copy, bytes, alignment, is_deferred, flags, depend, priority, detach);
}
#endif

namespace trimtab::openmp {
namespace {

template <class number>
struct taskloop_bounds {
  number first, last, step;
};

struct taskloop_data {
  void* data;
  copy_function copy;
  long bytes, alignment;
};

// Runs `call` with the function and data that stand for the program's.
template <class number, class function>
void taskloop(const caller& from, gomp_function fn, const taskloop_data& own, unsigned flags, std::uint64_t tasks,
              const taskloop_bounds<number>& bounds, const lane_context& context, function call) {
  const auto thunk = thunk_of(fn);
  const data_layout layout = layout_with(sizeof(piece_identity), own.bytes, own.alignment);
  const std::size_t pieces = most_pieces(from, flags, tasks, iterations_of(flags, bounds.first, bounds.last, bounds.step));
  // The runtime keeps all pieces on its stack if it runs them at once and copies their data.
  const std::size_t most =
      static_cast<std::size_t>(2 * most_copied) / (static_cast<std::size_t>(layout.bytes) + bytes_of_task);
  const bool has_room = sizeof(number) == sizeof(std::uintptr_t) && pieces <= most && own.data != nullptr;
  if (!needs_identities(from)) return call(thunk.run, own);
  const std::uint32_t subject = context.state->taskloop_subject;
  if (thunk.slot == no_slot || subject == no_subject || !has_room) {
    tasks_are_unnamed(from.of);
    return call(thunk.run, own);
  }
  piece_words words{};
  if ((flags & flag_reduction) != 0) words.reductions = static_cast<const piece_words*>(own.data)->reductions;
  task_pattern pattern{words,
                       context,
                       fn,
                       own.copy,
                       own.data,
                       static_cast<std::size_t>(own.bytes),
                       identity_of_subject(subject),
                       thunk.slot,
                       layout.own_data,
                       false};
  call(run_identified_piece, {&pattern, copy_identified_piece, layout.bytes, layout.alignment});
}

}  // namespace
}  // namespace trimtab::openmp

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
    taskloop<number>(from, fn, {data, copy, bytes, alignment}, flags, tasks, {first, last, step}, context,                  \
                     [&](gomp_function run, const taskloop_data& own) {                                                     \
                       forward(run, own.data, own.copy, own.bytes, own.alignment, flags, tasks, priority, first, last,      \
                               step);                                                                                       \
                     });                                                                                                    \
  }
TRIMTAB_TASKLOOP(GOMP_taskloop, long)
TRIMTAB_TASKLOOP(GOMP_taskloop_ull, unsigned long long)
#undef TRIMTAB_TASKLOOP
