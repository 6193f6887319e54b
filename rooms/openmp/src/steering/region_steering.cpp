#include "trimtab/openmp/region_steering.hpp"

#include <algorithm>
#include <charconv>
#include <deque>

#include "steering/region_sizes.hpp"
#include "trimtab/observe/recorder.hpp"
#include "trimtab/steer/diagnosis.hpp"

namespace trimtab::openmp {

using observe::the_recorder;
using steer::knob_value;

namespace {

constexpr std::uint32_t region_measured_before = 3;  // of what the program does, before a region is a subject
constexpr std::size_t most_region_measured_before = 16;
// Threads that slept under a smaller number are woken.
constexpr double region_change_s = 10e-6;
constexpr std::string_view its_knob = "threads";

double region_seconds(base::ticks took) noexcept {
  return static_cast<double>(took) * the_recorder.clock().ns_per_tick * 1e-9;
}

// Powers of two and the program's own; and what ARCS tries (steer/arcs.hpp).
std::vector<knob_value> sizes_up_to(knob_value own) {
  std::vector<knob_value> sizes;
  for (knob_value each = 1; each < own; each *= 2) sizes.push_back(each);
  if (own > 24) sizes.push_back(24);
  if (own > 32)
    for (const knob_value each : {10, 20, 40, 80, 120, 160})
      if (each < own) sizes.push_back(each);
  sizes.push_back(own);
  return sizes;
}

steer::knob knob_of(std::uint32_t own) {
  const auto most = static_cast<knob_value>(own);
  const knob_value half = std::max<knob_value>(most / 2, 1);
  return {std::string(its_knob),
          steer::certain(steer::domain::set(sizes_up_to(most))),
          most,
          region_change_s,
          steer::consent::safe,  // without the user's there is no such subject
          1,
          {{std::string(steer::causes::too_small), {1, half}}, {std::string(steer::causes::oversubscription), {half, 1}}}};
}

// The sizes of regions among what earlier runs found. Kept for as long as the process, whose threads look at them.
const std::vector<known_size>* sizes_of(const std::vector<steer::setting>& known) {
  static auto& kept = *new std::deque<std::vector<known_size>>;
  std::vector<known_size>& sizes = kept.emplace_back();
  for (const steer::setting& each : known)
    for (const auto& its : each.values) {
      std::uint32_t members = 0;
      const char* const end = its.text.data() + its.text.size();
      if (its.knob == its_knob && each.key.ends_with("/threads") &&
          std::from_chars(its.text.data(), end, members).ptr == end)
        sizes.push_back({each.key, members});
    }
  return &sizes;
}

}  // namespace

struct region_steering::entry {
  region_site* site = nullptr;
  bool is_known = false;
  bool was_known_before = false;  // to an earlier run
  steer::subject_id id = 0;
  std::string key;
  std::uint32_t own = 0;
  double instance_s = 0;
  std::uint32_t wanted = 0;
  std::vector<steer::measurement> measured;
};

region_steering::region_steering(steer::knob_registry& registry, const std::vector<steer::setting>& known,
                                 bool includes_fixed)
    : m_registry(registry), m_includes_fixed(includes_fixed) {
  if (includes_fixed) the_team_sizes.include_fixed(1);
  if (!prepare_regions(sizes_of(known))) {
    m_is_over = true;
    the_recorder.unavailable("numbers of threads of regions", "no memory", "");
    return;
  }
  is_fitting_teams.store(true, std::memory_order_release);
}

region_steering::~region_steering() = default;

bool region_steering::make_known(entry& fresh, steer::snapshot& now) {
  const std::uint32_t subject_1 = fresh.site->subject_1.load(std::memory_order_relaxed);
  fresh.own = fresh.site->own.load(std::memory_order_relaxed);
  if (subject_1 == 0 || fresh.own < 2) return false;
  if (char key[256]; fresh.key.empty() && write_region_key(fresh.site->outlined, key, sizeof key)) fresh.key = key;
  if (fresh.key.empty() || (!fresh.was_known_before && fresh.measured.size() < region_measured_before)) return false;
  fresh.id = subject_1 - 1;
  const bool is_taken = std::any_of(m_entries.begin(), m_entries.end(),
                                    [&](const auto& each) { return each->is_known && each->id == fresh.id; });
  if (is_taken) fresh.id = the_recorder.named_subject(observe::subject_kind::region, fresh.key.c_str(), "", 0);
  if (fresh.id == observe::no_subject) return false;
  steer::subject_info info{fresh.id, fresh.key, {knob_of(fresh.own)}, group_of(fresh.site->outlined)};
  fresh.wanted = fresh.own;
  // What was known is in force since the first region, and about to be set; unless it is no number of this one's.
  const region_request known = request_of(*fresh.site);
  if (known.members >= fresh.own || !info.knobs.front().values.contains(known.members))
    request_members(*fresh.site, {team_sizes::as_it_is, 0});
  entry* const mine = &fresh;
  // Both under the board's lock.
  const auto apply = [mine](std::uint32_t, knob_value to) {
    mine->wanted = static_cast<std::uint32_t>(to);
    return true;
  };
  const auto confirm = [mine](steer::decision_number number) {
    request_members(*mine->site, {mine->wanted >= mine->own ? team_sizes::as_it_is : mine->wanted, number});
  };
  m_registry.offer(now, {std::move(info), fresh.key, 0, apply, confirm});
  return true;
}

void region_steering::measure(entry& of, steer::subject_state& state) const {
  site_measurement taken{};
  while (of.site->measured.take(taken)) {
    if (taken.under == under_known_size) {
      of.was_known_before = true;
      continue;
    }
    const double seconds = region_seconds(taken.took);
    of.instance_s = seconds / static_cast<double>(taken.instances);
    if (of.is_known || of.measured.size() < most_region_measured_before)
      of.measured.push_back({taken.under, of.instance_s, seconds, taken.beside});
  }
  if (!of.is_known || of.measured.empty()) return;
  state.measured = std::move(of.measured);
  of.measured.clear();
  state.figures = {
      {std::string(steer::figures::instance_seconds), of.instance_s},
      {std::string(steer::figures::overhead_seconds), region_seconds(of.site->overhead.load(std::memory_order_relaxed))}};
}

void region_steering::leave(steer::snapshot& now) {
  m_is_over = true;
  for (const auto& offered : m_entries) {
    if (!offered->is_known) continue;
    m_registry.withdraw(now, offered->id);
  }
}

void region_steering::add_to(steer::snapshot& now) {
  if (m_is_over) return;
  const team_sizes::state state = the_team_sizes.now();
  if (the_team_sizes.is_promised() || (state != team_sizes::state::free && state != team_sizes::state::unknown))
    return leave(now);
  for (auto i = static_cast<std::uint32_t>(m_entries.size()), n = region_count(); i < n; ++i) {
    m_entries.push_back(std::make_unique<entry>());
    m_entries.back()->site = &region_site_at(i);
  }
  for (const auto& offered : m_entries) {
    steer::subject_state state_of_it;
    measure(*offered, state_of_it);
    if (!offered->is_known) {
      offered->is_known = make_known(*offered, now);
      if (!offered->is_known) continue;
      state_of_it.measured = std::move(offered->measured);
      offered->measured.clear();
    }
    state_of_it.id = offered->id;
    if (!state_of_it.measured.empty()) now.subjects.push_back(std::move(state_of_it));
  }
}

void region_steering::conclude() {
  const auto tell = [](const char* why, const char* remedy) {
    the_recorder.unavailable("numbers of threads of regions", why, remedy);
  };
  if (the_team_sizes.now() == team_sizes::state::set_by_program)
    tell("the program sets its number of threads itself (omp_set_num_threads)",
         "let it leave that to OMP_NUM_THREADS, or --threads-even-if-fixed");
  else if (the_team_sizes.now() == team_sizes::state::several_forkers)
    tell("several of its threads begin parallel regions", "");
  else if (the_team_sizes.is_promised())
    tell("the program was told its number of threads: all regions have that",
         "--threads fit: one number, told to it as well");
  else if (region_count() == 0)
    tell("no parallel region that leaves its number of threads open began",
         m_includes_fixed ? "" : "--threads-even-if-fixed: num_threads clauses, too");
}

}  // namespace trimtab::openmp
