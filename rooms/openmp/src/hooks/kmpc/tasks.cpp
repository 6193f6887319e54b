// Hooks of clang's task entry points. A task's function is replaced where the task is allocated; where the program
// itself runs the task (a false `if`), the calls around it tell.
#include "accounting/tasks.hpp"

#include <array>

#include "accounting/waits.hpp"
#include "hooks/kmpc/ident.hpp"

namespace trimtab::openmp {
namespace {

using observe::subject_kind;
using observe::wait_kind;

std::uint32_t slot_of(const void* task) noexcept {
  const auto run = static_cast<const kmp_task*>(task)->routine;
  // A program asks for the same few functions again and again.
  struct known_thunk {
    kmp_task_function thunk;
    std::uint32_t slot;
  };
  static constinit thread_local std::array<known_thunk, 8> t_thunks{};
  known_thunk& entry = t_thunks[base::mix_fast(reinterpret_cast<std::uintptr_t>(run)) % t_thunks.size()];
  if (entry.thunk != run) entry = {run, slot_of_thunk(run)};
  return entry.slot;
}

// The program's function that the task runs.
const void* entry_of(const void* task) noexcept {
  const std::uint32_t slot = slot_of(task);
  return slot != no_slot ? function_of_slot(slot)
                         : reinterpret_cast<const void*>(static_cast<const kmp_task*>(task)->routine);
}

void undeferred_begins(const lane_context& context, const void* task) noexcept {
  lane_state& state = *context.state;
  if (state.undeferred < lane_state::max_undeferred)
    begin_task(state.undeferred_tasks[state.undeferred], start_task(slot_of(task), false), false);
  state.undeferred += 1;
}

void undeferred_ends(const lane_context& context) noexcept {
  lane_state& state = *context.state;
  if (state.undeferred == 0) return;
  state.undeferred -= 1;
  if (state.undeferred < lane_state::max_undeferred) end_task(state.undeferred_tasks[state.undeferred]);
}

// Runs `call`, the runtime's taskloop, which makes and perhaps runs the pieces of `task`.
template <class function>
void taskloop(const caller& from, const void* place, const ident* location, const void* task, bool is_waiting,
              function call) {
  lane_context context;
  if (from.is_internal || !lookup(context)) return call();
  const void* const entry = entry_of(task);
  pattern_created(context, entry);
  const taskloop_call making(context, entry);
  if (!is_waiting) return call();
  const wait waited(subject_kind::taskloop, wait_kind::taskwait, place, source_of(location));
  call();
}

}  // namespace
}  // namespace trimtab::openmp

using namespace trimtab::openmp;

TRIMTAB_HOOK void* __kmpc_omp_task_alloc(ident* location, std::int32_t thread, std::int32_t flags, std::size_t task_bytes,
                                         std::size_t shared_bytes, kmp_task_function entry) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void*(ident*, std::int32_t, std::int32_t, std::size_t, std::size_t, kmp_task_function)>(
      from, symbol::__kmpc_omp_task_alloc);
  if (forward == nullptr) return nullptr;
  kmp_task_function run = entry;
  lane_context context;
  if (!from.is_internal && entry != nullptr && lookup(context)) {
    const auto thunk = thunk_of(entry);
    task_created(context, thunk.slot, reinterpret_cast<const void*>(entry), from.of, source_of(location));
    run = thunk.run;
  }
  return forward(location, thread, flags, task_bytes, shared_bytes, run);
}

TRIMTAB_HOOK void __kmpc_omp_task_begin_if0(ident* location, std::int32_t thread, void* task) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void(ident*, std::int32_t, void*)>(from, symbol::__kmpc_omp_task_begin_if0);
  if (forward == nullptr) return;
  forward(location, thread, task);
  lane_context context;
  if (!from.is_internal && lookup(context)) undeferred_begins(context, task);
}

TRIMTAB_HOOK void __kmpc_omp_task_complete_if0(ident* location, std::int32_t thread, void* task) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  lane_context context;
  if (!from.is_internal && lookup(context)) undeferred_ends(context);
  if (auto* const forward = real<void(ident*, std::int32_t, void*)>(from, symbol::__kmpc_omp_task_complete_if0))
    forward(location, thread, task);
}

TRIMTAB_HOOK void __kmpc_taskloop(ident* location, std::int32_t thread, void* task, std::int32_t condition,
                                  std::uint64_t* lower, std::uint64_t* upper, std::int64_t stride, std::int32_t no_group,
                                  std::int32_t schedule, std::uint64_t grain, void* duplicate) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void(ident*, std::int32_t, void*, std::int32_t, std::uint64_t*, std::uint64_t*, std::int64_t,
                                  std::int32_t, std::int32_t, std::uint64_t, void*)>(from, symbol::__kmpc_taskloop);
  if (forward == nullptr) return;
  taskloop(from, TRIMTAB_PLACE, location, task, no_group == 0,
           [&] { forward(location, thread, task, condition, lower, upper, stride, no_group, schedule, grain, duplicate); });
}

TRIMTAB_HOOK void __kmpc_taskloop_5(ident* location, std::int32_t thread, void* task, std::int32_t condition,
                                    std::uint64_t* lower, std::uint64_t* upper, std::int64_t stride, std::int32_t no_group,
                                    std::int32_t schedule, std::uint64_t grain, std::int32_t modifier, void* duplicate) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward =
      real<void(ident*, std::int32_t, void*, std::int32_t, std::uint64_t*, std::uint64_t*, std::int64_t, std::int32_t,
                std::int32_t, std::uint64_t, std::int32_t, void*)>(from, symbol::__kmpc_taskloop_5);
  if (forward == nullptr) return;
  taskloop(from, TRIMTAB_PLACE, location, task, no_group == 0, [&] {
    forward(location, thread, task, condition, lower, upper, stride, no_group, schedule, grain, modifier, duplicate);
  });
}

TRIMTAB_HOOK std::int32_t __kmpc_omp_taskwait(ident* location, std::int32_t thread) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<std::int32_t(ident*, std::int32_t)>(from, symbol::__kmpc_omp_taskwait);
  if (forward == nullptr) return 0;
  if (from.is_internal) return forward(location, thread);
  const wait waited(subject_kind::taskwait, wait_kind::taskwait, TRIMTAB_PLACE, source_of(location));
  return forward(location, thread);
}

// A taskwait with dependences, and a task with dependences and a false `if`.
TRIMTAB_HOOK void __kmpc_omp_wait_deps(ident* location, std::int32_t thread, std::int32_t count, void* dependences,
                                       std::int32_t weak_count, void* more_dependences) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward =
      real<void(ident*, std::int32_t, std::int32_t, void*, std::int32_t, void*)>(from, symbol::__kmpc_omp_wait_deps);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(location, thread, count, dependences, weak_count, more_dependences);
  const wait waited(subject_kind::taskwait, wait_kind::taskwait, TRIMTAB_PLACE, source_of(location));
  forward(location, thread, count, dependences, weak_count, more_dependences);
}

// The same since LLVM 16.
TRIMTAB_HOOK void __kmpc_omp_taskwait_deps_51(ident* location, std::int32_t thread, std::int32_t count, void* dependences,
                                              std::int32_t weak_count, void* more_dependences, std::int32_t no_wait) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void(ident*, std::int32_t, std::int32_t, void*, std::int32_t, void*, std::int32_t)>(
      from, symbol::__kmpc_omp_taskwait_deps_51);
  if (forward == nullptr) return;
  if (from.is_internal || no_wait != 0)
    return forward(location, thread, count, dependences, weak_count, more_dependences, no_wait);
  const wait waited(subject_kind::taskwait, wait_kind::taskwait, TRIMTAB_PLACE, source_of(location));
  forward(location, thread, count, dependences, weak_count, more_dependences, no_wait);
}

TRIMTAB_HOOK void __kmpc_end_taskgroup(ident* location, std::int32_t thread) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void(ident*, std::int32_t)>(from, symbol::__kmpc_end_taskgroup);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(location, thread);
  const wait waited(subject_kind::taskwait, wait_kind::taskwait, TRIMTAB_PLACE, source_of(location));
  forward(location, thread);
}
