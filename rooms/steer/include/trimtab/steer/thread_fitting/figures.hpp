// What an adapter tells policies that fit threads to the machine: figures of the process (snapshot::figures), in every
// snapshot; figures that it has not are left out, never 0. Where a subject alone can tell one, among that subject's.
//
// Rates and shares are of a window: what happened in 0.1 s to 0.2 s, all of it with the same number of threads as far as it
// can be had. A new window has a new number. `run_delay_share` (snapshot.hpp): time that members of teams were runnable
// without a CPU, of the time that they were members; not of threads that no team has.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "trimtab/observe/cpu_watch.hpp"
#include "trimtab/steer/snapshot.hpp"

namespace trimtab::steer::figures {

inline constexpr std::string_view windows = "windows";  // how many there were; not told: each look is a new one

// 0: numbers of threads are not to be fitted, as its user or program wants it; not told: as the policy's options say.
inline constexpr std::string_view fitting = "fitting";

// Of the machine, for all of this process's CPUs (those that its affinity allows).
inline constexpr std::string_view allowed_cpus = "allowed_cpus";  // how many there are
inline constexpr std::string_view idle_cpus = "idle_cpus";        // of them, without work: idle time / window
inline constexpr std::string_view quota_cpus = "quota_cpus";      // of the cgroup, the least of its ancestors'; 0: none
inline constexpr std::string_view throttled_share = "throttled_share";  // of the window, that the cgroup was stopped

// Of the registry (observe/cpu_registry.hpp), looked into once a window. Without a registry: left out.
inline constexpr std::string_view others = "others";                  // other processes that fit their threads
inline constexpr std::string_view other_threads = "other_threads";    // that these want, together
inline constexpr std::string_view registry_share = "registry_share";  // CPUs for this process: cpu_registry::share

// Of the program's own regions that ended in the window: the longest time from the first member that reached the end of one
// to the last.
inline constexpr std::string_view skew_seconds = "skew_seconds";

// From one fork to the next, in the mean of the window.
inline constexpr std::string_view region_seconds = "region_seconds";
// Of trials with other members (team_trial.hpp), which the knob `trial_members` asks for. `team_trials` counts those that
// are over.
inline constexpr std::string_view team_trials = "team_trials";
inline constexpr std::string_view trial_ratio = "trial_ratio";  // of the latest: time of a region on trial / as it was

// Of the published policies, which measure between two regions of the program, at the start of the next. `evaluations` is
// the number of the latest one, from 1.
inline constexpr std::string_view evaluations = "evaluations";
inline constexpr std::string_view passage_seconds = "passage_seconds";      // a barrier: last member out - first in
inline constexpr std::string_view passage_members = "passage_members";      // how many members it had; not told: as threads
inline constexpr std::string_view iterations_spread = "iterations_spread";  // of 1000 empty ones: most - least a thread
// Of the second barrier of the same evaluation (knob `barrier_members`); left out when there was none.
inline constexpr std::string_view dip_seconds = "dip_seconds";
inline constexpr std::string_view dip_members = "dip_members";
// The machine's load average over one minute (/proc/loadavg), its CPUs that are online, and the number of the reading.
inline constexpr std::string_view load_average = "load_average";
inline constexpr std::string_view online_cpus = "online_cpus";
inline constexpr std::string_view load_readings = "load_readings";

}  // namespace trimtab::steer::figures

namespace trimtab::steer::knobs {

// Members that a team has: a range from 1 to what the program itself would have, or less.
inline constexpr std::string_view threads = "threads";
// Members of another timed barrier, more than of the program's teams ("dip a toe in"); 0: none. For asat-v2 it follows a
// short passage within the same evaluation, and when it is short, too, teams have so many members from that region on. For
// asat-v2-reset the next evaluation is made with so many members. Of the subject that has `threads`.
inline constexpr std::string_view barrier_members = "barrier_members";
// Members that teams have from the region on whose evaluation is bad, before the policy has seen it; 0: as before. For
// asat-v1 only at the last of `bad_trig` bad ones in a row: the adapter counts them, since the policy does not see every
// even one. Of the subject that has `threads`; only the published policies turn it.
inline constexpr std::string_view threads_if_bad = "threads_if_bad";
// Members of some of the next regions, in turn with others, to see whether they take less time; 0: no trial. Of the subject
// that has `threads`; only `fit` turns it. The program is never told of these members.
inline constexpr std::string_view trial_members = "trial_members";

}  // namespace trimtab::steer::knobs

namespace trimtab::steer {

// CPUs without which members were in one window: enough to act at once.
inline constexpr double lost_at_once = 0.5;
// A window may be told sooner: once it is half over, and members have lost so much that it is `lost_at_once` of all of it,
// whatever the rest brings. So nothing is acted on that would not be at its end.
bool has_lost_enough(double run_delay_s, double so_far_s, double window_s) noexcept;

// What a window tells. run_delay_s: that `members` threads were without a CPU in it, together; nothing: not known.
std::vector<figure> figures_of(const observe::cpu_window& ended, std::optional<double> run_delay_s, std::uint32_t members);
// What is told in every snapshot; windows: that have ended.
void add_figures_of(const observe::cpu_watch& machine, std::uint64_t windows, std::vector<figure>& figures_out);

}  // namespace trimtab::steer
