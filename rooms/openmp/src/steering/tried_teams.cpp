#include "steering/tried_teams.hpp"

#include <utility>

#include "steering/team_sizes.hpp"
#include "trimtab/base/clock.hpp"
#include "trimtab/observe/recorder.hpp"
#include "trimtab/steer/thread_fitting/team_trial.hpp"

namespace trimtab::openmp {

using observe::the_recorder;

std::atomic<std::uint32_t> members_to_try{0}, members_tried_next{0};

namespace {

constexpr double least_block_ns = 1e6;
constexpr double most_block_ns = 10e6;

std::atomic<std::uint64_t> asked{0};

// One writer, the thread that forks; the number is stored last.
std::atomic<std::uint64_t> trials_over{0};
std::atomic<double> latest_ratio{0};
steer::team_trial under_way;
std::uint64_t begun = 0;     // which that was asked for
std::uint32_t tellings = 0;  // when the latest region was forked

// A program that relies on what it was told was told of this region what it was to be told.
bool is_as_told(std::uint32_t members, std::uint32_t before) noexcept {
  if (!the_team_sizes.is_promised()) return true;
  const bool is_latest = the_team_sizes.latest() == members;
  return tellings != before &&
         (!under_way.is_counted() || is_latest == (members_tried_next.load(std::memory_order_relaxed) != 0));
}

}  // namespace

void try_members(std::uint32_t members) noexcept {
  asked.fetch_add(1, std::memory_order_relaxed);
  members_to_try.store(members, std::memory_order_release);
}

tried_team latest_trial() noexcept {
  tried_team created;
  created.number = trials_over.load(std::memory_order_acquire);
  created.ratio = latest_ratio.load(std::memory_order_relaxed);
  return created;
}

std::uint32_t tried_members_slowly(std::uint32_t own_count) noexcept {
  const std::uint32_t members = members_to_try.load(std::memory_order_acquire);
  const std::uint32_t before = std::exchange(tellings, the_team_sizes.tellings());
  if (members == 0 || members > own_count || the_team_sizes.now() != team_sizes::state::free) return 0;
  if (const std::uint64_t request = asked.load(std::memory_order_relaxed); request != begun) {
    begun = request;
    steer::team_trial_options options;
    options.least_block = static_cast<std::uint64_t>(the_recorder.ticks_of_ns(least_block_ns));
    options.most_block = static_cast<std::uint64_t>(the_recorder.ticks_of_ns(most_block_ns));
    under_way = steer::team_trial(options);
  }
  if (under_way.is_over()) return 0;
  const bool is_tried = under_way.begin_region(base::now());
  members_tried_next.store(is_tried ? members : 0, std::memory_order_relaxed);
  if (!is_as_told(members, before)) under_way.give_up();
  if (under_way.is_over()) {
    members_tried_next.store(0, std::memory_order_relaxed);
    latest_ratio.store(under_way.ratio(), std::memory_order_relaxed);
    trials_over.store(trials_over.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  if (the_team_sizes.is_promised()) return the_team_sizes.latest();
  return is_tried ? members : 0;
}

}  // namespace trimtab::openmp
