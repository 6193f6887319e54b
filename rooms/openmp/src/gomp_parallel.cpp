// Hooks of the region entry points that GCC's code calls. The outlined function is wrapped: every member runs
// member_main, which stamps around the real one. Arguments, team size and results stay as they are.
#include "hooks.hpp"

namespace trimtab::openmp {
namespace {

struct region_call {
  gomp_function outlined;
  void* data;
  caller from;
  team shared;
};

// Not noexcept: pthread_exit and cancellation unwind through here.
void member_main(void* argument) {
  auto& call = *static_cast<region_call*>(argument);
  member mine;
  begin_member(mine, call.shared, thread_number(call.from));
  call.outlined(call.data);
  end_member(mine, call.shared);
}

// Runs `enter(function, data)` - the real entry point - with the wrapped function where we record.
template <class entry>
auto run_region(const caller& from, gomp_function outlined, void* data, unsigned clause, const loop_start& loop, entry enter) {
  region_call call;
  call.outlined = outlined;
  call.data = data;
  call.from = from;
  call.shared.loop = loop;
  const bool is_recorded = !from.is_internal && is_recording.load(std::memory_order_relaxed) &&
                           fork_team(call.shared, from, reinterpret_cast<const void*>(outlined), most_threads(from, clause), nullptr);
  if (!is_recorded) return enter(outlined, data);
  if constexpr (std::is_void_v<decltype(enter(outlined, data))>) {
    enter(member_main, &call);
    join_team(call.shared);
  } else {
    const auto result = enter(member_main, &call);
    join_team(call.shared);
    return result;
  }
}

std::uint64_t trip_count(long first, long last, long increment) noexcept {
  if (increment > 0) return last > first ? (static_cast<std::uint64_t>(last - first) + static_cast<std::uint64_t>(increment) - 1) / static_cast<std::uint64_t>(increment) : 0;
  if (increment < 0) return first > last ? (static_cast<std::uint64_t>(first - last) + static_cast<std::uint64_t>(-increment) - 1) / static_cast<std::uint64_t>(-increment) : 0;
  return 0;
}

using observe::schedule;

}  // namespace
}  // namespace trimtab::openmp

using namespace trimtab::openmp;

TRIMTAB_HOOK void GOMP_parallel(gomp_function fn, void* data, unsigned threads, unsigned flags) {
  const caller from = caller_of(reinterpret_cast<const void*>(fn));
  auto* const forward = real<void(gomp_function, void*, unsigned, unsigned)>(from, symbol::GOMP_parallel);
  if (forward == nullptr) return fn(data);
  run_region(from, fn, data, threads, {}, [&](gomp_function f, void* d) { forward(f, d, threads, flags); });
}

TRIMTAB_HOOK unsigned GOMP_parallel_reductions(gomp_function fn, void* data, unsigned threads, unsigned flags) {
  // The runtime reads the reductions from the first word of data, which it also writes: it must stay the
  // program's own, so the function is not wrapped and the members are not seen.
  const caller from = caller_of(reinterpret_cast<const void*>(fn));
  auto* const forward = real<unsigned(gomp_function, void*, unsigned, unsigned)>(from, symbol::GOMP_parallel_reductions);
  if (forward == nullptr) return 0;
  return forward(fn, data, threads, flags);
}

TRIMTAB_HOOK void GOMP_parallel_sections(gomp_function fn, void* data, unsigned threads, unsigned count, unsigned flags) {
  const caller from = caller_of(reinterpret_cast<const void*>(fn));
  auto* const forward = real<void(gomp_function, void*, unsigned, unsigned, unsigned)>(from, symbol::GOMP_parallel_sections);
  if (forward == nullptr) return;
  loop_start loop;
  loop.schedule = schedule::sections;
  loop.trip = count;
  loop.place = reinterpret_cast<const void*>(fn);
  run_region(from, fn, data, threads, loop, [&](gomp_function f, void* d) { forward(f, d, threads, count, flags); });
}

// Combined constructs: the fork call says the loop's bounds, the outlined function asks for its chunks.
#define TRIMTAB_PARALLEL_LOOP(name, kind)                                                                             \
  TRIMTAB_HOOK void name(gomp_function fn, void* data, unsigned threads, long first, long last, long increment,      \
                         long chunk, unsigned flags) {                                                                \
    const caller from = caller_of(reinterpret_cast<const void*>(fn));                                                                               \
    auto* const forward =                                                                                             \
        real<void(gomp_function, void*, unsigned, long, long, long, long, unsigned)>(from, symbol::name);             \
    if (forward == nullptr) return;                                                                                   \
    const loop_start loop{kind, static_cast<std::uint64_t>(chunk), trip_count(first, last, increment), increment,     \
                          reinterpret_cast<const void*>(fn)};                                                         \
    run_region(from, fn, data, threads, loop, [&](gomp_function f, void* d) {                                         \
      forward(f, d, threads, first, last, increment, chunk, flags);                                                   \
    });                                                                                                               \
  }
TRIMTAB_PARALLEL_LOOP(GOMP_parallel_loop_static, chunk > 0 ? schedule::static_chunked : schedule::static_)
TRIMTAB_PARALLEL_LOOP(GOMP_parallel_loop_dynamic, schedule::dynamic)
TRIMTAB_PARALLEL_LOOP(GOMP_parallel_loop_guided, schedule::guided)
TRIMTAB_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, schedule::dynamic)
TRIMTAB_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided, schedule::guided)
#undef TRIMTAB_PARALLEL_LOOP

#define TRIMTAB_PARALLEL_RUNTIME_LOOP(name)                                                                           \
  TRIMTAB_HOOK void name(gomp_function fn, void* data, unsigned threads, long first, long last, long increment,      \
                         unsigned flags) {                                                                            \
    const caller from = caller_of(reinterpret_cast<const void*>(fn));                                                                               \
    auto* const forward = real<void(gomp_function, void*, unsigned, long, long, long, unsigned)>(from, symbol::name); \
    if (forward == nullptr) return;                                                                                   \
    const loop_start loop{schedule::runtime, 0, trip_count(first, last, increment), increment,                        \
                          reinterpret_cast<const void*>(fn)};                                                         \
    run_region(from, fn, data, threads, loop,                                                                         \
               [&](gomp_function f, void* d) { forward(f, d, threads, first, last, increment, flags); });             \
  }
TRIMTAB_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_runtime)
TRIMTAB_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
TRIMTAB_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
#undef TRIMTAB_PARALLEL_RUNTIME_LOOP

// A static loop of GCC's is inlined; what remains of it is the question how many threads there are.
TRIMTAB_HOOK int omp_get_num_threads() {
  const caller from = TRIMTAB_CALLER;
  auto* const forward = real<int()>(from, symbol::omp_get_num_threads);
  if (forward == nullptr) return 1;
  here at;
  if (!from.is_internal && from.of->family == runtime_family::gomp && find_here(at) && at.state->innermost != nullptr) {
    const std::uint32_t subject =
        trimtab::observe::the_recorder.subject(trimtab::observe::subject_kind::loop, TRIMTAB_PLACE, true, 0, at.state->region);
    if (auto* const row = at.on->own_row(subject, trimtab::observe::metric::loop, at.state->region,
                                         static_cast<std::uint16_t>(schedule::static_inferred))) {
      row->count += 1;
      row->x[3] = trimtab::observe::unknown;
    }
  }
  return forward();
}
