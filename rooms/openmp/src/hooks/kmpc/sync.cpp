// Hooks of clang's synchronisation entry points. master, masked, flush and atomic wait for nothing and need none.
#include "accounting/waits.hpp"
#include "hooks/kmpc/short_way.hpp"

namespace trimtab::openmp {
namespace {

using observe::subject_kind;
using observe::wait_kind;

using reduce = std::int32_t(ident*, std::int32_t, std::int32_t, std::size_t, void*, void (*)(void*, void*), void*);

// The long way, a function of its own, so that the short one needs no frame.
template <short_call call>
[[gnu::noinline]] std::int32_t reduced(const void* place, symbol function, ident* location, std::int32_t thread,
                                       std::int32_t variables, std::size_t bytes, void* data, void (*combine)(void*, void*),
                                       void* lock) {
  const caller from = caller_of(location, place, entry::kmpc);
  auto* const forward = real<reduce>(from, function);
  if (forward == nullptr) return 1;
  if (from.is_internal) return forward(location, thread, variables, bytes, data, combine, lock);
  know_way<call>(from, place, forward);
  const wait waited(subject_kind::barrier, wait_kind::reduction, place_of_call(place), source_of(location));
  return forward(location, thread, variables, bytes, data, combine, lock);
}

}  // namespace
}  // namespace trimtab::openmp

using namespace trimtab::openmp;

TRIMTAB_HOOK void __kmpc_barrier(ident* location, std::int32_t thread) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void(ident*, std::int32_t)>(from, symbol::__kmpc_barrier);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(location, thread);
  const team_barrier passed(from, subject_kind::barrier, wait_kind::barrier, TRIMTAB_PLACE, source_of(location));
  forward(location, thread);
}

TRIMTAB_HOOK std::int32_t __kmpc_cancel_barrier(ident* location, std::int32_t thread) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<std::int32_t(ident*, std::int32_t)>(from, symbol::__kmpc_cancel_barrier);
  if (forward == nullptr) return 0;
  if (from.is_internal) return forward(location, thread);
  const team_barrier passed(from, subject_kind::barrier, wait_kind::barrier, TRIMTAB_PLACE, source_of(location));
  return forward(location, thread);
}

TRIMTAB_HOOK void __kmpc_critical(ident* location, std::int32_t thread, void* lock) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void(ident*, std::int32_t, void*)>(from, symbol::__kmpc_critical);
  if (forward == nullptr) return;
  lane_context context;
  if (from.is_internal || !lookup(context)) return forward(location, thread, lock);
  const ticks begin = trimtab::base::now();
  forward(location, thread, lock);
  lock_entered(context, begin, lock);
}

TRIMTAB_HOOK void __kmpc_critical_with_hint(ident* location, std::int32_t thread, void* lock, std::uint32_t hint) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void(ident*, std::int32_t, void*, std::uint32_t)>(from, symbol::__kmpc_critical_with_hint);
  if (forward == nullptr) return;
  lane_context context;
  if (from.is_internal || !lookup(context)) return forward(location, thread, lock, hint);
  const ticks begin = trimtab::base::now();
  forward(location, thread, lock, hint);
  lock_entered(context, begin, lock);
}

TRIMTAB_HOOK void __kmpc_end_critical(ident* location, std::int32_t thread, void* lock) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  if (auto* const forward = real<void(ident*, std::int32_t, void*)>(from, symbol::__kmpc_end_critical))
    forward(location, thread, lock);
  lane_context context;
  if (!from.is_internal && lookup(context)) lock_left(context, TRIMTAB_PLACE, subject_kind::critical);
}

TRIMTAB_HOOK std::int32_t __kmpc_single(ident* location, std::int32_t thread) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<std::int32_t(ident*, std::int32_t)>(from, symbol::__kmpc_single);
  if (forward == nullptr) return 1;
  const std::int32_t is_executed = forward(location, thread);
  lane_context context;
  if (!from.is_internal && lookup(context)) single_passed(context, TRIMTAB_PLACE, is_executed != 0);
  return is_executed;
}

TRIMTAB_HOOK void __kmpc_copyprivate(ident* location, std::int32_t thread, std::size_t bytes, void* data,
                                     void (*copy)(void*, void*), std::int32_t is_executed) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void(ident*, std::int32_t, std::size_t, void*, void (*)(void*, void*), std::int32_t)>(
      from, symbol::__kmpc_copyprivate);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(location, thread, bytes, data, copy, is_executed);
  const team_barrier passed(from, subject_kind::single, wait_kind::single, TRIMTAB_PLACE, source_of(location));
  forward(location, thread, bytes, data, copy, is_executed);
}

TRIMTAB_HOOK void* __kmpc_copyprivate_light(ident* location, std::int32_t thread, void* data) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void*(ident*, std::int32_t, void*)>(from, symbol::__kmpc_copyprivate_light);
  if (forward == nullptr) return data;
  if (from.is_internal) return forward(location, thread, data);
  const team_barrier passed(from, subject_kind::single, wait_kind::single, TRIMTAB_PLACE, source_of(location));
  return forward(location, thread, data);
}

TRIMTAB_HOOK void __kmpc_ordered(ident* location, std::int32_t thread) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void(ident*, std::int32_t)>(from, symbol::__kmpc_ordered);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(location, thread);
  const wait waited(subject_kind::ordered, wait_kind::ordered, TRIMTAB_PLACE, source_of(location));
  forward(location, thread);
}

// Of a loop with dependences on earlier iterations: once for each that an iteration depends on, within the loop's
// bounds or not.
TRIMTAB_HOOK void __kmpc_doacross_wait(ident* location, std::int32_t thread, const std::int64_t* iteration) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void(ident*, std::int32_t, const std::int64_t*)>(from, symbol::__kmpc_doacross_wait);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(location, thread, iteration);
  const wait waited(subject_kind::ordered, wait_kind::ordered, TRIMTAB_PLACE, source_of(location));
  forward(location, thread, iteration);
}

// Whichever way the runtime takes, the threads wait here for each other or for their turn: who leaves knows nothing of the
// others, so no reduction is a team_barrier. The end of the form that blocks is one; the end of the other waits for nothing.
#define TRIMTAB_REDUCE(name, call)                                                                                         \
  TRIMTAB_HOOK std::int32_t name(ident* where, std::int32_t thread, std::int32_t variables, std::size_t bytes, void* data, \
                                 void (*combine)(void*, void*), void* lock) {                                              \
    const void* const place = __builtin_return_address(0);                                                                 \
    if (auto* const known = short_way<call, reduce>(place)) [[likely]]                                                     \
      return known(where, thread, variables, bytes, data, combine, lock);                                                  \
    return reduced<call>(place, symbol::name, where, thread, variables, bytes, data, combine, lock);                       \
  }
TRIMTAB_REDUCE(__kmpc_reduce, short_call::reduce)
TRIMTAB_REDUCE(__kmpc_reduce_nowait, short_call::reduce_nowait)
#undef TRIMTAB_REDUCE

TRIMTAB_HOOK void __kmpc_end_reduce(ident* where, std::int32_t thread, void* lock) {
  const caller from = caller_of(where, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void(ident*, std::int32_t, void*)>(from, symbol::__kmpc_end_reduce);
  if (forward == nullptr) return;
  if (from.is_internal) return forward(where, thread, lock);
  const team_barrier passed(from, subject_kind::barrier, wait_kind::barrier, TRIMTAB_PLACE, source_of(where));
  forward(where, thread, lock);
}
