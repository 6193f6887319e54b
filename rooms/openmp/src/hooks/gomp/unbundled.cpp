// Hooks of the region entry points before GCC 4.9, which old binaries still call: the forker itself runs the
// outlined function between GOMP_parallel_start and GOMP_parallel_end.
#include "accounting/steering_ports.hpp"
#include "hooks/hook.hpp"

namespace trimtab::openmp {
namespace {

using observe::schedule;

void member_main(void* argument) {
  team& own_team = *static_cast<team*>(argument);
  member self;
  begin_member(self, own_team, thread_number({own_team.of, false}));
  reinterpret_cast<gomp_function>(const_cast<void*>(own_team.outlined))(own_team.data);
  end_member(self, own_team);
}

// Opens the region and has `enter(function, data)`, the real entry point, start the workers.
template <class entry>
void start_region(const caller& from, gomp_function outlined, void* data, unsigned clause, const loop_start& loop,
                  entry enter) {
  lane_context context;
  if (from.is_internal || !lookup(context)) return enter(outlined, data);
  lane_state& state = *context.state;
  const std::uint32_t depth = state.unbundled++;
  if (depth >= lane_state::max_unbundled) return enter(outlined, data);
  unbundled_region& region = state.unbundled_regions[depth];
  region.is_recorded =
      fork_team(region.shared, from, reinterpret_cast<const void*>(outlined), most_threads(from, clause), nullptr);
  if (!region.is_recorded) return enter(outlined, data);
  region.shared.data = data;
  region.shared.is_gcc = true;
  region.shared.has_loop = loop.place != nullptr;
  region.shared.loop = loop;
  enter(member_main, &region.shared);
  begin_member(region.only, region.shared, 0);
}

}  // namespace
}  // namespace trimtab::openmp

using namespace trimtab::openmp;

TRIMTAB_HOOK void GOMP_parallel_start(gomp_function fn, void* data, unsigned threads) {
  const caller from = caller_of(reinterpret_cast<const void*>(fn), __builtin_return_address(0), entry::gomp);
  auto* const forward = real<void(gomp_function, void*, unsigned)>(from, symbol::GOMP_parallel_start);
  if (forward == nullptr) return;
  threads = fitted_clause(from, reinterpret_cast<const void*>(fn), threads);
  start_region(from, fn, data, threads, {}, [&](gomp_function f, void* d) { forward(f, d, threads); });
}

TRIMTAB_HOOK void GOMP_parallel_sections_start(gomp_function fn, void* data, unsigned threads, unsigned count) {
  const caller from = caller_of(reinterpret_cast<const void*>(fn), __builtin_return_address(0), entry::gomp);
  auto* const forward = real<void(gomp_function, void*, unsigned, unsigned)>(from, symbol::GOMP_parallel_sections_start);
  if (forward == nullptr) return;
  threads = fitted_clause(from, reinterpret_cast<const void*>(fn), threads);
  const loop_start loop{schedule::sections, 0, count, 1, reinterpret_cast<const void*>(fn)};
  start_region(from, fn, data, threads, loop, [&](gomp_function f, void* d) { forward(f, d, threads, count); });
}

#define TRIMTAB_LOOP_START(name, kind)                                                                            \
  TRIMTAB_HOOK void name(gomp_function fn, void* data, unsigned threads, long first, long last, long increment,   \
                         long chunk) {                                                                            \
    const caller from = caller_of(reinterpret_cast<const void*>(fn), __builtin_return_address(0), entry::gomp);   \
    auto* const forward = real<void(gomp_function, void*, unsigned, long, long, long, long)>(from, symbol::name); \
    if (forward == nullptr) return;                                                                               \
    threads = fitted_clause(from, reinterpret_cast<const void*>(fn), threads);                                    \
    const loop_start loop{kind, static_cast<std::uint64_t>(chunk), count_of(first, last, increment), increment,   \
                          reinterpret_cast<const void*>(fn)};                                                     \
    start_region(from, fn, data, threads, loop,                                                                   \
                 [&](gomp_function f, void* d) { forward(f, d, threads, first, last, increment, chunk); });       \
  }
TRIMTAB_LOOP_START(GOMP_parallel_loop_static_start, chunk > 0 ? schedule::static_chunked : schedule::static_)
TRIMTAB_LOOP_START(GOMP_parallel_loop_dynamic_start, schedule::dynamic)
TRIMTAB_LOOP_START(GOMP_parallel_loop_guided_start, schedule::guided)
#undef TRIMTAB_LOOP_START

TRIMTAB_HOOK void GOMP_parallel_loop_runtime_start(gomp_function fn, void* data, unsigned threads, long first, long last,
                                                   long increment) {
  const caller from = caller_of(reinterpret_cast<const void*>(fn), __builtin_return_address(0), entry::gomp);
  auto* const forward =
      real<void(gomp_function, void*, unsigned, long, long, long)>(from, symbol::GOMP_parallel_loop_runtime_start);
  if (forward == nullptr) return;
  threads = fitted_clause(from, reinterpret_cast<const void*>(fn), threads);
  const loop_start loop{schedule::runtime, 0, count_of(first, last, increment), increment,
                        reinterpret_cast<const void*>(fn)};
  start_region(from, fn, data, threads, loop,
               [&](gomp_function f, void* d) { forward(f, d, threads, first, last, increment); });
}

TRIMTAB_HOOK void GOMP_parallel_end() {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<void()>(from, symbol::GOMP_parallel_end);
  if (forward == nullptr) return;
  lane_context context;
  if (from.is_internal || !lookup(context) || context.state->unbundled == 0) return forward();
  lane_state& state = *context.state;
  const std::uint32_t depth = --state.unbundled;
  if (depth >= lane_state::max_unbundled || !state.unbundled_regions[depth].is_recorded) return forward();
  unbundled_region& region = state.unbundled_regions[depth];
  end_member(region.only, region.shared);
  forward();
  join_team(region.shared);
}
