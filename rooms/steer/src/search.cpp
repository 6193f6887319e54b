#include "trimtab/steer/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/algorithms.hpp"

namespace trimtab::steer {

namespace {

struct algorithm {
  search_kind kind;
  std::string_view name;
  search::body run;
  std::uint32_t most_evaluations;  // where nothing else was asked for
};

constexpr algorithm table[] = {
    {search_kind::exhaustive, "exhaustive", algorithms::exhaustive, 100'000},
    {search_kind::random, "random", algorithms::random, 60},
    {search_kind::hill_climbing, "hill-climbing", algorithms::hill_climbing, 100},
    {search_kind::nelder_mead, "nelder-mead", algorithms::nelder_mead, 100},
    {search_kind::parallel_rank_order, "parallel-rank-order", algorithms::parallel_rank_order, 100},
    {search_kind::simulated_annealing, "simulated-annealing", algorithms::simulated_annealing, 100},
    {search_kind::diagnosed, "diagnosed", algorithms::diagnosed, 16},
};

const algorithm& of(search_kind kind) noexcept { return table[static_cast<std::size_t>(kind)]; }

}  // namespace

std::string_view name_of(search_kind kind) noexcept { return of(kind).name; }

std::optional<search_kind> search_named(std::string_view name) noexcept {
  for (const algorithm& candidate : table)
    if (candidate.name == name) return candidate.kind;
  return std::nullopt;
}

std::unique_ptr<search> make_search(search_kind kind, space dimensions, search_limits limits) {
  if (limits.most_evaluations == 0) limits.most_evaluations = of(kind).most_evaluations;
  return std::make_unique<search>(of(kind).name, of(kind).run, std::move(dimensions), std::move(limits));
}

search::search(std::string_view name, body algorithm, space dimensions, search_limits limits)
    : m_name(name), m_space(std::move(dimensions)), m_limits(std::move(limits)), m_algorithm(algorithm(m_space, m_limits)) {
  m_wanted = m_algorithm.resume(nullptr);
  go_on();
}

// Resumes the algorithm until it wants something that is not known.
void search::go_on() {
  // An algorithm that goes on over known points only goes round in circles.
  constexpr int most_rounds_without_news = 1000;
  m_to_ask.clear();
  m_asked.clear();
  std::vector<double> values;
  for (int round = 0; round < most_rounds_without_news && m_wanted != nullptr; ++round) {
    for (const point& each : *m_wanted) {
      const point canonical = m_space.canonical(each);
      if (!m_known.contains(canonical) && std::find(m_asked.begin(), m_asked.end(), canonical) == m_asked.end())
        m_asked.push_back(canonical);
    }
    if (!m_asked.empty()) {
      const std::size_t room = m_limits.most_evaluations - std::min<std::size_t>(m_limits.most_evaluations, m_known.size());
      m_asked.resize(std::min(m_asked.size(), room));
      m_to_ask = m_asked;
      m_is_done = m_asked.empty();
      return;
    }
    values.clear();
    for (const point& each : *m_wanted) values.push_back(m_known.at(m_space.canonical(each)));
    m_wanted = m_algorithm.resume(&values);
  }
  m_is_done = true;
}

std::optional<point> search::ask() {
  if (m_to_ask.empty()) return std::nullopt;
  point next = std::move(m_to_ask.front());
  m_to_ask.erase(m_to_ask.begin());
  return next;
}

void search::tell(const point& at, double value) {
  if (!m_space.contains(at)) return;
  const point canonical = m_space.canonical(at);
  m_known[canonical] = std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
  std::erase(m_to_ask, canonical);
  std::erase(m_asked, canonical);
  if (m_asked.empty() && !m_is_done) go_on();
}

std::optional<search::found> search::best() const {
  const auto best = std::min_element(m_known.begin(), m_known.end(),
                                     [](const auto& first, const auto& other) { return first.second < other.second; });
  if (best == m_known.end() || !std::isfinite(best->second)) return std::nullopt;
  return found{best->first, best->second};
}

}  // namespace trimtab::steer
