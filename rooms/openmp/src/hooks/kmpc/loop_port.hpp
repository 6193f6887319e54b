// What the hooks of clang's loops call where a loop may be shared out in another way. The steering side has the functions.
#pragma once

#include <cstdint>
#include <type_traits>

#include "accounting/steering_ports.hpp"
#include "hooks/kmpc/ident.hpp"

namespace trimtab::openmp {

// Where the runtime writes what a thread gets. nullptr: not asked for.
template <class number, class signed_number>
struct kmpc_part {
  std::int32_t* is_last;
  number* lower;
  number* upper;
  signed_number* stride;
};

// What the runtime is asked for in the place of a dynamic loop.
template <class number, class signed_number>
struct kmpc_request {
  std::int32_t kind;
  number first, last;
  signed_number increment, chunk;
};

// The runtime's own next, and who calls it.
template <class number, class signed_number>
struct kmpc_next {
  int (*function)(ident*, std::int32_t, std::int32_t*, number*, number*, signed_number*);
  ident* where;
  std::int32_t thread;

  int operator()(std::int32_t* is_last, number* lower, number* upper, signed_number* stride) const {
    return function(where, thread, is_last, lower, upper, stride);
  }
};

enum class static_sharing : std::uint8_t {
  as_written,
  by_chunk,  // the runtime is given another chunk
  by_block,  // set_block overwrites what the runtime has set
};

// Loops whose bounds are of these types.
template <class number, class signed_number>
struct kmpc_loop_calls {
  static_sharing (*begin_static)(const caller& from, const loop_to_share& loop, signed_number& chunk) noexcept;
  void (*set_block)(const kmpc_part<number, signed_number>& into) noexcept;
  // False: as the program wrote it.
  bool (*begin_dynamic)(const caller& from, const loop_to_share& loop,
                        kmpc_request<number, signed_number>& request) noexcept;
  // In the place of the runtime's next; is_more: what it would have returned. False: nothing was asked.
  bool (*next)(const caller& from, const kmpc_next<number, signed_number>& runtimes_own,
               const kmpc_part<number, signed_number>& into, int& is_more);
};

struct kmpc_loop_port {
  kmpc_loop_calls<std::int32_t, std::int32_t> of_4;
  kmpc_loop_calls<std::uint32_t, std::int32_t> of_4u;
  kmpc_loop_calls<std::int64_t, std::int64_t> of_8;
  kmpc_loop_calls<std::uint64_t, std::int64_t> of_8u;

  template <class number>
  const auto& of() const noexcept {
    if constexpr (std::is_same_v<number, std::int32_t>)
      return of_4;
    else if constexpr (std::is_same_v<number, std::uint32_t>)
      return of_4u;
    else if constexpr (std::is_same_v<number, std::int64_t>)
      return of_8;
    else
      return of_8u;
  }
};

}  // namespace trimtab::openmp
