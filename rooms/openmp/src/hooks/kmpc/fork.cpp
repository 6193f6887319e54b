// Hooks of the region entry points that clang's code calls. The outlined function ("microtask") takes the
// thread's two numbers and then one pointer per captured variable; the wrapper takes a single pointer instead.
#include <cstdarg>
#include <cstdlib>
#include <utility>

#include "accounting/short_regions.hpp"
#include "hooks/kmpc/ident.hpp"

namespace trimtab::openmp {
namespace {

// The runtimes take no more themselves (they push them one by one in an assembly trampoline).
constexpr int max_arguments = 256;
// Of regions with a thunk (outermost.hpp), and so of short ones.
constexpr int max_short = 16;

#define TRIMTAB_16(n)                                                                                                   \
  a[n], a[n + 1], a[n + 2], a[n + 3], a[n + 4], a[n + 5], a[n + 6], a[n + 7], a[n + 8], a[n + 9], a[n + 10], a[n + 11], \
      a[n + 12], a[n + 13], a[n + 14], a[n + 15]
#define TRIMTAB_64(n) TRIMTAB_16(n), TRIMTAB_16(n + 16), TRIMTAB_16(n + 32), TRIMTAB_16(n + 48)
#define TRIMTAB_256 TRIMTAB_64(0), TRIMTAB_64(64), TRIMTAB_64(128), TRIMTAB_64(192)

using microtask = void (*)(std::int32_t*, std::int32_t*, ...);

// A member of a region without captured variables reads the first line only.
struct fork_frame {
  team shared;
  void* arguments[max_arguments];
};

// Surplus arguments do no harm in the x86-64 and AArch64 conventions: the caller owns the stack, and the
// callee reads what it declared. So one call per size class serves every count.
void call_outlined(const fork_frame& frame, std::int32_t* thread, std::int32_t* bound) {
  void* const* const a = frame.arguments;
  const auto outlined = reinterpret_cast<microtask>(const_cast<void*>(frame.shared.outlined));
  const unsigned count = frame.shared.arguments;
  using none = void (*)(std::int32_t*, std::int32_t*);
  using four = void (*)(std::int32_t*, std::int32_t*, void*, void*, void*, void*);
  using sixteen = void (*)(std::int32_t*, std::int32_t*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                           void*, void*, void*, void*, void*, void*, void*);
  if (count == 0) return reinterpret_cast<none>(outlined)(thread, bound);
  if (count <= 4) return reinterpret_cast<four>(outlined)(thread, bound, a[0], a[1], a[2], a[3]);
  if (count <= 16) return reinterpret_cast<sixteen>(outlined)(thread, bound, TRIMTAB_16(0));
  if (count <= 64) return outlined(thread, bound, TRIMTAB_64(0));
  outlined(thread, bound, TRIMTAB_256);
}

// Not noexcept: pthread_exit and cancellation unwind through here.
void member_main(std::int32_t* thread, std::int32_t* bound, fork_frame* frame) {
  member self;
  // The runtimes tell the number in the team by the second pointer.
  begin_member(self, frame->shared, *bound < 0 ? 0u : static_cast<std::uint32_t>(*bound));
  call_outlined(*frame, thread, bound);
  end_member(self, frame->shared);
}

// The same for the first thread of a team of a league (the construct teams): its number is that of its team.
void league_main(std::int32_t* thread, std::int32_t* bound, fork_frame* frame) {
  auto* const query = real<int()>({frame->shared.of, false}, symbol::omp_get_team_num);
  const int number = query == nullptr ? 0 : query();
  member self;
  begin_member(self, frame->shared, number < 0 ? 0u : static_cast<std::uint32_t>(number));
  end_steered_part();  // a league's regions are none of the outermost
  call_outlined(*frame, thread, bound);
  end_member(self, frame->shared);
}

// Upper bounds of what the next fork makes: its clause if there is one, and what the runtime would take otherwise.
std::uint32_t most_members(const caller& from) noexcept {
  lane_context context;
  return lookup(context) ? most_threads(from, context.state->requested_threads) : 0;
}
std::uint32_t most_teams(const caller& from) noexcept {
  lane_context context;
  if (!lookup(context)) return 0;
  auto* const query = real<int()>(from, symbol::omp_get_max_teams);
  const int limit = query == nullptr ? 1 : query();
  const std::uint32_t standard = limit < 1 ? 1u : static_cast<std::uint32_t>(limit);
  const std::uint32_t clause = std::exchange(context.state->teams_asked, 0u);
  return clause > standard ? clause : standard;
}

// Clears what the size class has beyond `count` captured variables.
void clear_rest(void** arguments, int count) noexcept {
  const int rounded = count == 0 ? 0 : count <= 4 ? 4 : count <= 16 ? 16 : count <= 64 ? 64 : max_arguments;
  for (int i = count; i < rounded; ++i) arguments[i] = nullptr;
}

using fork_function = void(ident*, std::int32_t, microtask, ...);

// The call as the program makes it, with another function perhaps: the runtime passes on exactly as many captured
// variables as it is told of.
void hand_on(fork_function* forward, ident* location, microtask function, int count, void* const* a) {
  if (count == 0) return forward(location, count, function);
  if (count <= 4) return forward(location, count, function, a[0], a[1], a[2], a[3]);
  if (count <= 16) return forward(location, count, function, TRIMTAB_16(0));
  if (count <= 64) return forward(location, count, function, TRIMTAB_64(0));
  forward(location, count, function, TRIMTAB_256);
}

template <auto main>
void fork_region(const caller& from, fork_function* forward, ident* location, microtask outlined, int count,
                 std::uint32_t limit, fork_frame& frame) {
  if (from.is_internal || !is_recording.load(std::memory_order_relaxed) ||
      !fork_team(frame.shared, from, reinterpret_cast<const void*>(outlined), limit, source_of(location)))
    return hand_on(forward, location, outlined, count, frame.arguments);
  frame.shared.arguments = static_cast<std::uint16_t>(count);
  forward(location, 1, reinterpret_cast<microtask>(main), &frame);
  join_team(frame.shared);
}

// As a clause that the program itself had written, for the fork that follows.
void fit_fork_slowly(ident* location, microtask outlined, const void* return_address) noexcept {
  const caller from = caller_of(location, return_address, entry::kmpc);
  auto* const number = real<std::int32_t(ident*)>(from, symbol::__kmpc_global_thread_num);
  auto* const push = real<void(ident*, std::int32_t, std::int32_t)>(from, symbol::__kmpc_push_num_threads);
  lane_context context;
  if (number == nullptr || push == nullptr || !lookup(context)) return;
  const std::uint32_t clause = context.state->requested_threads;
  if (const std::uint32_t members = fitted_clause(from, reinterpret_cast<const void*>(outlined), clause); members != clause)
    push(location, number(location), static_cast<std::int32_t>(members));
}
inline void fit_fork(ident* location, microtask outlined, const void* return_address) noexcept {
  if (team_port_now() != nullptr) [[unlikely]]
    fit_fork_slowly(location, outlined, return_address);
}

// Takes the captured variables out of the call; returns how many there are.
inline int read_arguments(void** arguments, int count, va_list list) noexcept {
  // Each by itself: to read what memset has written a moment ago takes longer than all the rest.
  if (count >= 0 && count <= 4) {
    for (int i = 0; i < 4; ++i) arguments[i] = i < count ? va_arg(list, void*) : nullptr;
    return count;
  }
  const int captured = count < 0 ? 0 : count < max_arguments ? count : max_arguments;
  for (int i = 0; i < captured; ++i) arguments[i] = va_arg(list, void*);
  clear_rest(arguments, captured);
  return captured;
}

// A function of its own, so that the short way needs no large frame.
[[gnu::noinline]] void run_fork(const void* return_address, ident* location, std::int32_t count, microtask outlined,
                                va_list list) {
  const caller from = caller_of(location, return_address, entry::kmpc);
  auto* const forward = real<fork_function>(from, symbol::__kmpc_fork_call);
  if (forward == nullptr) return;
  // The first lane begins the steering, which reads then what the program has set before its first region.
  lane_context context{};
  const bool has_lane = lookup(context);
  turn_block_time_at_fork(from);
  fork_frame frame;
  const int captured = read_arguments(frame.arguments, count, list);
  if (captured <= max_short && has_lane) {
    thunk_set& thunks = captured <= 4 ? kmpc_regions_few : kmpc_regions_medium;
    const void* const function = reinterpret_cast<const void*>(outlined);
    if (void* const thunk = open_outermost(from, function, context.state->requested_threads, source_of(location), thunks)) {
      hand_on(forward, location, reinterpret_cast<microtask>(thunk), captured, frame.arguments);
      return close_outermost();
    }
  }
  fork_region<member_main>(from, forward, location, outlined, captured, most_members(from), frame);
}

void ask_for_teams(const caller& from, std::int32_t limit) noexcept {
  lane_context context;
  if (!from.is_internal && limit > 0 && lookup(context)) context.state->teams_asked = static_cast<std::uint32_t>(limit);
}

}  // namespace
}  // namespace trimtab::openmp

using namespace trimtab::openmp;

TRIMTAB_HOOK void __kmpc_fork_call(ident* location, std::int32_t count, microtask outlined, ...) {
  const void* const return_address = __builtin_return_address(0);
  va_list list;
  va_start(list, outlined);
  fit_fork(location, outlined, return_address);
  const known_region* const region =
      count <= max_short ? open_short_region(reinterpret_cast<const void*>(outlined), return_address) : nullptr;
  if (region != nullptr) {
    turn_block_time_at_fork({region->of, false});
    void* arguments[max_short];
    const int captured = read_arguments(arguments, count, list);
    hand_on(real<fork_function>({region->of, false}, symbol::__kmpc_fork_call), location, outlined, captured, arguments);
    close_short_region();
  } else {
    run_fork(return_address, location, count, outlined, list);
  }
  va_end(list);
}

// teams on the host: a league, in which the first thread of each team forks regions of its own.
TRIMTAB_HOOK void __kmpc_fork_teams(ident* location, std::int32_t count, microtask outlined, ...) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<fork_function>(from, symbol::__kmpc_fork_teams);
  if (forward == nullptr) return;
  fork_frame frame;
  va_list list;
  va_start(list, outlined);
  const int captured = read_arguments(frame.arguments, count, list);
  va_end(list);
  fork_region<league_main>(from, forward, location, outlined, captured, most_teams(from), frame);
}

TRIMTAB_HOOK void __kmpc_push_num_teams(ident* location, std::int32_t thread, std::int32_t teams, std::int32_t threads) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  ask_for_teams(from, teams);
  if (auto* const forward =
          real<void(ident*, std::int32_t, std::int32_t, std::int32_t)>(from, symbol::__kmpc_push_num_teams))
    forward(location, thread, teams, threads);
}

TRIMTAB_HOOK void __kmpc_push_num_teams_51(ident* location, std::int32_t thread, std::int32_t lower, std::int32_t upper,
                                           std::int32_t threads) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  ask_for_teams(from, upper);
  if (auto* const forward =
          real<void(ident*, std::int32_t, std::int32_t, std::int32_t, std::int32_t)>(from, symbol::__kmpc_push_num_teams_51))
    forward(location, thread, lower, upper, threads);
}

// LLVM 16 and later: `if` clause decided by the runtime; a false condition runs the outlined function in place.
TRIMTAB_HOOK void __kmpc_fork_call_if(ident* location, std::int32_t count, microtask outlined, std::int32_t condition,
                                      void* argument) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  using function = void(ident*, std::int32_t, microtask, std::int32_t, void*);
  auto* const forward = real<function>(from, symbol::__kmpc_fork_call_if);
  if (forward == nullptr) return;
  if (condition != 0) fit_fork(location, outlined, __builtin_return_address(0));
  fork_frame frame;
  frame.arguments[0] = argument;
  clear_rest(frame.arguments, 1);
  if (from.is_internal || !is_recording.load(std::memory_order_relaxed) ||
      !fork_team(frame.shared, from, reinterpret_cast<const void*>(outlined), most_members(from), source_of(location)))
    return forward(location, count, outlined, condition, argument);
  frame.shared.arguments = 1;
  forward(location, 1, reinterpret_cast<microtask>(member_main), condition, &frame);
  join_team(frame.shared);
}

// A region with a false `if`, or too deep: clang runs the body in place between these two calls.
TRIMTAB_HOOK void __kmpc_serialized_parallel(ident* location, std::int32_t thread) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  auto* const forward = real<void(ident*, std::int32_t)>(from, symbol::__kmpc_serialized_parallel);
  if (forward == nullptr) return;
  forward(location, thread);
  lane_context context;
  if (from.is_internal || !lookup(context)) return;
  lane_state& state = *context.state;
  if (state.serialized < lane_state::max_serialized) {
    serialized_region& opened = state.serialized_regions[state.serialized];
    // The compiler may have copied the call (an unrolled loop): where it says which construct this is, by its
    // source, that is the identity; the record without a source is shared by all constructs.
    const void* const place = is_source_known(location) ? static_cast<const void*>(location) : TRIMTAB_PLACE;
    opened.is_recorded = fork_team(opened.shared, from, place, 1, source_of(location));
    if (opened.is_recorded) begin_member(opened.only, opened.shared, 0);
  }
  state.serialized += 1;
}

TRIMTAB_HOOK void __kmpc_end_serialized_parallel(ident* location, std::int32_t thread) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  lane_context context;
  if (!from.is_internal && lookup(context) && context.state->serialized > 0) {
    lane_state& state = *context.state;
    state.serialized -= 1;
    if (state.serialized < lane_state::max_serialized && state.serialized_regions[state.serialized].is_recorded) {
      serialized_region& closed = state.serialized_regions[state.serialized];
      end_member(closed.only, closed.shared);
      join_team(closed.shared);
    }
  }
  if (auto* const forward = real<void(ident*, std::int32_t)>(from, symbol::__kmpc_end_serialized_parallel))
    forward(location, thread);
}

TRIMTAB_HOOK void __kmpc_push_num_threads(ident* location, std::int32_t thread, std::int32_t threads) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  lane_context context;
  if (!from.is_internal && threads > 0 && lookup(context))
    context.state->requested_threads = static_cast<std::uint32_t>(threads);
  if (auto* const forward = real<void(ident*, std::int32_t, std::int32_t)>(from, symbol::__kmpc_push_num_threads))
    forward(location, thread, threads);
}
