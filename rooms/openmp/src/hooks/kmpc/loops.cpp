// Hooks of the work-sharing entry points that clang's code calls. Bounds, schedule and chunk stay as they are, unless the
// loop is one that is shared out in another way (loop_port.hpp).
#include "accounting/waits.hpp"
#include "hooks/kmpc/loop_port.hpp"
#include "hooks/kmpc/short_way.hpp"

namespace trimtab::openmp {
namespace {

using observe::schedule;

// last_here: of the part of the loop that falls to this team of a league; otherwise the loop's last.
template <class number, class signed_number>
void static_started(const caller& from, const void* return_address, const ident* location, std::int32_t kind, number first,
                    number last, number last_here, const number* lower, const number* upper, const signed_number* stride,
                    signed_number increment, signed_number chunk) noexcept {
  lane_context context;
  if (from.is_internal || !lookup(context)) return;
  const bool is_sections = location != nullptr && (location->flags & ident_work_sections) != 0;
  const schedule schedule_kind = is_sections ? schedule::sections : schedule_of_llvm(kind);
  if (is_left_to_sample(*context.state, schedule_kind)) return;
  const bool is_chunked = is_chunked_llvm(kind);
  const std::uint64_t size = is_chunked || schedule_kind == schedule::static_chunked ? static_cast<std::uint64_t>(chunk) : 0;
  begin_loop(context,
             {schedule_kind, size, inclusive_count(first, last, increment), increment, place_of_call(return_address)},
             source_of(location));
  const own_part part = is_chunked ? blocks_of(*lower, *upper, last_here, *stride, increment)
                                   : own_part{inclusive_count(*lower, *upper, increment), 1};
  take_chunk(context, static_cast<std::int64_t>(*lower), part.iterations);
  if (part.blocks > 1) context.state->loop.chunks += part.blocks - 1;
}

template <class number>
void dispatch_started(const caller& from, const void* place, const ident* location, std::int32_t kind, number first,
                      number last, std::int64_t increment, std::int64_t chunk) noexcept {
  begin_unshared_loop(from);
  lane_context context;
  if (from.is_internal || !lookup(context)) return;
  const schedule schedule_kind = schedule_of_llvm(kind);
  const bool is_chunk_known =
      schedule_kind == schedule::dynamic || schedule_kind == schedule::guided || schedule_kind == schedule::static_chunked;
  begin_loop(context,
             {schedule_kind, is_chunk_known ? static_cast<std::uint64_t>(chunk) : 0, inclusive_count(first, last, increment),
              increment, place},
             source_of(location));
}

template <class number>
void dispatch_answered(const caller& from, bool has_chunk, const number* lower, const number* upper) noexcept {
  if (!has_chunk) end_shared_loop(from);
  lane_context context;
  if (from.is_internal || !lookup(context)) return;
  if (has_chunk)
    take_chunk(context, static_cast<std::int64_t>(*lower), inclusive_count(*lower, *upper, context.state->loop.increment));
  else
    end_loop(context);
}

template <class number>
loop_to_share loop_of(schedule written, std::int64_t chunk, number first, number last, std::int64_t increment) noexcept {
  return {written,
          inclusive_count(first, last, increment),
          static_cast<std::uint64_t>(chunk),
          static_cast<std::uint64_t>(first),
          static_cast<std::uint64_t>(last),
          increment};
}

// Static loops whose blocks the runtime sets: one a thread (34), or of a chunk that go round (33); neither distribute's
// nor sections.
bool is_sharable_static(const ident* location, std::int32_t kind) noexcept {
  const std::int32_t bare = kind & ~schedule_modifiers;
  return (bare == 33 || bare == 34) && (location == nullptr || (location->flags & ident_work_sections) == 0);
}

// Dynamic loops that may be shared out in another way: neither ordered ones nor parts of a distribute.
bool is_sharable_dispatch(std::int32_t kind) noexcept {
  const std::int32_t bare = kind & ~schedule_modifiers;
  return bare == 35 || bare == 36 || bare == 37;
}

template <class number, class signed_number>
using static_init = void(ident*, std::int32_t, std::int32_t, std::int32_t*, number*, number*, signed_number*, signed_number,
                         signed_number);
using static_fini = void(ident*, std::int32_t);

// Between the calls around a loop whose iterations wait for earlier ones (doacross), which every member makes: such a loop
// is shared out as written.
constinit thread_local bool t_is_in_doacross = false;

// Where the hook returns to, for its long way. That has the hook's arguments and no more: so it is jumped to, and the short
// way copies nothing on the stack.
constinit thread_local const void* t_long_way = nullptr;

template <symbol which, short_call call, class number, class signed_number>
[[gnu::noinline]] void init_static(ident* location, std::int32_t thread, std::int32_t kind, std::int32_t* is_last,
                                   number* lower, number* upper, signed_number* stride, signed_number increment,
                                   signed_number chunk) {
  const void* const place = t_long_way;
  const caller from = caller_of(location, place, entry::kmpc);
  auto* const forward = real<static_init<number, signed_number>>(from, which);
  if (forward == nullptr) return;
  know_way<call>(from, place, forward);
  const number first = *lower, last = *upper;
  begin_unshared_loop(from);
  auto sharing = static_sharing::as_written;
  const loop_port* const port = port_of_team();
  if (port != nullptr && is_sharable_static(location, kind) && !t_is_in_doacross) {
    const std::int64_t written = is_chunked_llvm(kind) ? chunk : 0;
    sharing =
        port->kmpc->of<number>().begin_static(from, loop_of(schedule_of_llvm(kind), written, first, last, increment), chunk);
  }
  forward(location, thread, kind, is_last, lower, upper, stride, increment, chunk);
  if (sharing == static_sharing::by_block) port->kmpc->of<number>().set_block({is_last, lower, upper, nullptr});
  static_started(from, place, location, kind, first, last, last, lower, upper, stride, increment, chunk);
}

[[gnu::noinline]] void end_static(const void* place, ident* location, std::int32_t thread) {
  const caller from = caller_of(location, place, entry::kmpc);
  end_shared_loop(from);
  lane_context context;
  if (!from.is_internal && lookup(context)) end_loop(context);
  auto* const forward = real<static_fini>(from, symbol::__kmpc_for_static_fini);
  if (forward == nullptr) return;
  know_way<short_call::fini>(from, place, forward);
  forward(location, thread);
}

}  // namespace
}  // namespace trimtab::openmp

using namespace trimtab::openmp;

#define TRIMTAB_STATIC_INIT(name, call, number, signed_number)                                                        \
  TRIMTAB_HOOK void name(ident* where, std::int32_t thread, std::int32_t kind, std::int32_t* is_last, number* lower,  \
                         number* upper, signed_number* stride, signed_number increment, signed_number chunk) {        \
    const void* const place = __builtin_return_address(0);                                                            \
    if (auto* const known = short_way<call, static_init<number, signed_number>>(place)) [[likely]]                    \
      return known(where, thread, kind, is_last, lower, upper, stride, increment, chunk);                             \
    t_long_way = place;                                                                                               \
    return init_static<symbol::name, call, number, signed_number>(where, thread, kind, is_last, lower, upper, stride, \
                                                                  increment, chunk);                                  \
  }
TRIMTAB_STATIC_INIT(__kmpc_for_static_init_4, short_call::init_4, std::int32_t, std::int32_t)
TRIMTAB_STATIC_INIT(__kmpc_for_static_init_4u, short_call::init_4u, std::uint32_t, std::int32_t)
TRIMTAB_STATIC_INIT(__kmpc_for_static_init_8, short_call::init_8, std::int64_t, std::int64_t)
TRIMTAB_STATIC_INIT(__kmpc_for_static_init_8u, short_call::init_8u, std::uint64_t, std::int64_t)
#undef TRIMTAB_STATIC_INIT

// distribute and for in one: the runtime divides between teams, then between the threads of this one.
#define TRIMTAB_DIST_INIT(name, number, signed_number)                                                                \
  TRIMTAB_HOOK void name(ident* where, std::int32_t thread, std::int32_t kind, std::int32_t* is_last, number* lower,  \
                         number* upper, number* upper_of_team, signed_number* stride, signed_number increment,        \
                         signed_number chunk) {                                                                       \
    const caller from = caller_of(where, __builtin_return_address(0), entry::kmpc);                                   \
    auto* const forward = real<void(ident*, std::int32_t, std::int32_t, std::int32_t*, number*, number*, number*,     \
                                    signed_number*, signed_number, signed_number)>(from, symbol::name);               \
    if (forward == nullptr) return;                                                                                   \
    const number first = *lower, last = *upper;                                                                       \
    forward(where, thread, kind, is_last, lower, upper, upper_of_team, stride, increment, chunk);                     \
    static_started(from, __builtin_return_address(0), where, kind, first, last, *upper_of_team, lower, upper, stride, \
                   increment, chunk);                                                                                 \
  }
TRIMTAB_DIST_INIT(__kmpc_dist_for_static_init_4, std::int32_t, std::int32_t)
TRIMTAB_DIST_INIT(__kmpc_dist_for_static_init_4u, std::uint32_t, std::int32_t)
TRIMTAB_DIST_INIT(__kmpc_dist_for_static_init_8, std::int64_t, std::int64_t)
TRIMTAB_DIST_INIT(__kmpc_dist_for_static_init_8u, std::uint64_t, std::int64_t)
#undef TRIMTAB_DIST_INIT

TRIMTAB_HOOK void __kmpc_for_static_fini(ident* where, std::int32_t thread) {
  const void* const place = __builtin_return_address(0);
  if (auto* const call = short_way<short_call::fini, static_fini>(place)) [[likely]]
    return call(where, thread);
  end_static(place, where, thread);
}

#define TRIMTAB_DISPATCH(suffix, number, signed_number)                                                                   \
  TRIMTAB_HOOK void __kmpc_dispatch_init_##suffix(ident* where, std::int32_t thread, std::int32_t kind, number first,     \
                                                  number last, signed_number increment, signed_number chunk) {            \
    const caller from = caller_of(where, __builtin_return_address(0), entry::kmpc);                                       \
    auto* const forward = real<void(ident*, std::int32_t, std::int32_t, number, number, signed_number, signed_number)>(   \
        from, symbol::__kmpc_dispatch_init_##suffix);                                                                     \
    if (forward == nullptr) return;                                                                                       \
    dispatch_started(from, TRIMTAB_PLACE, where, kind, first, last, increment, chunk);                                    \
    const schedule written = schedule_of_llvm(kind);                                                                      \
    const loop_port* const port = is_sharable_dispatch(kind) && !t_is_in_doacross ? port_of_team() : nullptr;             \
    kmpc_request<number, signed_number> request;                                                                          \
    if (port == nullptr ||                                                                                                \
        !port->kmpc->of<number>().begin_dynamic(                                                                          \
            from, loop_of(written, written == schedule::runtime ? 0 : chunk, first, last, increment), request))           \
      return forward(where, thread, kind, first, last, increment, chunk);                                                 \
    forward(where, thread, request.kind, request.first, request.last, request.increment, request.chunk);                  \
  }                                                                                                                       \
  TRIMTAB_HOOK int __kmpc_dispatch_next_##suffix(ident* where, std::int32_t thread, std::int32_t* is_last, number* lower, \
                                                 number* upper, signed_number* stride) {                                  \
    const caller from = caller_of(where, __builtin_return_address(0), entry::kmpc);                                       \
    auto* const forward = real<int(ident*, std::int32_t, std::int32_t*, number*, number*, signed_number*)>(               \
        from, symbol::__kmpc_dispatch_next_##suffix);                                                                     \
    if (forward == nullptr) return 0;                                                                                     \
    const loop_port* const port = port_of_shared_loop();                                                                  \
    int is_more = 0;                                                                                                      \
    if (port == nullptr ||                                                                                                \
        !port->kmpc->of<number>().next(from, {forward, where, thread}, {is_last, lower, upper, stride}, is_more))         \
      is_more = forward(where, thread, is_last, lower, upper, stride);                                                    \
    dispatch_answered(from, is_more != 0, lower, upper);                                                                  \
    return is_more;                                                                                                       \
  }
TRIMTAB_DISPATCH(4, std::int32_t, std::int32_t)
TRIMTAB_DISPATCH(4u, std::uint32_t, std::int32_t)
TRIMTAB_DISPATCH(8, std::int64_t, std::int64_t)
TRIMTAB_DISPATCH(8u, std::uint64_t, std::int64_t)
#undef TRIMTAB_DISPATCH

TRIMTAB_HOOK void __kmpc_doacross_init(ident* location, std::int32_t thread, std::int32_t dimensions, const void* bounds) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  t_is_in_doacross = true;
  if (auto* const forward = real<void(ident*, std::int32_t, std::int32_t, const void*)>(from, symbol::__kmpc_doacross_init))
    forward(location, thread, dimensions, bounds);
}

TRIMTAB_HOOK void __kmpc_doacross_fini(ident* location, std::int32_t thread) {
  const caller from = caller_of(location, __builtin_return_address(0), entry::kmpc);
  t_is_in_doacross = false;
  if (auto* const forward = real<void(ident*, std::int32_t)>(from, symbol::__kmpc_doacross_fini)) forward(location, thread);
}

#define TRIMTAB_DIST_DISPATCH(name, number, signed_number)                                                           \
  TRIMTAB_HOOK void name(ident* where, std::int32_t thread, std::int32_t kind, std::int32_t* is_last, number first,  \
                         number last, signed_number increment, signed_number chunk) {                                \
    const caller from = caller_of(where, __builtin_return_address(0), entry::kmpc);                                  \
    auto* const forward =                                                                                            \
        real<void(ident*, std::int32_t, std::int32_t, std::int32_t*, number, number, signed_number, signed_number)>( \
            from, symbol::name);                                                                                     \
    if (forward == nullptr) return;                                                                                  \
    dispatch_started(from, TRIMTAB_PLACE, where, kind, first, last, increment, chunk);                               \
    forward(where, thread, kind, is_last, first, last, increment, chunk);                                            \
  }
TRIMTAB_DIST_DISPATCH(__kmpc_dist_dispatch_init_4, std::int32_t, std::int32_t)
TRIMTAB_DIST_DISPATCH(__kmpc_dist_dispatch_init_4u, std::uint32_t, std::int32_t)
TRIMTAB_DIST_DISPATCH(__kmpc_dist_dispatch_init_8, std::int64_t, std::int64_t)
TRIMTAB_DIST_DISPATCH(__kmpc_dist_dispatch_init_8u, std::uint64_t, std::int64_t)
#undef TRIMTAB_DIST_DISPATCH
