#include "steering/recording_ports.hpp"

#include "accounting/short_regions.hpp"
#include "hooks/gomp/loop_port.hpp"
#include "hooks/kmpc/loop_port.hpp"
#include "steering/arrival_skew.hpp"
#include "steering/block_time.hpp"
#include "steering/gomp_sharing.hpp"
#include "steering/kmpc_sharing.hpp"
#include "steering/region_sizes.hpp"
#include "steering/team_sizes.hpp"
#include "steering/virtual_threads.hpp"
#include "steering/wait_times.hpp"
#include "steering/watching.hpp"

namespace trimtab::openmp {

namespace {

// Of GCC's code.
template <class number>
bool start_gomp_loop(const caller& from, const loop_to_share& loop, bool is_ascending, number* begin, number* end,
                     bool& has_chunk) {
  const loop_plan* const plan = can_share(from) ? begin_shared(from, loop) : nullptr;
  if (plan == nullptr) return false;
  has_chunk = start_shared<number>(from, *plan, is_ascending, begin, end);
  return true;
}
template <class number>
bool next_of_gomp_loop(const caller& from, number* begin, number* end, bool& has_chunk) {
  steered_thread* const self = shared_loop(from);
  if (self == nullptr) return false;
  has_chunk = next_shared(from, *self, begin, end);
  return true;
}
bool fork_gomp_loop(const caller& from, team& opened, const forked_loop& written, gomp_function function, void* data) {
  if (!can_share(from)) return false;
  const std::uint32_t threads = written.clause != 0 ? written.clause : most_threads(from, 0);
  const loop_plan* const plan = share_at_fork(from, opened, written.loop, threads);
  if (plan == nullptr) return false;
  fork_shared(from, *plan, opened, written, function, data);
  return true;
}
template <class number>
constexpr gomp_loop_calls<number> gomp_calls{start_gomp_loop<number>, next_of_gomp_loop<number>};
constexpr gomp_loop_port gomp_port{gomp_calls<long>, gomp_calls<unsigned long long>, fork_gomp_loop};

// Of clang's.
template <class signed_number>
static_sharing begin_kmpc_static(const caller& from, const loop_to_share& loop, signed_number& chunk) noexcept {
  const loop_plan* const plan = begin_shared(from, loop);
  if (plan == nullptr) return static_sharing::as_written;
  if (plan->is_weighted) return static_sharing::by_block;
  chunk = static_cast<signed_number>(plan->chunk);
  return static_sharing::by_chunk;
}
template <class number, class signed_number>
bool begin_kmpc_dynamic(const caller& from, const loop_to_share& loop,
                        kmpc_request<number, signed_number>& request) noexcept {
  const loop_plan* const plan = begin_shared(from, loop);
  if (plan == nullptr) return false;
  const runtime_loop shared_request = runtime_loop_of(*plan, t_steered.loop, t_steered.members, t_steered.tickets);
  const std::uint64_t last = is_renumbered(plan->how) ? shared_request.last - 1 : shared_request.last;
  request = {kind_of(shared_request), static_cast<number>(shared_request.first), static_cast<number>(last),
             static_cast<signed_number>(shared_request.increment), static_cast<signed_number>(shared_request.chunk)};
  return true;
}
template <class number, class signed_number>
bool next_of_kmpc_loop(const caller& from, const kmpc_next<number, signed_number>& runtimes_own,
                       const kmpc_part<number, signed_number>& target, int& has_chunk) {
  steered_thread* const self = shared_loop(from);
  if (self == nullptr) return false;
  has_chunk = next_shared(*self, runtimes_own, target);
  return true;
}
template <class number, class signed_number>
constexpr kmpc_loop_calls<number, signed_number> kmpc_calls{
    begin_kmpc_static<signed_number>, set_weighted_block<number, signed_number>, begin_kmpc_dynamic<number, signed_number>,
    next_of_kmpc_loop<number, signed_number>};
constexpr kmpc_loop_port kmpc_port{kmpc_calls<std::int32_t, std::int32_t>, kmpc_calls<std::uint32_t, std::int32_t>,
                                   kmpc_calls<std::int64_t, std::int64_t>, kmpc_calls<std::uint64_t, std::int64_t>};

constexpr loop_port loops{begin_part_of,  begin_shared_at_fork, begin_unshared, end_shared,
                          barrier_passed, team_joined,          &gomp_port,     &kmpc_port};
constexpr team_port teams{fit_clause_slowly, note_skew};
constexpr region_port regions{region_ended, note_longest_part, is_start_timed};
constexpr wait_port waits{note_passage};

template <class table>
void provide(std::atomic<table*>& port, table* functions, bool is_enabled) noexcept {
  port.store(is_enabled ? functions : nullptr);
}

struct conditions {
  bool is_steering = openmp::is_steering.load();
  bool is_fitting = is_fitting_teams.load();
  bool are_fitted = are_regions_fitted.load();
  bool is_timing = is_timing_waits();
  bool are_virtual = are_virtual_threads_allowed.load();

  bool operator==(const conditions&) const = default;
};

region_mode mode_of(watching watch_mode, const conditions& now) noexcept {
  if (now.is_steering && watch_mode == watching::always) return region_mode::shared_out;
  if (now.is_fitting || now.are_fitted) return region_mode::timed;
  return now.is_steering && !now.is_timing ? region_mode::counted : region_mode::sampled;
}

region_rule rule_of(watching watch_mode, const conditions& now) noexcept {
  const bool is_left_alone = now.is_steering && watch_mode != watching::always && !now.is_fitting && !now.are_fitted;
  region_rule rule;
  rule.mode = mode_of(watch_mode, now);
  rule.sample_divisor = is_left_alone ? left_alone_fewer : 1;
  if (now.is_steering) rule.loops_watched_one_in = watch_mode == watching::rarely ? watched_one_in : 1;
  rule.is_sampled_by_mean = !now.is_fitting;
  return rule;
}

void provide_ports(const conditions& now) noexcept {
  provide(the_steering_ports.loops, &loops, now.is_steering);
  provide(the_steering_ports.teams, &teams, now.is_fitting);
  provide(the_steering_ports.regions, &regions, now.are_fitted);
  provide(the_steering_ports.waits, &waits, now.is_timing);
  provide(the_steering_ports.run_virtually, &run_virtually, now.are_virtual);
  the_steering_ports.are_forks_changed.store(now.is_fitting || now.are_virtual);
}

}  // namespace

// Several threads may be at it: each looks again at what it went by, after it has written. So whoever writes last has seen
// the latest (all of it is sequentially consistent).
void update_rule(std::size_t place) noexcept {
  for (bool is_settled = false; !is_settled;) {
    const watching watch_mode = watching_of_regions[place].load();
    const conditions now;
    region_rules[place].store(rule_of(watch_mode, now));
    is_settled = watching_of_regions[place].load() == watch_mode && conditions() == now;
  }
}

void update_recording() noexcept {
  for (bool is_settled = false; !is_settled;) {
    const conditions now;
    provide_ports(now);
    is_settled = conditions() == now;
  }
  for (std::size_t place = 0; place < region_places; ++place) update_rule(place);
}

}  // namespace trimtab::openmp
