#include "steering/region_sizes.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "steering/site_table.hpp"
#include "trimtab/base/hash.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {

using observe::the_recorder;

constinit steering_switch are_regions_fitted;
constinit thread_local forked_region t_forked{};

namespace {

constexpr std::uint32_t most_regions = 512;
// Long enough that threads which went to sleep under another number are awake for most of it.
constexpr double region_gathered_ns = 200'000;
constexpr unsigned members_shift = 40;
constexpr std::uint64_t under_mask = under_known_size;

base::spin_lock region_lock;  // of adding one
constinit site_table<region_site, most_regions> regions;
const std::vector<known_size>* known_sizes = nullptr;

std::uint64_t region_hash(const void* outlined) noexcept {
  return base::mix_fast(reinterpret_cast<std::uintptr_t>(outlined));
}
auto is_region_of(const void* outlined) noexcept {
  return [outlined](const region_site& candidate) { return candidate.outlined == outlined; };
}
region_site* find_region(const void* outlined) noexcept {
  return regions.find(region_hash(outlined), is_region_of(outlined));
}

// Not under our lock: it asks the loader.
std::uint32_t known_size_of(const void* outlined) noexcept {
  char key[256];
  if (known_sizes == nullptr || known_sizes->empty() || !write_region_key(outlined, key, sizeof key))
    return team_sizes::as_it_is;
  const auto size_found = std::find_if(known_sizes->begin(), known_sizes->end(),
                                       [&](const known_size& candidate) { return candidate.key == key; });
  return size_found == known_sizes->end() ? team_sizes::as_it_is : size_found->members;
}

// nullptr: there is no room for another.
region_site* region_site_of(const void* outlined) noexcept {
  if (region_site* const site_entry = find_region(outlined)) return site_entry;
  if (!regions.has_room()) return nullptr;
  const std::uint32_t members = known_size_of(outlined);
  const std::lock_guard guard(region_lock);
  if (region_site* const site_entry = find_region(outlined)) return site_entry;
  if (!regions.has_room()) return nullptr;
  return regions.add(region_hash(outlined), is_region_of(outlined), [&](region_site& added) {
    added.outlined = outlined;
    if (members != team_sizes::as_it_is) request_members(added, {members, under_known_size});
  });
}

// What ended before is counted; `late`: what it cost the region after it.
void count_ended(base::ticks late) noexcept {
  forked_region& fork_state = t_forked;
  if (fork_state.ended == nullptr) return;
  fork_state.of_ended.took += late;
  fork_state.ended->measured.add(fork_state.of_ended, the_recorder.ticks_of_ns(region_gathered_ns));
  fork_state.ended = nullptr;
}

void begin_fork(region_site* site, std::uint64_t decision_number, std::uint32_t members) noexcept {
  forked_region& fork_state = t_forked;
  fork_state.has_grown = members > fork_state.members;
  if (!fork_state.has_grown || site == nullptr) count_ended(0);
  fork_state.site = site;
  fork_state.under = decision_number;
  fork_state.beside = 0;
  fork_state.members = members;
  fork_state.forked_at = base::now();
}

}  // namespace

void request_members(region_site& site, const region_request& request) noexcept {
  site.requested.store(std::uint64_t{request.members} << members_shift | (request.under & under_mask),
                       std::memory_order_relaxed);
}

bool write_region_key(const void* outlined, char* buffer, std::size_t room) noexcept {
  char place[160];
  if (!the_recorder.place_of(outlined, place, sizeof place)) return false;
  std::snprintf(buffer, room, "%s/threads", place);
  return true;
}

bool prepare_regions(const std::vector<known_size>* sizes) noexcept {
  known_sizes = sizes;
  if (!regions.prepare()) return false;
  are_regions_fitted.store(true, std::memory_order_release);
  return true;
}

region_request request_of(const region_site& site) noexcept {
  const std::uint64_t word = site.requested.load(std::memory_order_relaxed);
  return {static_cast<std::uint32_t>(word >> members_shift), word & under_mask};
}

void regions_after_fork() noexcept {
  are_regions_fitted.store(false, std::memory_order_relaxed);
  region_lock.reset();
  t_forked = {};
}

std::uint32_t region_count() noexcept { return regions.size(); }
region_site& region_site_at(std::uint32_t index) noexcept { return regions.at(index); }

std::uint32_t fork_fitted(team_sizes& rules, const team_sizes::who& forker, const void* outlined,
                          std::uint32_t own_count) noexcept {
  region_site* site = outlined == nullptr ? nullptr : region_site_of(outlined);
  const region_request request = site == nullptr ? region_request() : request_of(*site);
  const bool is_free = !rules.is_promised();
  const std::uint32_t members = rules.fork(forker, own_count, request.members);
  if (!rules.is_first_forker(forker)) return members;
  if (!is_free || rules.now() != team_sizes::state::free) site = nullptr;
  if (site != nullptr && own_count > site->own.load(std::memory_order_relaxed))
    site->own.store(own_count, std::memory_order_relaxed);
  begin_fork(site, request.under, members == team_sizes::as_it_is ? own_count : members);
  return members;
}

void fork_fixed(const team_sizes& rules, const team_sizes::who& forker, std::uint32_t members) noexcept {
  if (rules.is_first_forker(forker)) begin_fork(nullptr, 0, members);
}

void region_started(base::ticks now) noexcept {
  forked_region& fork_state = t_forked;
  const base::ticks took = now - fork_state.forked_at;
  base::ticks& usual = fork_state.site->usual_start;
  if (fork_state.has_grown) {
    count_ended(usual != 0 && took > usual ? took - usual : 0);
  } else {
    usual = usual == 0 ? took : usual - usual / 8 + took / 8;
  }
  fork_state.has_grown = false;
}

void region_ended_slowly(const void* outlined, std::uint32_t subject, base::ticks wall) noexcept {
  forked_region& fork_state = t_forked;
  if (fork_state.site->outlined != outlined) return;
  count_ended(0);  // where its start was not seen
  fork_state.ended = fork_state.site;
  fork_state.of_ended = {fork_state.under, fork_state.beside, wall, 1, 1, 0};
  fork_state.site->subject_1.store(subject + 1, std::memory_order_relaxed);
  fork_state.site = nullptr;
}

// By whoever accounts for the region, which may be later, and another thread when its own has ended.
void note_longest_part(const void* outlined, base::ticks wall, base::ticks longest, std::uint32_t members) noexcept {
  region_site* const site = find_region(outlined);
  if (site == nullptr) return;
  const base::ticks overhead = members > 1 && wall > longest ? wall - longest : 0;
  const base::ticks before = site->overhead.load(std::memory_order_relaxed);
  site->overhead.store(before == 0 ? overhead : before - before / 8 + overhead / 8, std::memory_order_relaxed);
}

}  // namespace trimtab::openmp
