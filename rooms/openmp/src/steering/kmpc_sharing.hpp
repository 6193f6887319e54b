// Loops that clang's code asks for, shared out by a plan: what the runtime is asked for instead.
#pragma once

#include "hooks/kmpc/loop_port.hpp"
#include "steering/claimed_loops.hpp"

namespace trimtab::openmp {

// One block a thread that takes as long as each other's, as far as is known.
template <class number, class signed_number>
void set_weighted_block(const kmpc_part<number, signed_number>& into) noexcept {
  const steered_thread& mine = t_steered;
  const cost_profile& costs = mine.plan->costs;
  const std::uint64_t begin = costs.cut(mine.number, mine.members, mine.loop.trip);
  const std::uint64_t end = costs.cut(mine.number + 1, mine.members, mine.loop.trip);
  const auto increment = static_cast<std::uint64_t>(mine.loop.increment);
  *into.lower = static_cast<number>(mine.loop.first + begin * increment);
  *into.upper = static_cast<number>(mine.loop.first + (end - 1) * increment);
  if (into.is_last != nullptr) *into.is_last = end == mine.loop.trip ? 1 : 0;
}

// A kind of the interface. Always monotonic: LLVM 19 gives nonmonotonic dynamic loops ranges of their own with stealing, and
// then may tell the wrong thread that it has the last iteration (lastprivate); and tickets are to be handed out in their
// order.
inline std::int32_t kind_of(const runtime_loop& asked) noexcept {
  constexpr std::int32_t static_chunked = 33, static_ = 34, dynamic = 35, guided = 36, monotonic = 1 << 29;
  if (asked.by == sharing::static_) return asked.chunk == 0 ? static_ : static_chunked;
  return (asked.by == sharing::guided ? guided : dynamic) | monotonic;
}

// The iterations [begin, end), in the program's numbers.
template <class number, class signed_number>
void set_chunk(const steered_thread& mine, std::uint64_t begin, std::uint64_t end,
               const kmpc_part<number, signed_number>& into) noexcept {
  const auto increment = static_cast<std::uint64_t>(mine.loop.increment);
  *into.lower = static_cast<number>(mine.loop.first + begin * increment);
  *into.upper = static_cast<number>(mine.loop.first + (end - 1) * increment);
  if (into.stride != nullptr) *into.stride = static_cast<signed_number>(mine.loop.increment);
}
// The chunk behind the tickets [lower, upper].
template <class number, class signed_number>
void find_chunk(steered_thread& mine, const kmpc_part<number, signed_number>& into) noexcept {
  const std::uint64_t begin = mine.tickets.begin_of(static_cast<std::uint64_t>(*into.lower));
  set_chunk(mine, begin, mine.tickets.begin_of(static_cast<std::uint64_t>(*into.upper) + 1), into);
}

template <class number, class signed_number>
int next_claimed_chunk(steered_thread& mine, const kmpc_next<number, signed_number>& runtimes_own,
                       const kmpc_part<number, signed_number>& into) {
  const auto take = [&](std::uint64_t begin, std::uint64_t end) {
    set_chunk(mine, begin, end, into);
    if (into.is_last != nullptr) *into.is_last = end == mine.loop.trip ? 1 : 0;
  };
  const auto next_ticket = [&] {
    std::int32_t last = 0;
    number lower = 0, upper = 0;
    signed_number stride = 0;
    return runtimes_own(&last, &lower, &upper, &stride) != 0;
  };
  return next_claimed(mine, take, next_ticket) ? 1 : 0;
}

// What a thread gets of a loop that is shared out in another way.
template <class number, class signed_number>
int next_shared(steered_thread& mine, const kmpc_next<number, signed_number>& runtimes_own,
                const kmpc_part<number, signed_number>& into) {
  if (is_claimed(mine.plan->how)) return next_claimed_chunk(mine, runtimes_own, into);
  const int is_more = runtimes_own(into.is_last, into.lower, into.upper, into.stride);
  if (is_more != 0 && has_tickets(mine.plan->how)) find_chunk(mine, into);
  return is_more;
}

}  // namespace trimtab::openmp
