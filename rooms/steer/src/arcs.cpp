#include "trimtab/steer/arcs.hpp"

#include <algorithm>
#include <utility>

namespace trimtab::steer {

namespace {

constexpr std::string_view threads_knob = "threads";
constexpr std::string_view searched_knobs[] = {threads_knob, "schedule", "chunk"};
constexpr std::string_view schedules[] = {"static", "dynamic", "guided"};
constexpr knob_value chunks[] = {1, 8, 16, 32, 64, 128, 256, 512};
// Of machines with up to 32 threads, and of larger ones (there a POWER8 with 160). The program's own number is the seventh.
constexpr knob_value few_threads[] = {2, 4, 8, 16, 24, 32};
constexpr knob_value many_threads[] = {10, 20, 40, 80, 120, 160};
// A region becomes known a little later than its loops.
constexpr std::size_t measured_alone = 8;

void add_all(std::span<const knob_value> from, std::vector<knob_value>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

// The values of the knob that ARCS tries, what the program has among them.
std::vector<knob_value> search_set(const knob& knob) {
  std::vector<knob_value> wanted{knob.initial};
  if (knob.name == "schedule") {
    for (const std::string_view schedule : schedules)
      if (const auto value = knob.values.value_of(schedule)) wanted.push_back(*value);
  } else if (knob.name == "chunk") {
    add_all(chunks, wanted);
  } else if (knob.name == threads_knob) {
    const bool is_large = knob.values.at(knob.values.size() - 1) > few_threads[std::size(few_threads) - 1];
    add_all(is_large ? many_threads : few_threads, wanted);
  }
  std::erase_if(wanted, [&](knob_value candidate) { return !knob.values.contains(candidate); });
  return wanted;
}

bool is_equal(std::span<const knob_value> values, const std::vector<knob_value>& other) {
  return std::equal(values.begin(), values.end(), other.begin(), other.end());
}

void sort_unique(std::vector<knob_value>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

// The search of one region. The first of its members is the one whose time counts.
class arcs::region {
 public:
  region(const members& all, bool has_consent, bool was_tuned, arcs_kind kind, std::uint64_t seed) {
    for (const subject_view* subject : all) m_ids.push_back(subject->info.id);
    space dimensions;
    for (const std::string_view name : searched_knobs) add_dimension(name, all, has_consent, dimensions);
    m_has_consent = has_consent;
    if (was_tuned || dimensions.points() < 2) return;
    const search_kind kind_of_search = kind == arcs_kind::online ? search_kind::nelder_mead : search_kind::exhaustive;
    m_search = make_search(kind_of_search, std::move(dimensions), {seed, 0, {}});
    m_asked = m_search->ask();
  }

  bool has_members(const members& all) const {
    return std::equal(all.begin(), all.end(), m_ids.begin(), m_ids.end(),
                      [](const subject_view* subject, subject_id id) { return subject->info.id == id; });
  }

  bool is_over() const noexcept { return m_search == nullptr; }

  void go_on(const members& all, std::vector<proposal>& out) {
    const auto is_rest = [](const subject_view* subject) { return subject->is_others; };
    if (m_search == nullptr || std::any_of(all.begin(), all.end(), is_rest)) return;
    measure(all);
    if (!m_asked) return finish(all, "the best of its search", out);
    bring(all, *m_asked, "the next candidate", out);
  }

  void finish(const members& all, const char* reason, std::vector<proposal>& out) {
    if (m_search == nullptr) return;
    const std::optional<search::found> best = m_search->best();
    m_search.reset();
    if (!best) return;
    bring(all, best->at, reason, out);
    for (const subject_view* subject : all) {
      proposal proposed;
      proposed.subject = subject->info.id;
      proposed.what = outcome::kept;
      proposed.reason = reason;
      proposed.evidence = {{"measured", best->value}, {"measured_at_first", m_first}};
      out.push_back(std::move(proposed));
    }
  }

 private:
  struct dimension {
    std::string_view name;
    std::vector<knob_value> values;
  };

  bool is_allowed(const knob& knob) const { return knob.asks == consent::safe || m_has_consent; }

  void add_dimension(std::string_view name, const members& all, bool has_consent, space& dimensions) {
    dimension added{name, {}};
    std::vector<const knob*> knobs;
    for (const subject_view* subject : all)
      if (const auto place = subject->info.place_of(name))
        if (const knob& knob = subject->info.knobs[*place]; knob.asks == consent::safe || has_consent)
          knobs.push_back(&knob);
    if (knobs.empty()) return;
    for (const knob* knob : knobs) add_all(search_set(*knob), added.values);
    sort_unique(added.values);
    // A value that leaves all of them as they are, where there is one: a knob that has not the value keeps its own.
    const auto is_initial = [&](knob_value value) {
      return std::all_of(knobs.begin(), knobs.end(),
                         [&](const knob* knob) { return value == knob->initial || !knob->values.contains(value); });
    };
    auto initial = std::find_if(added.values.begin(), added.values.end(), is_initial);
    if (initial == added.values.end()) initial = std::find(added.values.begin(), added.values.end(), knobs.front()->initial);
    dimensions.start.push_back(static_cast<std::uint32_t>(initial - added.values.begin()));
    dimensions.dimensions.push_back({static_cast<std::uint32_t>(added.values.size()), knobs.front()->values.is_ordered()});
    m_dimensions.push_back(std::move(added));
  }

  // What a candidate is to this member: of values that a knob has not, its own.
  std::vector<knob_value> values_of(const subject_view& subject, const point& at) const {
    std::vector<knob_value> values;
    for (const knob& knob : subject.info.knobs) {
      values.push_back(knob.initial);
      for (std::size_t i = 0; i < m_dimensions.size(); ++i)
        if (m_dimensions[i].name == knob.name && is_allowed(knob) && knob.values.contains(m_dimensions[i].values[at[i]]))
          values.back() = m_dimensions[i].values[at[i]];
    }
    return values;
  }

  bool is_in_force(const members& all, const point& at) const {
    return std::all_of(all.begin(), all.end(),
                       [&](const subject_view* subject) { return is_equal(subject->in_force, values_of(*subject, at)); });
  }

  // Whether all of the region ran as it is now: under what its first member has, and its loops, if any was run, beside it.
  static bool is_of_now(const members& all, const measurement& taken) {
    if (taken.under != all.front()->since) return false;
    return all.size() == 1 || std::any_of(all.begin() + 1, all.end(),
                                          [&](const subject_view* subject) { return taken.beside == subject->since; });
  }

  // One entry of the region is all that a candidate gets.
  void measure(const members& all) {
    if (!m_asked || !is_in_force(all, *m_asked)) return;
    const std::span<const measurement> measured = all.front()->measured;
    const auto first =
        std::find_if(measured.begin(), measured.end(), [&](const measurement& taken) { return is_of_now(all, taken); });
    if (first == measured.end()) return;
    if (m_search->evaluations() == 0) m_first = first->value;
    const point at = *m_asked;
    m_search->tell(at, first->value);
    m_asked = m_search->ask();
  }

  void bring(const members& all, const point& at, const char* reason, std::vector<proposal>& out) const {
    for (const subject_view* subject : all) {
      const std::vector<knob_value> wanted = values_of(*subject, at);
      if (is_equal(subject->in_force, wanted)) continue;
      proposal proposed;
      proposed.subject = subject->info.id;
      proposed.reason = reason;
      for (std::uint32_t i = 0; i < wanted.size(); ++i)
        if (wanted[i] != subject->in_force[i]) proposed.changes.push_back({i, wanted[i]});
      out.push_back(std::move(proposed));
    }
  }

  std::vector<subject_id> m_ids;
  bool m_has_consent = false;
  std::vector<dimension> m_dimensions;
  std::unique_ptr<search> m_search;  // nullptr: none, or over
  std::optional<point> m_asked;
  double m_first = 0;
};

arcs::arcs(arcs_kind kind, std::uint64_t seed, std::function<bool(const subject_info&)> has_settings)
    : m_kind(kind), m_seed(seed), m_is_known(std::move(has_settings)) {}
arcs::~arcs() = default;

std::string_view arcs::name() const noexcept { return m_kind == arcs_kind::online ? "arcs-online" : "arcs-offline"; }

bool arcs::is_known(const members& subjects) const {
  return std::any_of(subjects.begin(), subjects.end(), [this](const subject_view* subject) {
    for (std::size_t i = 0; i < subject->info.knobs.size(); ++i)
      if (subject->accepted[i] != subject->info.knobs[i].initial) return true;
    return m_is_known && m_is_known(subject->info);
  });
}

// Loops that are measured together and searched alone take turns.
bool arcs::has_turn(const subject_view& subject) {
  if (subject.info.group == 0) return true;
  subject_id& turn = m_turns.emplace(subject.info.group, subject.info.id).first->second;
  if (const auto before = m_regions.find(turn); before != m_regions.end() && before->second->is_over())
    turn = subject.info.id;
  return turn == subject.info.id;
}

// A region that has threads, with its loops; otherwise each loop by itself, once it is clear that its region has none.
std::vector<arcs::members> arcs::regions_of(const view& now) {
  std::vector<members> groups;
  std::map<std::uint64_t, std::size_t> by_group;
  for (const subject_view& subject : now.subjects)
    if (subject.info.group != 0 && subject.info.place_of(threads_knob) &&
        by_group.emplace(subject.info.group, groups.size()).second)
      groups.push_back({&subject});
  for (const subject_view& subject : now.subjects) {
    const auto its_region = by_group.find(subject.info.group);
    if (its_region != by_group.end()) {
      members& all = groups[its_region->second];
      if (all.front() != &subject) all.push_back(&subject);
      continue;
    }
    std::size_t& waiting = m_waiting.emplace(subject.info.id, subject.info.group == 0 ? 0 : measured_alone).first->second;
    waiting -= std::min(waiting, subject.measured.size());
    if (waiting == 0 && has_turn(subject)) groups.push_back({&subject});
  }
  return groups;
}

void arcs::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id gone : now.gone) {
    m_regions.erase(gone);
    m_waiting.erase(gone);
    std::erase_if(m_turns, [gone](const auto& turn) { return turn.second == gone; });
  }
  for (const members& all : regions_of(now)) {
    std::unique_ptr<region>& tuned = m_regions[all.front()->info.id];
    // Another loop of it has become known: from the beginning, with that loop.
    if (!tuned || !tuned->has_members(all))
      tuned = std::make_unique<region>(all, now.has_consent, is_known(all), m_kind, m_seed);
    tuned->go_on(all, out);
    // As published: what is the best so far goes into the history.
    if (now.is_last) tuned->finish(all, "the best until the run ended", out);
  }
}

}  // namespace trimtab::steer
