#include "trimtab/steer/arcs.hpp"

#include <algorithm>

namespace trimtab::steer {

namespace {

constexpr std::string_view schedules[] = {"static", "dynamic", "guided"};
constexpr knob_value chunks[] = {1, 8, 16, 32, 64, 128, 256, 512};
constexpr knob_value threads[] = {2, 4, 8, 16, 24, 32};

// The values of the knob that ARCS tries, in the knob's order, what the program has among them; one alone: not its knob.
std::vector<knob_value> search_set(const knob& of) {
  std::vector<knob_value> wanted{of.initial};
  if (of.name == "schedule") {
    for (const std::string_view each : schedules)
      if (const auto value = of.values.value_of(each)) wanted.push_back(*value);
  } else if (of.name == "chunk") {
    wanted.insert(wanted.end(), std::begin(chunks), std::end(chunks));
  } else if (of.name == "threads") {
    wanted.insert(wanted.end(), std::begin(threads), std::end(threads));
  }
  std::erase_if(wanted, [&](knob_value each) { return !of.values.contains(each); });
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

bool is_equal(std::span<const knob_value> one, const std::vector<knob_value>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end());
}

}  // namespace

// The search of one subject.
class arcs::region {
 public:
  region(const subject_view& of, bool has_consent, arcs_kind kind, std::uint64_t seed) {
    space over;
    bool is_known = false;
    for (std::size_t i = 0; i < of.info.knobs.size(); ++i) {
      const knob& its = of.info.knobs[i];
      const bool is_allowed = its.asks == consent::safe || has_consent;
      m_sets.push_back(is_allowed ? search_set(its) : std::vector<knob_value>{its.initial});
      const auto own = std::find(m_sets[i].begin(), m_sets[i].end(), its.initial);
      over.start.push_back(static_cast<std::uint32_t>(own - m_sets[i].begin()));
      over.dimensions.push_back({static_cast<std::uint32_t>(m_sets[i].size()), its.values.is_ordered()});
      is_known = is_known || of.accepted[i] != its.initial;
    }
    if (is_known || over.points() < 2) return;
    const search_kind by = kind == arcs_kind::online ? search_kind::nelder_mead : search_kind::exhaustive;
    m_search = make_search(by, std::move(over), {seed, 0, {}});
    m_asked = m_search->ask();
  }

  void go_on(const subject_view& of, std::vector<proposal>& out) {
    if (m_search == nullptr || of.is_others) return;
    measure(of);
    if (!m_asked) return finish(of, "the best of its search", out);
    if (!is_in_force(of, *m_asked)) out.push_back(trial_of(of, *m_asked, "the next candidate"));
  }

  void finish(const subject_view& of, const char* why, std::vector<proposal>& out) {
    if (m_search == nullptr) return;
    const std::optional<search::found> best = m_search->best();
    m_search.reset();
    if (!best) return;
    proposal made;
    made.subject = of.info.id;
    made.reason = why;
    made.evidence = {{"measured", best->value}, {"measured_at_first", m_first}};
    if (is_equal(of.accepted, values_of(best->at))) {
      made.what = outcome::undone;
      if (is_in_force(of, best->at)) return;
    } else {
      made.what = outcome::kept;
      if (!is_in_force(of, best->at)) out.push_back(trial_of(of, best->at, why));
    }
    out.push_back(std::move(made));
  }

 private:
  // One entry of the region is all that a candidate gets.
  void measure(const subject_view& of) {
    if (!m_asked || !is_in_force(of, *m_asked)) return;
    const auto first = std::find_if(of.measured.begin(), of.measured.end(),
                                    [&](const measurement& each) { return each.under == of.since; });
    if (first == of.measured.end()) return;
    if (m_search->evaluations() == 0) m_first = first->value;
    const point at = *m_asked;
    m_search->tell(at, first->value);
    m_asked = m_search->ask();
  }

  std::vector<knob_value> values_of(const point& at) const {
    std::vector<knob_value> values;
    values.reserve(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) values.push_back(m_sets[i][at[i]]);
    return values;
  }
  bool is_in_force(const subject_view& of, const point& at) const { return is_equal(of.in_force, values_of(at)); }
  proposal trial_of(const subject_view& of, const point& at, const char* why) const {
    proposal made;
    made.subject = of.info.id;
    made.reason = why;
    const std::vector<knob_value> wanted = values_of(at);
    for (std::uint32_t i = 0; i < wanted.size(); ++i)
      if (wanted[i] != of.in_force[i]) made.changes.push_back({i, wanted[i]});
    return made;
  }

  std::vector<std::vector<knob_value>> m_sets;  // by knob
  std::unique_ptr<search> m_search;             // nullptr: none, or over
  std::optional<point> m_asked;
  double m_first = 0;
};

arcs::arcs(arcs_kind kind, std::uint64_t seed) : m_kind(kind), m_seed(seed) {}
arcs::~arcs() = default;

std::string_view arcs::name() const noexcept { return m_kind == arcs_kind::online ? "arcs-online" : "arcs-offline"; }

void arcs::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id each : now.gone) m_regions.erase(each);
  for (const subject_view& each : now.subjects) {
    std::unique_ptr<region>& its = m_regions[each.info.id];
    if (!its) its = std::make_unique<region>(each, now.has_consent, m_kind, m_seed);
    its->go_on(each, out);
    // As published: what is the best so far goes into the history.
    if (now.is_last) its->finish(each, "the best until the run ended", out);
  }
}

}  // namespace trimtab::steer
