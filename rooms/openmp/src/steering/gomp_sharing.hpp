// Loops that GCC's code asks for, shared out by a plan: which of the runtime's functions are called instead.
#pragma once

#include <algorithm>

#include "hooks/hook.hpp"
#include "steering/claimed_loops.hpp"

namespace trimtab::openmp {

// The iterations [begin, end), in the program's numbers.
template <class number>
void set_chunk(const steered_thread& mine, std::uint64_t begin, std::uint64_t end, number& from, number& to) noexcept {
  const auto increment = static_cast<std::uint64_t>(mine.loop.increment);
  from = static_cast<number>(mine.loop.first + begin * increment);
  to = static_cast<number>(end >= mine.loop.trip ? mine.loop.last : mine.loop.first + end * increment);
}
// The chunk behind the tickets [from, to).
template <class number>
void find_chunk(steered_thread& mine, number& from, number& to) noexcept {
  const std::uint64_t begin = mine.tickets.begin_of(static_cast<std::uint64_t>(from));
  set_chunk(mine, begin, mine.tickets.begin_of(static_cast<std::uint64_t>(to)), from, to);
}

template <class number>
symbol start_of(sharing how) noexcept {
  constexpr bool is_long = std::is_same_v<number, long>;
  if (how == sharing::static_) return is_long ? symbol::GOMP_loop_static_start : symbol::GOMP_loop_ull_static_start;
  if (how == sharing::guided) return is_long ? symbol::GOMP_loop_guided_start : symbol::GOMP_loop_ull_guided_start;
  return is_long ? symbol::GOMP_loop_dynamic_start : symbol::GOMP_loop_ull_dynamic_start;
}
template <class number>
symbol next_of(sharing how) noexcept {
  constexpr bool is_long = std::is_same_v<number, long>;
  if (how == sharing::static_) return is_long ? symbol::GOMP_loop_static_next : symbol::GOMP_loop_ull_static_next;
  if (how == sharing::guided) return is_long ? symbol::GOMP_loop_guided_next : symbol::GOMP_loop_ull_guided_next;
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
  return from.of != nullptr && std::all_of(std::begin(needed), std::end(needed), [&](symbol each) {
           return from.of->functions[static_cast<unsigned>(each)] != nullptr;
         });
}

// The next chunk of a loop whose chunks members claim themselves.
template <class number>
bool next_claimed(const caller& from, steered_thread& mine, number* begin, number* end) {
  return next_claimed(
      mine, [&](std::uint64_t first, std::uint64_t last) { set_chunk(mine, first, last, *begin, *end); },
      [&] {
        number ticket = 0, after = 0;
        return real<bool(number*, number*)>(from, next_of<number>(sharing::dynamic))(&ticket, &after);
      });
}

// The loop that t_steered has, which starts here.
template <class number>
bool start_shared(const caller& from, const loop_plan& plan, bool is_up, number* begin, number* end) {
  steered_thread& mine = t_steered;
  const runtime_loop ask = runtime_loop_of(plan, mine.loop, mine.members, mine.tickets);
  const auto first = static_cast<number>(ask.first), last = static_cast<number>(ask.last);
  const auto increment = static_cast<number>(ask.increment), chunk = static_cast<number>(ask.chunk);
  bool is_more = false;
  if constexpr (std::is_same_v<number, long>)
    is_more = real<bool(long, long, long, long, long*, long*)>(from, start_of<number>(ask.by))(first, last, increment, chunk,
                                                                                               begin, end);
  else
    is_more = real<bool(bool, number, number, number, number, number*, number*)>(from, start_of<number>(ask.by))(
        is_renumbered(plan.how) || is_up, first, last, increment, chunk, begin, end);
  if (is_claimed(plan.how)) {
    mine.are_tickets_over = !is_more;
    return next_claimed(from, mine, begin, end);
  }
  if (is_more && has_tickets(plan.how)) find_chunk(mine, *begin, *end);
  return is_more;
}

template <class number>
bool next_shared(const caller& from, steered_thread& mine, number* begin, number* end) {
  if (is_claimed(mine.plan->how)) return next_claimed(from, mine, begin, end);
  const bool is_more = real<bool(number*, number*)>(from, next_of<number>(mine.plan->how))(begin, end);
  if (is_more && has_tickets(mine.plan->how)) find_chunk(mine, *begin, *end);
  return is_more;
}

// The same where the fork starts the loop.
inline void fork_shared(const caller& from, const loop_plan& plan, const team& of, const forked_loop& written,
                        gomp_function function, void* data) {
  const ticket_chunks tickets = tickets_of(plan, of.shared_loop, of.shared_members);
  const runtime_loop ask = runtime_loop_of(plan, of.shared_loop, of.shared_members, tickets);
  const symbol which = ask.by == sharing::static_  ? symbol::GOMP_parallel_loop_static
                       : ask.by == sharing::guided ? symbol::GOMP_parallel_loop_guided
                                                   : symbol::GOMP_parallel_loop_dynamic;
  real<void(gomp_function, void*, unsigned, long, long, long, long, unsigned)>(from, which)(
      function, data, written.clause, static_cast<long>(ask.first), static_cast<long>(ask.last), ask.increment,
      static_cast<long>(ask.chunk), written.flags);
}

}  // namespace trimtab::openmp
