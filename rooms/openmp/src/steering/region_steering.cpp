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
std::vector<knob_value> sizes_up_to(knob_value own_count) {
  std::vector<knob_value> sizes;
  for (knob_value team_size = 1; team_size < own_count; team_size *= 2) sizes.push_back(team_size);
  if (own_count > 24) sizes.push_back(24);
  if (own_count > 32)
    for (const knob_value each : {10, 20, 40, 80, 120, 160})
      if (each < own_count) sizes.push_back(each);
  sizes.push_back(own_count);
  return sizes;
}

steer::knob knob_of(std::uint32_t own_count) {
  const auto largest = static_cast<knob_value>(own_count);
  const knob_value half = std::max<knob_value>(largest / 2, 1);
  return {std::string(its_knob),
          steer::certain(steer::domain::set(sizes_up_to(largest))),
          largest,
          region_change_s,
          steer::consent::safe,  // without the user's there is no such subject
          1,
          {{std::string(steer::causes::too_small), {1, half}}, {std::string(steer::causes::oversubscription), {half, 1}}}};
}

// The sizes of regions among what earlier runs found. Kept for as long as the process, whose threads look at them.
const std::vector<known_size>* sizes_of(const std::vector<steer::setting>& settings) {
  static auto& kept = *new std::deque<std::vector<known_size>>;
  std::vector<known_size>& sizes = kept.emplace_back();
  for (const steer::setting& saved : settings)
    for (const auto& saved_value : saved.values) {
      std::uint32_t members = 0;
      const char* const end = saved_value.text.data() + saved_value.text.size();
      if (saved_value.knob == its_knob && saved.key.ends_with("/threads") &&
          std::from_chars(saved_value.text.data(), end, members).ptr == end)
        sizes.push_back({saved.key, members});
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

region_steering::region_steering(steer::knob_registry& registry, const std::vector<steer::setting>& settings,
                                 bool includes_fixed)
    : m_registry(registry), m_includes_fixed(includes_fixed) {
  if (includes_fixed) the_team_sizes.include_fixed(1);
  if (!prepare_regions(sizes_of(settings))) {
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
  const bool is_used = std::any_of(m_entries.begin(), m_entries.end(),
                                   [&](const auto& candidate) { return candidate->is_known && candidate->id == fresh.id; });
  if (is_used) fresh.id = the_recorder.named_subject(observe::subject_kind::region, fresh.key.c_str(), "", 0);
  if (fresh.id == observe::no_subject) return false;
  steer::subject_info info{fresh.id, fresh.key, {knob_of(fresh.own)}, group_of(fresh.site->outlined)};
  fresh.wanted = fresh.own;
  // What was known is in force since the first region, and about to be set; unless it is no number of this one's.
  const region_request request = request_of(*fresh.site);
  if (request.members >= fresh.own || !info.knobs.front().values.contains(request.members))
    request_members(*fresh.site, {team_sizes::as_it_is, 0});
  entry* const self = &fresh;
  // Both under the board's lock.
  const auto apply = [self](std::uint32_t, knob_value to) {
    self->wanted = static_cast<std::uint32_t>(to);
    return true;
  };
  const auto confirm = [self](steer::decision_number number) {
    request_members(*self->site, {self->wanted >= self->own ? team_sizes::as_it_is : self->wanted, number});
  };
  m_registry.offer(now, {std::move(info), fresh.key, 0, apply, confirm});
  return true;
}

void region_steering::measure(entry& subject_entry, steer::subject_state& state) const {
  site_measurement measured{};
  while (subject_entry.site->measured.take(measured)) {
    if (measured.under == under_known_size) {
      subject_entry.was_known_before = true;
      continue;
    }
    const double seconds = region_seconds(measured.took);
    subject_entry.instance_s = seconds / static_cast<double>(measured.instances);
    if (subject_entry.is_known || subject_entry.measured.size() < most_region_measured_before)
      subject_entry.measured.push_back({measured.under, subject_entry.instance_s, seconds, measured.beside});
  }
  if (!subject_entry.is_known || subject_entry.measured.empty()) return;
  state.measured = std::move(subject_entry.measured);
  subject_entry.measured.clear();
  state.figures = {{std::string(steer::figures::instance_seconds), subject_entry.instance_s},
                   {std::string(steer::figures::overhead_seconds),
                    region_seconds(subject_entry.site->overhead.load(std::memory_order_relaxed))}};
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
  const auto report_unavailable = [](const char* reason, const char* remedy) {
    the_recorder.unavailable("numbers of threads of regions", reason, remedy);
  };
  if (the_team_sizes.now() == team_sizes::state::set_by_program)
    report_unavailable("the program sets its number of threads itself (omp_set_num_threads)",
                       "let it leave that to OMP_NUM_THREADS, or --threads-even-if-fixed");
  else if (the_team_sizes.now() == team_sizes::state::several_forkers)
    report_unavailable("several of its threads begin parallel regions", "");
  else if (the_team_sizes.is_promised())
    report_unavailable("the program was told its number of threads: all regions have that",
                       "--threads fit: one number, told to it as well");
  else if (region_count() == 0)
    report_unavailable("no parallel region that leaves its number of threads open began",
                       m_includes_fixed ? "" : "--threads-even-if-fixed: num_threads clauses, too");
}

}  // namespace trimtab::openmp
