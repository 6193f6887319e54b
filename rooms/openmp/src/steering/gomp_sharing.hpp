// Loops that GCC's code asks for, shared out by a plan: which of the runtime's functions are called instead.
#pragma once

#include <algorithm>

#include "hooks/gomp/loop_port.hpp"
#include "hooks/hook.hpp"
#include "steering/claimed_loops.hpp"

namespace trimtab::openmp {

// The iterations [begin, end), in the program's numbers.
template <class number>
void set_chunk(const steered_thread& self, std::uint64_t begin, std::uint64_t end, number& from, number& to) noexcept {
  const auto increment = static_cast<std::uint64_t>(self.loop.increment);
  from = static_cast<number>(self.loop.first + begin * increment);
  to = static_cast<number>(end >= self.loop.trip ? self.loop.last : self.loop.first + end * increment);
}
// The chunk behind the tickets [from, to).
template <class number>
void find_chunk(steered_thread& self, number& from, number& to) noexcept {
  const std::uint64_t begin = self.tickets.begin_of(static_cast<std::uint64_t>(from));
  set_chunk(self, begin, self.tickets.begin_of(static_cast<std::uint64_t>(to)), from, to);
}

template <class number>
symbol start_of(sharing method) noexcept {
  constexpr bool is_long = std::is_same_v<number, long>;
  if (method == sharing::static_) return is_long ? symbol::GOMP_loop_static_start : symbol::GOMP_loop_ull_static_start;
  if (method == sharing::guided) return is_long ? symbol::GOMP_loop_guided_start : symbol::GOMP_loop_ull_guided_start;
  return is_long ? symbol::GOMP_loop_dynamic_start : symbol::GOMP_loop_ull_dynamic_start;
}
template <class number>
symbol next_of(sharing method) noexcept {
  constexpr bool is_long = std::is_same_v<number, long>;
  if (method == sharing::static_) return is_long ? symbol::GOMP_loop_static_next : symbol::GOMP_loop_ull_static_next;
  if (method == sharing::guided) return is_long ? symbol::GOMP_loop_guided_next : symbol::GOMP_loop_ull_guided_next;
  return is_long ? symbol::GOMP_loop_dynamic_next : symbol::GOMP_loop_ull_dynamic_next;
}

// Whether all that may be called instead is there.
inline bool can_share(const caller& from) noexcept {
  constexpr symbol needed[] = {
      symbol::GOMP_loop_static_start,     symbol::GOMP_loop_static_next,      symbol::GOMP_loop_dynamic_start,
      symbol::GOMP_loop_dynamic_next,     symbol::GOMP_loop_guided_start,     symbol::GOMP_loop_guided_next,
      symbol::GOMP_loop_ull_static_start, symbol::GOMP_loop_ull_static_next,  symbol::GOMP_loop_ull_dynamic_start,
      symbol::GOMP_loop_ull_dynamic_next, symbol::GOMP_loop_ull_guided_start, symbol::GOMP_loop_ull_guided_next,
      symbol::GOMP_parallel_loop_static,  symbol::GOMP_parallel_loop_dynamic, symbol::GOMP_parallel_loop_guided};
  return from.of != nullptr && std::all_of(std::begin(needed), std::end(needed), [&](symbol name) {
           return from.of->functions[static_cast<unsigned>(name)] != nullptr;
         });
}

// The next chunk of a loop whose chunks members claim themselves.
template <class number>
bool next_claimed(const caller& from, steered_thread& self, number* begin, number* end) {
  return next_claimed(
      self, [&](std::uint64_t first, std::uint64_t last) { set_chunk(self, first, last, *begin, *end); },
      [&] {
        number ticket = 0, after = 0;
        return real<bool(number*, number*)>(from, next_of<number>(sharing::dynamic))(&ticket, &after);
      });
}

// The loop that t_steered has, which starts here.
template <class number>
bool start_shared(const caller& from, const loop_plan& plan, bool is_ascending, number* begin, number* end) {
  steered_thread& self = t_steered;
  const runtime_loop request = runtime_loop_of(plan, self.loop, self.members, self.tickets);
  const auto first = static_cast<number>(request.first), last = static_cast<number>(request.last);
  const auto increment = static_cast<number>(request.increment), chunk = static_cast<number>(request.chunk);
  bool has_chunk = false;
  if constexpr (std::is_same_v<number, long>)
    has_chunk = real<bool(long, long, long, long, long*, long*)>(from, start_of<number>(request.by))(first, last, increment,
                                                                                                     chunk, begin, end);
  else
    has_chunk = real<bool(bool, number, number, number, number, number*, number*)>(from, start_of<number>(request.by))(
        is_renumbered(plan.how) || is_ascending, first, last, increment, chunk, begin, end);
  if (is_claimed(plan.how)) {
    self.are_tickets_over = !has_chunk;
    return next_claimed(from, self, begin, end);
  }
  if (has_chunk && has_tickets(plan.how)) find_chunk(self, *begin, *end);
  return has_chunk;
}

template <class number>
bool next_shared(const caller& from, steered_thread& self, number* begin, number* end) {
  if (is_claimed(self.plan->how)) return next_claimed(from, self, begin, end);
  const bool has_chunk = real<bool(number*, number*)>(from, next_of<number>(self.plan->how))(begin, end);
  if (has_chunk && has_tickets(self.plan->how)) find_chunk(self, *begin, *end);
  return has_chunk;
}

// The same where the fork starts the loop.
inline void fork_shared(const caller& from, const loop_plan& plan, const team& own_team, const forked_loop& written,
                        gomp_function function, void* data) {
  const ticket_chunks tickets = tickets_of(plan, own_team.shared_loop, own_team.shared_members);
  const runtime_loop request = runtime_loop_of(plan, own_team.shared_loop, own_team.shared_members, tickets);
  const symbol start_symbol = request.by == sharing::static_  ? symbol::GOMP_parallel_loop_static
                              : request.by == sharing::guided ? symbol::GOMP_parallel_loop_guided
                                                              : symbol::GOMP_parallel_loop_dynamic;
  real<void(gomp_function, void*, unsigned, long, long, long, long, unsigned)>(from, start_symbol)(
      function, data, written.clause, static_cast<long>(request.first), static_cast<long>(request.last), request.increment,
      static_cast<long>(request.chunk), written.flags);
}

}  // namespace trimtab::openmp
