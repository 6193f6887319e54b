// Hooks of the work-sharing entry points that GCC's code calls: loops and sections. Schedule and chunk stay as they are,
// unless the loop is one that is shared out in another way (loop_port.hpp).
#include "accounting/waits.hpp"
#include "hooks/gomp/loop_port.hpp"

namespace trimtab::openmp {
namespace {

using observe::schedule;
using ull = unsigned long long;

// A loop as the program asks for it.
template <class number>
struct asked_loop {
  const void* place;
  schedule written;
  std::uint64_t chunk;
  number first, last;
  std::int64_t increment;
  bool is_up = true;
};

template <class number>
loop_to_share loop_of(const asked_loop<number>& request) noexcept {
  return {request.written,
          count_of(request.first, request.last, request.increment),
          request.chunk,
          static_cast<std::uint64_t>(request.first),
          static_cast<std::uint64_t>(request.last),
          request.increment};
}

bool find_outside_runtime(const caller& from, lane_context& context) noexcept {
  return !from.is_internal && lookup(context);
}

template <class number>
void started(const caller& from, const asked_loop<number>& request) noexcept {
  begin_unshared_loop(from);
  lane_context context;
  if (!find_outside_runtime(from, context) || is_left_to_sample(*context.state, request.written)) return;
  begin_loop(context, {request.written, request.chunk, count_of(request.first, request.last, request.increment),
                       request.increment, request.place});
}

// After the runtime answered: a chunk [first, last), or no more.
template <class number>
void answered(const caller& from, bool has_chunk, number first, number last) noexcept {
  if (!has_chunk) end_shared_loop(from);
  lane_context context;
  if (!find_outside_runtime(from, context)) return;
  if (has_chunk)
    take_chunk(context, static_cast<std::int64_t>(first), count_of(first, last, context.state->loop.increment));
  else
    end_loop(context);
}

// Puts the first chunk into [*begin, *end); false: there is none. The runtime gives it (`forward`), unless the loop is
// shared out in another way.
template <class number, class function>
[[gnu::always_inline]] inline bool start(const caller& from, const asked_loop<number>& request, bool is_sharable,
                                         number* begin, number* end, function forward) {
  started(from, request);
  bool has_chunk = false;
  if (!is_sharable || !t_steered_part.is_in_team ||
      !start_shared_loop<number>(from, loop_of(request), request.is_up, begin, end, has_chunk))
    has_chunk = forward();
  answered(from, has_chunk, *begin, *end);
  return has_chunk;
}

void ended(const caller& from) noexcept {
  lane_context context;
  if (find_outside_runtime(from, context)) end_loop(context);
}

}  // namespace
}  // namespace trimtab::openmp

using namespace trimtab::openmp;

#define TRIMTAB_START(name, kind, is_sharable)                                                                              \
  TRIMTAB_HOOK bool name(long first, long last, long increment, long chunk, long* from_, long* to) {                        \
    const caller from = TRIMTAB_CALLER;                                                                                     \
    auto* const forward = real<bool(long, long, long, long, long*, long*)>(from, symbol::name);                             \
    if (forward == nullptr) return false;                                                                                   \
    return start<long>(from, {TRIMTAB_PLACE, kind, static_cast<std::uint64_t>(chunk), first, last, increment}, is_sharable, \
                       from_, to, [&] { return forward(first, last, increment, chunk, from_, to); });                       \
  }
TRIMTAB_START(GOMP_loop_static_start, chunk > 0 ? schedule::static_chunked : schedule::static_, false)
TRIMTAB_START(GOMP_loop_dynamic_start, schedule::dynamic, true)
TRIMTAB_START(GOMP_loop_guided_start, schedule::guided, true)
TRIMTAB_START(GOMP_loop_nonmonotonic_dynamic_start, schedule::dynamic, true)
TRIMTAB_START(GOMP_loop_nonmonotonic_guided_start, schedule::guided, true)
TRIMTAB_START(GOMP_loop_ordered_static_start, chunk > 0 ? schedule::static_chunked : schedule::static_, false)
TRIMTAB_START(GOMP_loop_ordered_dynamic_start, schedule::dynamic, false)
TRIMTAB_START(GOMP_loop_ordered_guided_start, schedule::guided, false)
#undef TRIMTAB_START

#define TRIMTAB_RUNTIME_START(name, is_sharable)                                                                    \
  TRIMTAB_HOOK bool name(long first, long last, long increment, long* from_, long* to) {                            \
    const caller from = TRIMTAB_CALLER;                                                                             \
    auto* const forward = real<bool(long, long, long, long*, long*)>(from, symbol::name);                           \
    if (forward == nullptr) return false;                                                                           \
    return start<long>(from, {TRIMTAB_PLACE, schedule::runtime, 0, first, last, increment}, is_sharable, from_, to, \
                       [&] { return forward(first, last, increment, from_, to); });                                 \
  }
TRIMTAB_RUNTIME_START(GOMP_loop_runtime_start, true)
TRIMTAB_RUNTIME_START(GOMP_loop_nonmonotonic_runtime_start, true)
TRIMTAB_RUNTIME_START(GOMP_loop_maybe_nonmonotonic_runtime_start, true)
TRIMTAB_RUNTIME_START(GOMP_loop_ordered_runtime_start, false)
#undef TRIMTAB_RUNTIME_START

#define TRIMTAB_NEXT(name, number)                                                                                       \
  TRIMTAB_HOOK bool name(number* from_, number* to) {                                                                    \
    const caller from = TRIMTAB_CALLER;                                                                                  \
    auto* const forward = real<bool(number*, number*)>(from, symbol::name);                                              \
    if (forward == nullptr) return false;                                                                                \
    bool is_more = false;                                                                                                \
    if (!t_steered_part.has_shared_loop || !next_of_shared_loop(from, from_, to, is_more)) is_more = forward(from_, to); \
    answered(from, is_more, *from_, *to);                                                                                \
    return is_more;                                                                                                      \
  }
TRIMTAB_NEXT(GOMP_loop_static_next, long)
TRIMTAB_NEXT(GOMP_loop_dynamic_next, long)
TRIMTAB_NEXT(GOMP_loop_guided_next, long)
TRIMTAB_NEXT(GOMP_loop_runtime_next, long)
TRIMTAB_NEXT(GOMP_loop_nonmonotonic_dynamic_next, long)
TRIMTAB_NEXT(GOMP_loop_nonmonotonic_guided_next, long)
TRIMTAB_NEXT(GOMP_loop_nonmonotonic_runtime_next, long)
TRIMTAB_NEXT(GOMP_loop_maybe_nonmonotonic_runtime_next, long)
TRIMTAB_NEXT(GOMP_loop_ordered_static_next, long)
TRIMTAB_NEXT(GOMP_loop_ordered_dynamic_next, long)
TRIMTAB_NEXT(GOMP_loop_ordered_guided_next, long)
TRIMTAB_NEXT(GOMP_loop_ordered_runtime_next, long)

#define TRIMTAB_ULL_START(name, kind, is_sharable)                                                                       \
  TRIMTAB_HOOK bool name(bool is_up, ull first, ull last, ull increment, ull chunk, ull* from_, ull* to) {               \
    const caller from = TRIMTAB_CALLER;                                                                                  \
    auto* const forward = real<bool(bool, ull, ull, ull, ull, ull*, ull*)>(from, symbol::name);                          \
    if (forward == nullptr) return false;                                                                                \
    return start<ull>(from, {TRIMTAB_PLACE, kind, chunk, first, last, static_cast<std::int64_t>(increment), is_up},      \
                      is_sharable, from_, to, [&] { return forward(is_up, first, last, increment, chunk, from_, to); }); \
  }
TRIMTAB_ULL_START(GOMP_loop_ull_static_start, chunk > 0 ? schedule::static_chunked : schedule::static_, false)
TRIMTAB_ULL_START(GOMP_loop_ull_dynamic_start, schedule::dynamic, true)
TRIMTAB_ULL_START(GOMP_loop_ull_guided_start, schedule::guided, true)
TRIMTAB_ULL_START(GOMP_loop_ull_nonmonotonic_dynamic_start, schedule::dynamic, true)
TRIMTAB_ULL_START(GOMP_loop_ull_nonmonotonic_guided_start, schedule::guided, true)
TRIMTAB_ULL_START(GOMP_loop_ull_ordered_static_start, chunk > 0 ? schedule::static_chunked : schedule::static_, false)
TRIMTAB_ULL_START(GOMP_loop_ull_ordered_dynamic_start, schedule::dynamic, false)
TRIMTAB_ULL_START(GOMP_loop_ull_ordered_guided_start, schedule::guided, false)
#undef TRIMTAB_ULL_START

#define TRIMTAB_ULL_RUNTIME_START(name, is_sharable)                                                                   \
  TRIMTAB_HOOK bool name(bool is_up, ull first, ull last, ull increment, ull* from_, ull* to) {                        \
    const caller from = TRIMTAB_CALLER;                                                                                \
    auto* const forward = real<bool(bool, ull, ull, ull, ull*, ull*)>(from, symbol::name);                             \
    if (forward == nullptr) return false;                                                                              \
    return start<ull>(from,                                                                                            \
                      {TRIMTAB_PLACE, schedule::runtime, 0, first, last, static_cast<std::int64_t>(increment), is_up}, \
                      is_sharable, from_, to, [&] { return forward(is_up, first, last, increment, from_, to); });      \
  }
TRIMTAB_ULL_RUNTIME_START(GOMP_loop_ull_runtime_start, true)
TRIMTAB_ULL_RUNTIME_START(GOMP_loop_ull_nonmonotonic_runtime_start, true)
TRIMTAB_ULL_RUNTIME_START(GOMP_loop_ull_maybe_nonmonotonic_runtime_start, true)
TRIMTAB_ULL_RUNTIME_START(GOMP_loop_ull_ordered_runtime_start, false)
#undef TRIMTAB_ULL_RUNTIME_START

TRIMTAB_NEXT(GOMP_loop_ull_static_next, ull)
TRIMTAB_NEXT(GOMP_loop_ull_dynamic_next, ull)
TRIMTAB_NEXT(GOMP_loop_ull_guided_next, ull)
TRIMTAB_NEXT(GOMP_loop_ull_runtime_next, ull)
TRIMTAB_NEXT(GOMP_loop_ull_nonmonotonic_dynamic_next, ull)
TRIMTAB_NEXT(GOMP_loop_ull_nonmonotonic_guided_next, ull)
TRIMTAB_NEXT(GOMP_loop_ull_nonmonotonic_runtime_next, ull)
TRIMTAB_NEXT(GOMP_loop_ull_maybe_nonmonotonic_runtime_next, ull)
TRIMTAB_NEXT(GOMP_loop_ull_ordered_static_next, ull)
TRIMTAB_NEXT(GOMP_loop_ull_ordered_dynamic_next, ull)
TRIMTAB_NEXT(GOMP_loop_ull_ordered_guided_next, ull)
TRIMTAB_NEXT(GOMP_loop_ull_ordered_runtime_next, ull)
#undef TRIMTAB_NEXT

// OpenMP 5: loops with task reductions, a conditional lastprivate or a scan. Without from_ and to, GCC has inlined the
// static loop, and the call only makes the runtime ready for it: first and last are none of the loop's. Such a loop is
// known by what it asks, as all inlined ones are.
#define TRIMTAB_GENERAL_START(name)                                                                                         \
  TRIMTAB_HOOK bool name(long first, long last, long increment, long sched, long chunk, long* from_, long* to,              \
                         std::uintptr_t* reductions, void** memory) {                                                       \
    const caller from = TRIMTAB_CALLER;                                                                                     \
    auto* const forward =                                                                                                   \
        real<bool(long, long, long, long, long, long*, long*, std::uintptr_t*, void**)>(from, symbol::name);                \
    if (forward == nullptr) return false;                                                                                   \
    if (from_ == nullptr || to == nullptr) {                                                                                \
      begin_unshared_loop(from);                                                                                            \
      return forward(first, last, increment, sched, chunk, from_, to, reductions, memory);                                  \
    }                                                                                                                       \
    return start<long>(                                                                                                     \
        from, {TRIMTAB_PLACE, schedule_of(sched), static_cast<std::uint64_t>(chunk), first, last, increment}, false, from_, \
        to, [&] { return forward(first, last, increment, sched, chunk, from_, to, reductions, memory); });                  \
  }
TRIMTAB_GENERAL_START(GOMP_loop_start)
TRIMTAB_GENERAL_START(GOMP_loop_ordered_start)
#undef TRIMTAB_GENERAL_START

#define TRIMTAB_ULL_GENERAL_START(name)                                                                                    \
  TRIMTAB_HOOK bool name(bool is_up, ull first, ull last, ull increment, long sched, ull chunk, ull* from_, ull* to,       \
                         std::uintptr_t* reductions, void** memory) {                                                      \
    const caller from = TRIMTAB_CALLER;                                                                                    \
    auto* const forward =                                                                                                  \
        real<bool(bool, ull, ull, ull, long, ull, ull*, ull*, std::uintptr_t*, void**)>(from, symbol::name);               \
    if (forward == nullptr) return false;                                                                                  \
    if (from_ == nullptr || to == nullptr) {                                                                               \
      begin_unshared_loop(from);                                                                                           \
      return forward(is_up, first, last, increment, sched, chunk, from_, to, reductions, memory);                          \
    }                                                                                                                      \
    return start<ull>(                                                                                                     \
        from, {TRIMTAB_PLACE, schedule_of(sched), chunk, first, last, static_cast<std::int64_t>(increment), is_up}, false, \
        from_, to, [&] { return forward(is_up, first, last, increment, sched, chunk, from_, to, reductions, memory); });   \
  }
TRIMTAB_ULL_GENERAL_START(GOMP_loop_ull_start)
TRIMTAB_ULL_GENERAL_START(GOMP_loop_ull_ordered_start)
#undef TRIMTAB_ULL_GENERAL_START

TRIMTAB_HOOK void GOMP_loop_end() {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<void()>(from, symbol::GOMP_loop_end);
  if (forward == nullptr) return;
  if (from.is_internal) return forward();
  ended(from);
  const team_barrier barrier(from, trimtab::observe::subject_kind::barrier, trimtab::observe::wait_kind::barrier,
                             TRIMTAB_PLACE);
  forward();
}

TRIMTAB_HOOK bool GOMP_loop_end_cancel() {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<bool()>(from, symbol::GOMP_loop_end_cancel);
  if (forward == nullptr) return false;
  if (from.is_internal) return forward();
  ended(from);
  const team_barrier barrier(from, trimtab::observe::subject_kind::barrier, trimtab::observe::wait_kind::barrier,
                             TRIMTAB_PLACE);
  return forward();
}

TRIMTAB_HOOK void GOMP_loop_end_nowait() {
  const caller from = TRIMTAB_CALLER;
  ended(from);
  if (auto* const forward = real<void()>(from, symbol::GOMP_loop_end_nowait)) forward();
}

TRIMTAB_HOOK unsigned GOMP_sections_start(unsigned count) {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<unsigned(unsigned)>(from, symbol::GOMP_sections_start);
  if (forward == nullptr) return 0;
  started(from, asked_loop<long>{TRIMTAB_PLACE, schedule::sections, 0, 0, static_cast<long>(count), 1});
  const unsigned section = forward(count);
  answered(from, section != 0, static_cast<long>(section), static_cast<long>(section) + 1);
  return section;
}

TRIMTAB_HOOK unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<unsigned(unsigned, std::uintptr_t*, void**)>(from, symbol::GOMP_sections2_start);
  if (forward == nullptr) return 0;
  started(from, asked_loop<long>{TRIMTAB_PLACE, schedule::sections, 0, 0, static_cast<long>(count), 1});
  const unsigned section = forward(count, reductions, memory);
  answered(from, section != 0, static_cast<long>(section), static_cast<long>(section) + 1);
  return section;
}

TRIMTAB_HOOK unsigned GOMP_sections_next() {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<unsigned()>(from, symbol::GOMP_sections_next);
  if (forward == nullptr) return 0;
  const unsigned section = forward();
  answered(from, section != 0, static_cast<long>(section), static_cast<long>(section) + 1);
  return section;
}

TRIMTAB_HOOK void GOMP_sections_end() {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<void()>(from, symbol::GOMP_sections_end);
  if (forward == nullptr) return;
  if (from.is_internal) return forward();
  ended(from);
  const team_barrier barrier(from, trimtab::observe::subject_kind::barrier, trimtab::observe::wait_kind::barrier,
                             TRIMTAB_PLACE);
  forward();
}

TRIMTAB_HOOK void GOMP_sections_end_nowait() {
  const caller from = TRIMTAB_CALLER;
  ended(from);
  if (auto* const forward = real<void()>(from, symbol::GOMP_sections_end_nowait)) forward();
}
