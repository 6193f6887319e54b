// What the hooks of GCC's loops call where a loop may be shared out in another way. The steering side has the functions.
#pragma once

#include <type_traits>

#include "accounting/steering_ports.hpp"
#include "hooks/hook.hpp"

namespace trimtab::openmp {

// Loops whose bounds are of that type. False: the loop is as the program wrote it, and nothing was asked.
template <class number>
struct gomp_loop_calls {
  // In the place of the runtime's start and next; is_more: what they would have returned.
  bool (*start)(const caller& from, const loop_to_share& loop, bool is_up, number* begin, number* end, bool& is_more);
  bool (*next)(const caller& from, number* begin, number* end, bool& is_more);
};

// A fork that starts a loop, too, as the program has written it.
struct forked_loop {
  loop_to_share loop;
  unsigned clause;
  unsigned flags;
};

struct gomp_loop_port {
  gomp_loop_calls<long> of_long;
  gomp_loop_calls<unsigned long long> of_ull;
  // Forks the team, in the place of the runtime's function. False: nothing was forked.
  bool (*fork)(const caller& from, team& opened, const forked_loop& written, gomp_function function, void* data);

  template <class number>
  const gomp_loop_calls<number>& of() const noexcept {
    if constexpr (std::is_same_v<number, long>)
      return of_long;
    else
      return of_ull;
  }
};

// False: as in gomp_loop_calls.
template <class number>
bool start_shared_loop(const caller& from, const loop_to_share& loop, bool is_ascending, number* begin, number* end,
                       bool& has_chunk) {
  const loop_port* const port = port_of_team();
  return port != nullptr && port->gomp->of<number>().start(from, loop, is_ascending, begin, end, has_chunk);
}
template <class number>
bool next_of_shared_loop(const caller& from, number* begin, number* end, bool& has_chunk) {
  const loop_port* const port = port_of_shared_loop();
  return port != nullptr && port->gomp->of<number>().next(from, begin, end, has_chunk);
}

}  // namespace trimtab::openmp
