// Hooks of the region entry points that GCC's code calls. The outlined function is wrapped: every member runs
// member_main, which stamps around the real one. Arguments, team size and results stay as they are.
#include <cstring>

#include "accounting/short_regions.hpp"
#include "hooks/gomp/loop_port.hpp"
#include "hooks/gomp/virtual_thread.hpp"

namespace trimtab::openmp {
namespace {

struct region_call {
  // GOMP_parallel_reductions reads the first word of what it is given, as the program's data has it.
  void* reductions;
  team shared;
};

// Not noexcept: cancellation unwinds through here.
void member_main(void* argument) {
  team& own_team = static_cast<region_call*>(argument)->shared;
  member self;
  begin_member(self, own_team, thread_number({own_team.of, false}));
  reinterpret_cast<gomp_function>(const_cast<void*>(own_team.outlined))(own_team.data);
  end_member(self, own_team);
}

// Runs `enter(function, data)` - the real entry point - with the wrapped function where we record.
template <class entry>
auto run_region(const caller& from, gomp_function outlined, void* data, unsigned clause, const loop_start& loop,
                entry enter) {
  region_call call;
  const bool is_recorded =
      !from.is_internal && is_recording.load(std::memory_order_relaxed) &&
      fork_team(call.shared, from, reinterpret_cast<const void*>(outlined), most_threads(from, clause), nullptr);
  if (!is_recorded) return enter(outlined, data);
  call.shared.data = data;
  call.shared.is_gcc = true;
  call.shared.has_loop = loop.place != nullptr;
  if (call.shared.has_loop) call.shared.loop = loop;
  if constexpr (std::is_void_v<decltype(enter(outlined, data))>) {
    enter(member_main, &call);
    join_team(call.shared);
  } else {
    std::memcpy(&call.reductions, data, sizeof call.reductions);
    const auto result = enter(member_main, &call);
    join_team(call.shared);
    return result;
  }
}

using parallel_function = void(gomp_function, void*, unsigned, unsigned);

// A function of its own, so that the short way needs no frame.
[[gnu::noinline]] void run_parallel(const void* return_address, gomp_function fn, void* data, unsigned threads,
                                    unsigned flags) {
  const void* const outlined = reinterpret_cast<const void*>(fn);
  const caller from = caller_of(outlined, return_address, entry::gomp);
  auto* const forward = real<parallel_function>(from, symbol::GOMP_parallel);
  if (forward == nullptr) return fn(data);
  if (void* const thunk = open_outermost(from, outlined, threads, nullptr, gomp_regions)) {
    forward(reinterpret_cast<gomp_function>(thunk), data, threads, flags);
    return close_outermost();
  }
  run_region(from, fn, data, threads, {}, [&](gomp_function f, void* d) { forward(f, d, threads, flags); });
}

struct changed_fork {
  bool is_done;      // the region has run
  unsigned threads;  // otherwise: the clause that it gets
};

// A function of its own, so that forks that nobody changes keep less.
[[gnu::noinline]] changed_fork change_fork(const void* return_address, gomp_function fn, void* data, unsigned threads,
                                           unsigned flags) {
  const void* const outlined = reinterpret_cast<const void*>(fn);
  if (const team_port* const port = team_port_now())
    threads = port->fit_clause(caller_of(outlined, return_address, entry::gomp), outlined, threads);
  auto* const run_virtually = the_steering_ports.run_virtually.load(std::memory_order_relaxed);
  return {run_virtually != nullptr && run_virtually(return_address, fn, data, threads, flags), threads};
}

using observe::schedule;
using parallel_loop_function = void(gomp_function, void*, unsigned, long, long, long, long, unsigned);

// Combined constructs: the fork call says the loop's bounds, the outlined function asks for its chunks.
loop_start loop_at_fork(gomp_function fn, schedule kind, long chunk, long first, long last, long increment) noexcept {
  return {kind, static_cast<std::uint64_t>(chunk), count_of(first, last, increment), increment,
          reinterpret_cast<const void*>(fn)};
}
struct loop_bounds {
  long first, last;
  unsigned flags;
  bool is_sharable;
};

// As run_region; the loop may be shared out in another way.
template <class entry>
void run_loop_region(const caller& from, gomp_function outlined, void* data, unsigned clause, const loop_bounds& bounds,
                     const loop_start& loop, entry enter) {
  run_region(from, outlined, data, clause, loop, [&](gomp_function f, void* d) {
    const loop_port* const port = f == member_main && bounds.is_sharable ? loop_port_now() : nullptr;
    if (port == nullptr) return enter(f, d);
    const loop_to_share written{loop.schedule,
                                loop.trip,
                                loop.chunk,
                                static_cast<std::uint64_t>(bounds.first),
                                static_cast<std::uint64_t>(bounds.last),
                                loop.increment};
    team& opened = static_cast<region_call*>(d)->shared;
    if (!port->gomp->fork(from, opened, {written, clause, bounds.flags}, f, d)) enter(f, d);
  });
}

}  // namespace
}  // namespace trimtab::openmp

using namespace trimtab::openmp;

TRIMTAB_HOOK void GOMP_parallel(gomp_function fn, void* data, unsigned threads, unsigned flags) {
  const void* const return_address = __builtin_return_address(0);
  const void* const outlined = reinterpret_cast<const void*>(fn);
  if (the_steering_ports.are_forks_changed.load(std::memory_order_relaxed)) [[unlikely]] {
    const changed_fork changed = change_fork(return_address, fn, data, threads, flags);
    if (changed.is_done) return;
    threads = changed.threads;
  }
  if (const known_region* const region = open_short_region(outlined, return_address)) {
    real<parallel_function>({region->of, false}, symbol::GOMP_parallel)(fn, data, threads, flags);
    return close_short_region();
  }
  run_parallel(return_address, fn, data, threads, flags);
}

TRIMTAB_HOOK unsigned GOMP_parallel_reductions(gomp_function fn, void* data, unsigned threads, unsigned flags) {
  const caller from = caller_of(reinterpret_cast<const void*>(fn), __builtin_return_address(0), entry::gomp);
  auto* const forward = real<unsigned(gomp_function, void*, unsigned, unsigned)>(from, symbol::GOMP_parallel_reductions);
  if (forward == nullptr) return 0;
  threads = fitted_clause(from, reinterpret_cast<const void*>(fn), threads);
  return run_region(from, fn, data, threads, {}, [&](gomp_function f, void* d) { return forward(f, d, threads, flags); });
}

TRIMTAB_HOOK void GOMP_parallel_sections(gomp_function fn, void* data, unsigned threads, unsigned count, unsigned flags) {
  const caller from = caller_of(reinterpret_cast<const void*>(fn), __builtin_return_address(0), entry::gomp);
  auto* const forward = real<void(gomp_function, void*, unsigned, unsigned, unsigned)>(from, symbol::GOMP_parallel_sections);
  if (forward == nullptr) return;
  threads = fitted_clause(from, reinterpret_cast<const void*>(fn), threads);
  loop_start loop;
  loop.schedule = schedule::sections;
  loop.trip = count;
  loop.place = reinterpret_cast<const void*>(fn);
  run_region(from, fn, data, threads, loop, [&](gomp_function f, void* d) { forward(f, d, threads, count, flags); });
}

#define TRIMTAB_PARALLEL_LOOP(name, kind, is_sharable)                                                                      \
  TRIMTAB_HOOK void name(gomp_function fn, void* data, unsigned threads, long first, long last, long increment, long chunk, \
                         unsigned flags) {                                                                                  \
    const caller from = caller_of(reinterpret_cast<const void*>(fn), __builtin_return_address(0), entry::gomp);             \
    auto* const forward = real<parallel_loop_function>(from, symbol::name);                                                 \
    if (forward == nullptr) return;                                                                                         \
    threads = fitted_clause(from, reinterpret_cast<const void*>(fn), threads);                                              \
    const loop_start loop = loop_at_fork(fn, kind, chunk, first, last, increment);                                          \
    run_loop_region(from, fn, data, threads, {first, last, flags, is_sharable}, loop,                                       \
                    [&](gomp_function f, void* d) { forward(f, d, threads, first, last, increment, chunk, flags); });       \
  }
TRIMTAB_PARALLEL_LOOP(GOMP_parallel_loop_static, chunk > 0 ? schedule::static_chunked : schedule::static_, false)
TRIMTAB_PARALLEL_LOOP(GOMP_parallel_loop_dynamic, schedule::dynamic, true)
TRIMTAB_PARALLEL_LOOP(GOMP_parallel_loop_guided, schedule::guided, true)
TRIMTAB_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, schedule::dynamic, true)
TRIMTAB_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided, schedule::guided, true)
#undef TRIMTAB_PARALLEL_LOOP

#define TRIMTAB_PARALLEL_RUNTIME_LOOP(name)                                                                           \
  TRIMTAB_HOOK void name(gomp_function fn, void* data, unsigned threads, long first, long last, long increment,       \
                         unsigned flags) {                                                                            \
    const caller from = caller_of(reinterpret_cast<const void*>(fn), __builtin_return_address(0), entry::gomp);       \
    auto* const forward = real<void(gomp_function, void*, unsigned, long, long, long, unsigned)>(from, symbol::name); \
    if (forward == nullptr) return;                                                                                   \
    threads = fitted_clause(from, reinterpret_cast<const void*>(fn), threads);                                        \
    const loop_start loop = loop_at_fork(fn, schedule::runtime, 0, first, last, increment);                           \
    run_loop_region(from, fn, data, threads, {first, last, flags, true}, loop,                                        \
                    [&](gomp_function f, void* d) { forward(f, d, threads, first, last, increment, flags); });        \
  }
TRIMTAB_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_runtime)
TRIMTAB_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
TRIMTAB_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
#undef TRIMTAB_PARALLEL_RUNTIME_LOOP

// A static loop of GCC's is inlined; what remains of it is the question how many threads there are.
TRIMTAB_HOOK int omp_get_num_threads() {
  if (t_virtual.is_in) [[unlikely]] {
    t_virtual.has_asked_threads = true;
    if (t_virtual.threads != 0) return static_cast<int>(t_virtual.threads);
  }
  const caller from = caller_at(__builtin_return_address(0), entry::omp);
  auto* const forward = real<int()>(from, symbol::omp_get_num_threads);
  if (forward == nullptr) return 1;
  lane_context context;
  if (!from.is_internal && lookup(context) && context.state->innermost != nullptr)
    inferred_loop_passed(context, TRIMTAB_PLACE);
  return forward();
}
