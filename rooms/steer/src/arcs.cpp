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
std::vector<knob_value> search_set(const knob& of) {
  std::vector<knob_value> wanted{of.initial};
  if (of.name == "schedule") {
    for (const std::string_view schedule : schedules)
      if (const auto value = of.values.value_of(schedule)) wanted.push_back(*value);
  } else if (of.name == "chunk") {
    add_all(chunks, wanted);
  } else if (of.name == threads_knob) {
    const bool is_large = of.values.at(of.values.size() - 1) > few_threads[std::size(few_threads) - 1];
    add_all(is_large ? many_threads : few_threads, wanted);
  }
  std::erase_if(wanted, [&](knob_value each) { return !of.values.contains(each); });
  return wanted;
}

bool is_equal(std::span<const knob_value> one, const std::vector<knob_value>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end());
}

void sort_unique(std::vector<knob_value>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

// The search of one region. The first of its members is the one whose time counts.
class arcs::region {
 public:
  region(const members& all, bool has_consent, bool is_known, arcs_kind kind, std::uint64_t seed) {
    for (const subject_view* each : all) m_ids.push_back(each->info.id);
    space over;
    for (const std::string_view name : searched_knobs) add_dimension(name, all, has_consent, over);
    m_has_consent = has_consent;
    if (is_known || over.points() < 2) return;
    const search_kind by = kind == arcs_kind::online ? search_kind::nelder_mead : search_kind::exhaustive;
    m_search = make_search(by, std::move(over), {seed, 0, {}});
    m_asked = m_search->ask();
  }

  bool has_members(const members& all) const {
    return std::equal(all.begin(), all.end(), m_ids.begin(), m_ids.end(),
                      [](const subject_view* each, subject_id id) { return each->info.id == id; });
  }

  bool is_over() const noexcept { return m_search == nullptr; }

  void go_on(const members& all, std::vector<proposal>& out) {
    const auto is_others = [](const subject_view* each) { return each->is_others; };
    if (m_search == nullptr || std::any_of(all.begin(), all.end(), is_others)) return;
    measure(all);
    if (!m_asked) return finish(all, "the best of its search", out);
    bring(all, *m_asked, "the next candidate", out);
  }

  void finish(const members& all, const char* why, std::vector<proposal>& out) {
    if (m_search == nullptr) return;
    const std::optional<search::found> best = m_search->best();
    m_search.reset();
    if (!best) return;
    bring(all, best->at, why, out);
    for (const subject_view* each : all) {
      proposal made;
      made.subject = each->info.id;
      made.what = outcome::kept;
      made.reason = why;
      made.evidence = {{"measured", best->value}, {"measured_at_first", m_first}};
      out.push_back(std::move(made));
    }
  }

 private:
  struct dimension {
    std::string_view name;
    std::vector<knob_value> values;
  };

  bool is_allowed(const knob& which) const { return which.asks == consent::safe || m_has_consent; }

  void add_dimension(std::string_view name, const members& all, bool has_consent, space& over) {
    dimension added{name, {}};
    std::vector<const knob*> knobs;
    for (const subject_view* each : all)
      if (const auto place = each->info.place_of(name))
        if (const knob& its = each->info.knobs[*place]; its.asks == consent::safe || has_consent) knobs.push_back(&its);
    if (knobs.empty()) return;
    for (const knob* each : knobs) add_all(search_set(*each), added.values);
    sort_unique(added.values);
    // A value that leaves all of them as they are, where there is one: a knob that has not the value keeps its own.
    const auto is_own = [&](knob_value value) {
      return std::all_of(knobs.begin(), knobs.end(),
                         [&](const knob* each) { return value == each->initial || !each->values.contains(value); });
    };
    auto own = std::find_if(added.values.begin(), added.values.end(), is_own);
    if (own == added.values.end()) own = std::find(added.values.begin(), added.values.end(), knobs.front()->initial);
    over.start.push_back(static_cast<std::uint32_t>(own - added.values.begin()));
    over.dimensions.push_back({static_cast<std::uint32_t>(added.values.size()), knobs.front()->values.is_ordered()});
    m_dimensions.push_back(std::move(added));
  }

  // What a candidate is to this member: of values that a knob has not, its own.
  std::vector<knob_value> values_of(const subject_view& of, const point& at) const {
    std::vector<knob_value> values;
    for (const knob& each : of.info.knobs) {
      values.push_back(each.initial);
      for (std::size_t i = 0; i < m_dimensions.size(); ++i)
        if (m_dimensions[i].name == each.name && is_allowed(each) && each.values.contains(m_dimensions[i].values[at[i]]))
          values.back() = m_dimensions[i].values[at[i]];
    }
    return values;
  }

  bool is_in_force(const members& all, const point& at) const {
    return std::all_of(all.begin(), all.end(),
                       [&](const subject_view* each) { return is_equal(each->in_force, values_of(*each, at)); });
  }

  // Whether all of the region ran as it is now: under what its first member has, and its loops, if any was run, beside it.
  static bool is_of_now(const members& all, const measurement& one) {
    if (one.under != all.front()->since) return false;
    return all.size() == 1 ||
           std::any_of(all.begin() + 1, all.end(), [&](const subject_view* each) { return one.beside == each->since; });
  }

  // One entry of the region is all that a candidate gets.
  void measure(const members& all) {
    if (!m_asked || !is_in_force(all, *m_asked)) return;
    const std::span<const measurement> measured = all.front()->measured;
    const auto first =
        std::find_if(measured.begin(), measured.end(), [&](const measurement& each) { return is_of_now(all, each); });
    if (first == measured.end()) return;
    if (m_search->evaluations() == 0) m_first = first->value;
    const point at = *m_asked;
    m_search->tell(at, first->value);
    m_asked = m_search->ask();
  }

  void bring(const members& all, const point& at, const char* why, std::vector<proposal>& out) const {
    for (const subject_view* each : all) {
      const std::vector<knob_value> wanted = values_of(*each, at);
      if (is_equal(each->in_force, wanted)) continue;
      proposal made;
      made.subject = each->info.id;
      made.reason = why;
      for (std::uint32_t i = 0; i < wanted.size(); ++i)
        if (wanted[i] != each->in_force[i]) made.changes.push_back({i, wanted[i]});
      out.push_back(std::move(made));
    }
  }

  std::vector<subject_id> m_ids;
  bool m_has_consent = false;
  std::vector<dimension> m_dimensions;
  std::unique_ptr<search> m_search;  // nullptr: none, or over
  std::optional<point> m_asked;
  double m_first = 0;
};

arcs::arcs(arcs_kind kind, std::uint64_t seed, std::function<bool(const subject_info&)> is_known)
    : m_kind(kind), m_seed(seed), m_is_known(std::move(is_known)) {}
arcs::~arcs() = default;

std::string_view arcs::name() const noexcept { return m_kind == arcs_kind::online ? "arcs-online" : "arcs-offline"; }

bool arcs::is_known(const members& of) const {
  return std::any_of(of.begin(), of.end(), [this](const subject_view* each) {
    for (std::size_t i = 0; i < each->info.knobs.size(); ++i)
      if (each->accepted[i] != each->info.knobs[i].initial) return true;
    return m_is_known && m_is_known(each->info);
  });
}

// Loops that are measured together and searched alone take turns.
bool arcs::has_turn(const subject_view& which) {
  if (which.info.group == 0) return true;
  subject_id& turn = m_turns.emplace(which.info.group, which.info.id).first->second;
  if (const auto before = m_regions.find(turn); before != m_regions.end() && before->second->is_over()) turn = which.info.id;
  return turn == which.info.id;
}

// A region that has threads, with its loops; otherwise each loop by itself, once it is clear that its region has none.
std::vector<arcs::members> arcs::regions_of(const view& now) {
  std::vector<members> found;
  std::map<std::uint64_t, std::size_t> by_group;
  for (const subject_view& each : now.subjects)
    if (each.info.group != 0 && each.info.place_of(threads_knob) && by_group.emplace(each.info.group, found.size()).second)
      found.push_back({&each});
  for (const subject_view& each : now.subjects) {
    const auto its_region = by_group.find(each.info.group);
    if (its_region != by_group.end()) {
      members& all = found[its_region->second];
      if (all.front() != &each) all.push_back(&each);
      continue;
    }
    std::size_t& waiting = m_waiting.emplace(each.info.id, each.info.group == 0 ? 0 : measured_alone).first->second;
    waiting -= std::min(waiting, each.measured.size());
    if (waiting == 0 && has_turn(each)) found.push_back({&each});
  }
  return found;
}

void arcs::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id each : now.gone) {
    m_regions.erase(each);
    m_waiting.erase(each);
    std::erase_if(m_turns, [each](const auto& of) { return of.second == each; });
  }
  for (const members& all : regions_of(now)) {
    std::unique_ptr<region>& its = m_regions[all.front()->info.id];
    // Another loop of it has become known: from the beginning, with that loop.
    if (!its || !its->has_members(all)) its = std::make_unique<region>(all, now.has_consent, is_known(all), m_kind, m_seed);
    its->go_on(all, out);
    // As published: what is the best so far goes into the history.
    if (now.is_last) its->finish(all, "the best until the run ended", out);
  }
}

}  // namespace trimtab::steer
