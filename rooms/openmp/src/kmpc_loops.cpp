// Hooks of the work-sharing entry points that clang's code calls. Bounds, schedule and chunk stay as they are.
#include "kmpc_ident.hpp"

namespace trimtab::openmp {
namespace {

using observe::schedule;

// last_here: of the part of the loop that falls to this team of a league; otherwise the loop's last.
template <class number, class signed_number>
void static_started(const caller& from, const void* place, const ident* where, std::int32_t kind, number first, number last,
                    number last_here, const number* lower, const number* upper, const signed_number* stride,
                    signed_number increment, signed_number chunk) noexcept {
  here at;
  if (from.is_internal || !find_here(at)) return;
  const bool is_sections = where != nullptr && (where->flags & ident_work_sections) != 0;
  const schedule how = is_sections ? schedule::sections : schedule_of_llvm(kind);
  const bool is_chunked = is_chunked_llvm(kind);
  const std::uint64_t size = is_chunked || how == schedule::static_chunked ? static_cast<std::uint64_t>(chunk) : 0;
  begin_loop(at, {how, size, inclusive_count(first, last, increment), increment, place}, source_of(where));
  const own_part mine = is_chunked ? blocks_of(*lower, *upper, last_here, *stride, increment)
                                   : own_part{inclusive_count(*lower, *upper, increment), 1};
  take_chunk(at, static_cast<std::int64_t>(*lower), mine.iterations);
  if (mine.blocks > 1) at.state->loop.chunks += mine.blocks - 1;
}

template <class number>
void dispatch_started(const caller& from, const void* place, const ident* where, std::int32_t kind, number first,
                      number last, std::int64_t increment, std::int64_t chunk) noexcept {
  here at;
  if (from.is_internal || !find_here(at)) return;
  const schedule how = schedule_of_llvm(kind);
  const bool is_chunk_known = how == schedule::dynamic || how == schedule::guided || how == schedule::static_chunked;
  begin_loop(at,
             {how, is_chunk_known ? static_cast<std::uint64_t>(chunk) : 0, inclusive_count(first, last, increment),
              increment, place},
             source_of(where));
}

template <class number>
void dispatch_answered(const caller& from, bool is_more, const number* lower, const number* upper) noexcept {
  here at;
  if (from.is_internal || !find_here(at)) return;
  if (is_more)
    take_chunk(at, static_cast<std::int64_t>(*lower), inclusive_count(*lower, *upper, at.state->loop.increment));
  else
    end_loop(at);
}

}  // namespace
}  // namespace trimtab::openmp

using namespace trimtab::openmp;

#define TRIMTAB_STATIC_INIT(name, number, signed_number)                                                                 \
  TRIMTAB_HOOK void name(ident* where, std::int32_t thread, std::int32_t kind, std::int32_t* is_last, number* lower,     \
                         number* upper, signed_number* stride, signed_number increment, signed_number chunk) {           \
    const caller from = caller_of(where, __builtin_return_address(0), entry::kmpc);                                      \
    auto* const forward = real<void(ident*, std::int32_t, std::int32_t, std::int32_t*, number*, number*, signed_number*, \
                                    signed_number, signed_number)>(from, symbol::name);                                  \
    if (forward == nullptr) return;                                                                                      \
    const number first = *lower, last = *upper;                                                                          \
    forward(where, thread, kind, is_last, lower, upper, stride, increment, chunk);                                       \
    static_started(from, TRIMTAB_PLACE, where, kind, first, last, last, lower, upper, stride, increment, chunk);         \
  }
TRIMTAB_STATIC_INIT(__kmpc_for_static_init_4, std::int32_t, std::int32_t)
TRIMTAB_STATIC_INIT(__kmpc_for_static_init_4u, std::uint32_t, std::int32_t)
TRIMTAB_STATIC_INIT(__kmpc_for_static_init_8, std::int64_t, std::int64_t)
TRIMTAB_STATIC_INIT(__kmpc_for_static_init_8u, std::uint64_t, std::int64_t)
#undef TRIMTAB_STATIC_INIT

// distribute and for in one: the runtime divides between teams, then between the threads of this one.
#define TRIMTAB_DIST_INIT(name, number, signed_number)                                                                     \
  TRIMTAB_HOOK void name(ident* where, std::int32_t thread, std::int32_t kind, std::int32_t* is_last, number* lower,       \
                         number* upper, number* upper_of_team, signed_number* stride, signed_number increment,             \
                         signed_number chunk) {                                                                            \
    const caller from = caller_of(where, __builtin_return_address(0), entry::kmpc);                                        \
    auto* const forward = real<void(ident*, std::int32_t, std::int32_t, std::int32_t*, number*, number*, number*,          \
                                    signed_number*, signed_number, signed_number)>(from, symbol::name);                    \
    if (forward == nullptr) return;                                                                                        \
    const number first = *lower, last = *upper;                                                                            \
    forward(where, thread, kind, is_last, lower, upper, upper_of_team, stride, increment, chunk);                          \
    static_started(from, TRIMTAB_PLACE, where, kind, first, last, *upper_of_team, lower, upper, stride, increment, chunk); \
  }
TRIMTAB_DIST_INIT(__kmpc_dist_for_static_init_4, std::int32_t, std::int32_t)
TRIMTAB_DIST_INIT(__kmpc_dist_for_static_init_4u, std::uint32_t, std::int32_t)
TRIMTAB_DIST_INIT(__kmpc_dist_for_static_init_8, std::int64_t, std::int64_t)
TRIMTAB_DIST_INIT(__kmpc_dist_for_static_init_8u, std::uint64_t, std::int64_t)
#undef TRIMTAB_DIST_INIT

TRIMTAB_HOOK void __kmpc_for_static_fini(ident* where, std::int32_t thread) {
  const caller from = caller_of(where, __builtin_return_address(0), entry::kmpc);
  here at;
  if (!from.is_internal && find_here(at)) end_loop(at);
  if (auto* const forward = real<void(ident*, std::int32_t)>(from, symbol::__kmpc_for_static_fini)) forward(where, thread);
}

#define TRIMTAB_DISPATCH(suffix, number, signed_number)                                                                   \
  TRIMTAB_HOOK void __kmpc_dispatch_init_##suffix(ident* where, std::int32_t thread, std::int32_t kind, number first,     \
                                                  number last, signed_number increment, signed_number chunk) {            \
    const caller from = caller_of(where, __builtin_return_address(0), entry::kmpc);                                       \
    auto* const forward = real<void(ident*, std::int32_t, std::int32_t, number, number, signed_number, signed_number)>(   \
        from, symbol::__kmpc_dispatch_init_##suffix);                                                                     \
    if (forward == nullptr) return;                                                                                       \
    dispatch_started(from, TRIMTAB_PLACE, where, kind, first, last, increment, chunk);                                    \
    forward(where, thread, kind, first, last, increment, chunk);                                                          \
  }                                                                                                                       \
  TRIMTAB_HOOK int __kmpc_dispatch_next_##suffix(ident* where, std::int32_t thread, std::int32_t* is_last, number* lower, \
                                                 number* upper, signed_number* stride) {                                  \
    const caller from = caller_of(where, __builtin_return_address(0), entry::kmpc);                                       \
    auto* const forward = real<int(ident*, std::int32_t, std::int32_t*, number*, number*, signed_number*)>(               \
        from, symbol::__kmpc_dispatch_next_##suffix);                                                                     \
    if (forward == nullptr) return 0;                                                                                     \
    const int is_more = forward(where, thread, is_last, lower, upper, stride);                                            \
    dispatch_answered(from, is_more != 0, lower, upper);                                                                  \
    return is_more;                                                                                                       \
  }
TRIMTAB_DISPATCH(4, std::int32_t, std::int32_t)
TRIMTAB_DISPATCH(4u, std::uint32_t, std::int32_t)
TRIMTAB_DISPATCH(8, std::int64_t, std::int64_t)
TRIMTAB_DISPATCH(8u, std::uint64_t, std::int64_t)
#undef TRIMTAB_DISPATCH

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
