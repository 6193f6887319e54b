// Hooks of GCC's doacross loops: ordered(n) with depend(sink: ...). Their chunks come through the ordinary
// GOMP_loop_*_next; a wait for another iteration is a wait for order.
#include <cstdarg>

#include "accounting/waits.hpp"
#include "hooks/hook.hpp"

namespace trimtab::openmp {
namespace {

using observe::schedule;

// The loop runs from 0 to counts[0], in steps of 1; inner dimensions are iterated by the program.
template <class number>
void started(const caller& from, const void* place, schedule kind, unsigned dimensions, const number* counts,
             std::uint64_t chunk) noexcept {
  lane_context context;
  if (from.is_internal || !lookup(context)) return;
  begin_loop(context, {kind, chunk, static_cast<std::uint64_t>(counts[0]), 1, place});
  context.state->loop.dimensions = dimensions;
}

template <class number>
void answered(const caller& from, bool has_chunk, const number* first, const number* last) noexcept {
  lane_context context;
  if (from.is_internal || first == nullptr || last == nullptr || !lookup(context)) return;
  if (has_chunk)
    take_chunk(context, static_cast<std::int64_t>(*first), count_of(*first, *last, 1));
  else
    end_loop(context);
}

// More dimensions than any program has; they are passed along whether used or not, since the runtime reads as
// many as the loop was started with.
constexpr unsigned max_dimensions = 8;

}  // namespace
}  // namespace trimtab::openmp

using namespace trimtab::openmp;
using ull = unsigned long long;

#define TRIMTAB_DOACROSS(name, number, kind)                                                               \
  TRIMTAB_HOOK bool name(unsigned dimensions, number* counts, number chunk, number* first, number* last) { \
    const caller from = TRIMTAB_CALLER;                                                                    \
    auto* const forward = real<bool(unsigned, number*, number, number*, number*)>(from, symbol::name);     \
    if (forward == nullptr) return false;                                                                  \
    started(from, TRIMTAB_PLACE, kind, dimensions, counts, static_cast<std::uint64_t>(chunk));             \
    const bool is_more = forward(dimensions, counts, chunk, first, last);                                  \
    answered(from, is_more, first, last);                                                                  \
    return is_more;                                                                                        \
  }
TRIMTAB_DOACROSS(GOMP_loop_doacross_static_start, long, chunk > 0 ? schedule::static_chunked : schedule::static_)
TRIMTAB_DOACROSS(GOMP_loop_doacross_dynamic_start, long, schedule::dynamic)
TRIMTAB_DOACROSS(GOMP_loop_doacross_guided_start, long, schedule::guided)
TRIMTAB_DOACROSS(GOMP_loop_ull_doacross_static_start, ull, chunk > 0 ? schedule::static_chunked : schedule::static_)
TRIMTAB_DOACROSS(GOMP_loop_ull_doacross_dynamic_start, ull, schedule::dynamic)
TRIMTAB_DOACROSS(GOMP_loop_ull_doacross_guided_start, ull, schedule::guided)
#undef TRIMTAB_DOACROSS

#define TRIMTAB_DOACROSS_RUNTIME(name, number)                                                 \
  TRIMTAB_HOOK bool name(unsigned dimensions, number* counts, number* first, number* last) {   \
    const caller from = TRIMTAB_CALLER;                                                        \
    auto* const forward = real<bool(unsigned, number*, number*, number*)>(from, symbol::name); \
    if (forward == nullptr) return false;                                                      \
    started(from, TRIMTAB_PLACE, schedule::runtime, dimensions, counts, 0);                    \
    const bool is_more = forward(dimensions, counts, first, last);                             \
    answered(from, is_more, first, last);                                                      \
    return is_more;                                                                            \
  }
TRIMTAB_DOACROSS_RUNTIME(GOMP_loop_doacross_runtime_start, long)
TRIMTAB_DOACROSS_RUNTIME(GOMP_loop_ull_doacross_runtime_start, ull)
#undef TRIMTAB_DOACROSS_RUNTIME

#define TRIMTAB_DOACROSS_GENERAL(name, number)                                                                       \
  TRIMTAB_HOOK bool name(unsigned dimensions, number* counts, long sched, number chunk, number* first, number* last, \
                         std::uintptr_t* reductions, void** memory) {                                                \
    const caller from = TRIMTAB_CALLER;                                                                              \
    auto* const forward =                                                                                            \
        real<bool(unsigned, number*, long, number, number*, number*, std::uintptr_t*, void**)>(from, symbol::name);  \
    if (forward == nullptr) return false;                                                                            \
    started(from, TRIMTAB_PLACE, schedule_of(sched), dimensions, counts, static_cast<std::uint64_t>(chunk));         \
    const bool is_more = forward(dimensions, counts, sched, chunk, first, last, reductions, memory);                 \
    answered(from, is_more, first, last);                                                                            \
    return is_more;                                                                                                  \
  }
TRIMTAB_DOACROSS_GENERAL(GOMP_loop_doacross_start, long)
TRIMTAB_DOACROSS_GENERAL(GOMP_loop_ull_doacross_start, ull)
#undef TRIMTAB_DOACROSS_GENERAL

// Variadic, as many as the loop has dimensions. Reading more of them than were passed takes what happens to
// lie in their places, which the runtime does not look at.
#define TRIMTAB_DOACROSS_WAIT(name, number)                                                                          \
  TRIMTAB_HOOK void name(number sink, ...) {                                                                         \
    const caller from = TRIMTAB_CALLER;                                                                              \
    auto* const forward = real<void(number, ...)>(from, symbol::name);                                               \
    if (forward == nullptr) return;                                                                                  \
    number more[max_dimensions - 1];                                                                                 \
    va_list list;                                                                                                    \
    va_start(list, sink);                                                                                            \
    for (number & each : more) each = va_arg(list, number);                                                          \
    va_end(list);                                                                                                    \
    const auto call = [&] { forward(sink, more[0], more[1], more[2], more[3], more[4], more[5], more[6]); };         \
    if (from.is_internal) return call();                                                                             \
    const wait waited(trimtab::observe::subject_kind::ordered, trimtab::observe::wait_kind::ordered, TRIMTAB_PLACE); \
    call();                                                                                                          \
  }
TRIMTAB_DOACROSS_WAIT(GOMP_doacross_wait, long)
TRIMTAB_DOACROSS_WAIT(GOMP_doacross_ull_wait, ull)
#undef TRIMTAB_DOACROSS_WAIT
