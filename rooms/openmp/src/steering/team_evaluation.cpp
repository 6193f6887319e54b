#include "steering/team_evaluation.hpp"

#include <algorithm>

#include "steering/idle_threads.hpp"
#include "steering/team_sizes.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {

std::atomic<evaluation_kind> evaluation_due{evaluation_kind::none};

namespace {

evaluation_rules rules;
std::atomic<std::uint32_t> barrier_members{0}, threads_if_bad{0};
// By the thread that forks.
base::ticks evaluated_at = 0;
std::uint32_t bad_in_a_row = 0;  // iterations

// One writer, the thread that forks; the number is stored last.
struct {
  std::atomic<std::uint64_t> number{0};
  std::atomic<std::uint32_t> members{0}, spread{0}, dip_members{0};
  std::atomic<double> passage_s{0}, dip_s{0};
} told;

template <class number>
void raise_to(std::atomic<number>& highest, number value) noexcept {
  for (number before = highest.load(std::memory_order_relaxed);
       before < value && !highest.compare_exchange_weak(before, value, std::memory_order_relaxed);) {
  }
}
template <class number>
void lower_to(std::atomic<number>& lowest, number value) noexcept {
  for (number before = lowest.load(std::memory_order_relaxed);
       before > value && !lowest.compare_exchange_weak(before, value, std::memory_order_relaxed);) {
  }
}

using fork_function = void(void (*)(void*), void*, unsigned, unsigned);
using loop_start = bool(long, long, long, long, long*, long*);
using loop_next = bool(long*, long*);

// Of the calling program's runtime.
struct runtime_calls {
  fork_function* fork;
  void (*barrier)();
  loop_start* start;
  loop_next* next;
  void (*end)();
};

struct trial_team {
  const runtime_calls& calls;
  std::atomic<std::uint32_t> members{0};
  std::atomic<std::uint64_t> first_in{~std::uint64_t{0}}, last_out{0};
  std::atomic<std::uint32_t> most{0}, least{~0u};
};

thread_local bool t_is_primary = false;

trial_team& begin_member(void* data) noexcept {
  trial_team& trial = *static_cast<trial_team*>(data);
  if (!t_is_primary) lower_priority_once(rules.nice);
  trial.members.fetch_add(1, std::memory_order_relaxed);
  return trial;
}

void only_begin(void* data) { begin_member(data); }

void pass_barrier(void* data) {
  trial_team& trial = begin_member(data);
  lower_to(trial.first_in, base::now());
  trial.calls.barrier();
  raise_to(trial.last_out, base::now());
}

// 1000 empty iterations, one at a time to whoever comes, by the runtime's own dynamic schedule.
void take_iterations(void* data) {
  constexpr long iterations = 1000;
  trial_team& trial = begin_member(data);
  std::uint32_t own_iterations = 0;
  long begin = 0, end = 0;
  for (bool has_chunk = trial.calls.start(0, iterations, 1, 1, &begin, &end); has_chunk;
       has_chunk = trial.calls.next(&begin, &end))
    own_iterations += static_cast<std::uint32_t>(end - begin);
  trial.calls.end();
  raise_to(trial.most, own_iterations);
  lower_to(trial.least, own_iterations);
}

void take_iterations_after_barrier(void* data) {
  static_cast<trial_team*>(data)->calls.barrier();
  take_iterations(data);
}

void run_team(trial_team& team, void work(void*), std::uint32_t members) noexcept {
  t_is_primary = true;
  team.calls.fork(work, &team, members, 0);
  t_is_primary = false;
  pool_has(team.members.load(std::memory_order_relaxed));
}

double passage_of(const trial_team& team) noexcept {
  const std::uint64_t passage =
      team.last_out.load(std::memory_order_relaxed) - team.first_in.load(std::memory_order_relaxed);
  return static_cast<double>(passage) * observe::the_recorder.clock().ns_per_tick * 1e-9;
}

void publish(const trial_team& team) noexcept {
  told.members.store(team.members.load(std::memory_order_relaxed), std::memory_order_relaxed);
  told.number.store(told.number.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// From the region on that begins now.
void have_members(std::uint32_t members, std::uint32_t own_count) noexcept {
  if (members != 0) the_team_sizes.want(members >= own_count ? team_sizes::as_it_is : members);
}

void measure_barrier(const runtime_calls& calls, std::uint32_t members, std::uint32_t own_count) noexcept {
  const std::uint32_t dip = std::min(barrier_members.load(std::memory_order_relaxed), own_count);
  trial_team team{calls}, larger_team{calls};
  run_team(team, pass_barrier, members);
  const double passage_s = passage_of(team);
  told.passage_s.store(passage_s, std::memory_order_relaxed);
  told.dip_members.store(0, std::memory_order_relaxed);
  if (passage_s > rules.bad_passage_s) {
    have_members(threads_if_bad.load(std::memory_order_relaxed), own_count);
  } else if (dip > members) {
    run_team(larger_team, pass_barrier, dip);
    const double dip_s = passage_of(larger_team);
    told.dip_s.store(dip_s, std::memory_order_relaxed);
    told.dip_members.store(dip, std::memory_order_relaxed);
    if (dip_s < rules.longest_dip_s) have_members(dip, own_count);
  }
  publish(team);
}

// The plan for a bad evaluation (threads_if_bad) may be older than even evaluations, which the policy did not see. So bad
// ones in a row are counted here, too, as the policy counts them: it then decides the same drop. Returns whether it was bad.
bool measure_iterations(const runtime_calls& calls, void work(void*), std::uint32_t members,
                        std::uint32_t own_count) noexcept {
  trial_team team{calls};
  run_team(team, work, members);
  const std::uint32_t spread = team.most.load(std::memory_order_relaxed) - team.least.load(std::memory_order_relaxed);
  told.spread.store(spread, std::memory_order_relaxed);
  const bool is_bad = spread > rules.bad_spread;
  bad_in_a_row = is_bad ? bad_in_a_row + 1 : 0;
  if (is_bad && bad_in_a_row >= rules.bad_trig) have_members(threads_if_bad.load(std::memory_order_relaxed), own_count);
  publish(team);
  return is_bad;
}

bool is_time() noexcept {
  const base::ticks now = base::now();
  const auto shortest = static_cast<base::ticks>(observe::the_recorder.ticks_of_ns(rules.eval_time_s * 1e9));
  if (evaluated_at == 0) evaluated_at = now;  // the first one follows after that time, too
  if (now - evaluated_at < shortest) return false;
  evaluated_at = now;
  return true;
}

}  // namespace

void set_evaluation_rules(const evaluation_rules& to) noexcept { rules = to; }
void set_barrier_members(std::uint32_t members) noexcept { barrier_members.store(members, std::memory_order_relaxed); }
void set_threads_if_bad(std::uint32_t members) noexcept { threads_if_bad.store(members, std::memory_order_relaxed); }

void ask_for_evaluation(evaluation_kind kind) noexcept { evaluation_due.store(kind, std::memory_order_release); }

evaluation latest_evaluation() noexcept {
  evaluation result;
  result.number = told.number.load(std::memory_order_acquire);
  result.members = told.members.load(std::memory_order_relaxed);
  result.spread = told.spread.load(std::memory_order_relaxed);
  result.passage_s = told.passage_s.load(std::memory_order_relaxed);
  result.dip_members = told.dip_members.load(std::memory_order_relaxed);
  result.dip_s = told.dip_s.load(std::memory_order_relaxed);
  return result;
}

void evaluate(const caller& from, std::uint32_t own_count) noexcept {
  evaluation_kind kind = evaluation_due.load(std::memory_order_acquire);
  if (kind == evaluation_kind::barrier && !is_time()) return;
  // Both families of runtimes have all of these.
  const runtime_calls calls{real<fork_function>(from, symbol::GOMP_parallel), real<void()>(from, symbol::GOMP_barrier),
                            real<loop_start>(from, symbol::GOMP_loop_dynamic_start),
                            real<loop_next>(from, symbol::GOMP_loop_dynamic_next),
                            real<void()>(from, symbol::GOMP_loop_end_nowait)};
  if (!calls.fork || !calls.barrier || !calls.start || !calls.next || !calls.end) {
    evaluation_due.store(evaluation_kind::none, std::memory_order_relaxed);
    return;
  }
  const std::uint32_t members = std::clamp(the_team_sizes.latest(), 1u, own_count);
  const std::uint32_t requested = std::clamp(barrier_members.load(std::memory_order_relaxed), members, own_count);
  trial_team team{calls};
  bool is_finished = true;
  switch (kind) {
    case evaluation_kind::none:
      break;
    case evaluation_kind::priority:
      run_team(team, only_begin, own_count);
      break;
    case evaluation_kind::barrier:
      measure_barrier(calls, members, own_count);
      break;
    case evaluation_kind::iterations:
      is_finished = measure_iterations(calls, take_iterations, members, own_count);
      break;
    case evaluation_kind::iterations_after_barrier:
      measure_iterations(calls, take_iterations_after_barrier, members, own_count);
      break;
    case evaluation_kind::asked_barrier:
      run_team(team, pass_barrier, requested);
      told.passage_s.store(passage_of(team), std::memory_order_relaxed);
      publish(team);
      break;
  }
  // The steering thread may have asked for another one, or for none, since.
  if (is_finished) evaluation_due.compare_exchange_strong(kind, evaluation_kind::none, std::memory_order_acq_rel);
}

}  // namespace trimtab::openmp
