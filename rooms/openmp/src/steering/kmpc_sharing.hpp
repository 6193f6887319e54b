// Loops that clang's code asks for, shared out by a plan: what the runtime is asked for instead.
#pragma once

#include "hooks/kmpc/loop_port.hpp"
#include "steering/claimed_loops.hpp"

namespace trimtab::openmp {

// One block a thread that takes as long as each other's, as far as is known.
template <class number, class signed_number>
void set_weighted_block(const kmpc_part<number, signed_number>& target) noexcept {
  const steered_thread& self = t_steered;
  const cost_profile& costs = self.plan->costs;
  const std::uint64_t begin = costs.cut(self.number, self.members, self.loop.trip);
  const std::uint64_t end = costs.cut(self.number + 1, self.members, self.loop.trip);
  const auto increment = static_cast<std::uint64_t>(self.loop.increment);
  *target.lower = static_cast<number>(self.loop.first + begin * increment);
  *target.upper = static_cast<number>(self.loop.first + (end - 1) * increment);
  if (target.is_last != nullptr) *target.is_last = end == self.loop.trip ? 1 : 0;
}

// A kind of the interface. Always monotonic: LLVM 19 gives nonmonotonic dynamic loops ranges of their own with stealing, and
// then may tell the wrong thread that it has the last iteration (lastprivate); and tickets are to be handed out in their
// order.
inline std::int32_t kind_of(const runtime_loop& request) noexcept {
  constexpr std::int32_t static_chunked = 33, static_ = 34, dynamic = 35, guided = 36, monotonic = 1 << 29;
  if (request.by == sharing::static_) return request.chunk == 0 ? static_ : static_chunked;
  return (request.by == sharing::guided ? guided : dynamic) | monotonic;
}

// The iterations [begin, end), in the program's numbers.
template <class number, class signed_number>
void set_chunk(const steered_thread& self, std::uint64_t begin, std::uint64_t end,
               const kmpc_part<number, signed_number>& target) noexcept {
  const auto increment = static_cast<std::uint64_t>(self.loop.increment);
  *target.lower = static_cast<number>(self.loop.first + begin * increment);
  *target.upper = static_cast<number>(self.loop.first + (end - 1) * increment);
  if (target.stride != nullptr) *target.stride = static_cast<signed_number>(self.loop.increment);
}
// The chunk behind the tickets [lower, upper].
template <class number, class signed_number>
void find_chunk(steered_thread& self, const kmpc_part<number, signed_number>& target) noexcept {
  const std::uint64_t begin = self.tickets.begin_of(static_cast<std::uint64_t>(*target.lower));
  set_chunk(self, begin, self.tickets.begin_of(static_cast<std::uint64_t>(*target.upper) + 1), target);
}

template <class number, class signed_number>
int next_claimed_chunk(steered_thread& self, const kmpc_next<number, signed_number>& runtimes_own,
                       const kmpc_part<number, signed_number>& target) {
  const auto hand_out = [&](std::uint64_t begin, std::uint64_t end) {
    set_chunk(self, begin, end, target);
    if (target.is_last != nullptr) *target.is_last = end == self.loop.trip ? 1 : 0;
  };
  const auto next_ticket = [&] {
    std::int32_t last = 0;
    number lower = 0, upper = 0;
    signed_number stride = 0;
    return runtimes_own(&last, &lower, &upper, &stride) != 0;
  };
  return next_claimed(self, hand_out, next_ticket) ? 1 : 0;
}

// What a thread gets of a loop that is shared out in another way.
template <class number, class signed_number>
int next_shared(steered_thread& self, const kmpc_next<number, signed_number>& runtimes_own,
                const kmpc_part<number, signed_number>& target) {
  if (is_claimed(self.plan->how)) return next_claimed_chunk(self, runtimes_own, target);
  const int has_chunk = runtimes_own(target.is_last, target.lower, target.upper, target.stride);
  if (has_chunk != 0 && has_tickets(self.plan->how)) find_chunk(self, target);
  return has_chunk;
}

}  // namespace trimtab::openmp
