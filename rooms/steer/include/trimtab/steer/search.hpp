// Searches, ask/tell: a live program measures what is asked for, whenever it comes to it. A search is started at the space's
// incumbent, asks for no point twice and for none that means the same as one before. Deterministic by seed. One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/steer/search_sequence.hpp"
#include "trimtab/steer/space.hpp"

namespace trimtab::steer {

struct search_limits {
  std::uint64_t seed = 1;
  std::uint32_t most_evaluations = 200;
  std::vector<point> hints;  // where to begin, best guess first: what was diagnosed, or known from another run
};

class search {
 public:
  // The algorithm's body, which awaits measurements. The space and limits live as long as it.
  using body = search_sequence (*)(const space& over, const search_limits& within);
  search(std::string_view name, body algorithm, space dimensions, search_limits limits);
  search(const search&) = delete;
  search& operator=(const search&) = delete;

  std::string_view name() const noexcept { return m_name; }
  const space& over() const noexcept { return m_space; }

  // The next point to be measured. Several may be asked for before they are told (by a search that has several at a time).
  // None: the search waits for what was asked for, or is done.
  std::optional<point> ask();
  // What was measured there: less is better; infinity for what failed. Points that were not asked for count, too.
  void tell(const point& at, double value);

  bool is_done() const noexcept { return m_is_done; }
  std::uint32_t evaluations() const noexcept { return static_cast<std::uint32_t>(m_known.size()); }
  struct found {
    point at;
    double value;
  };
  std::optional<found> best() const;  // of what was told

 private:
  void go_on();
  const std::string m_name;
  const space m_space;
  const search_limits m_limits;
  search_sequence m_algorithm;
  std::map<point, double> m_known;
  const std::vector<point>* m_wanted = nullptr;  // by the algorithm, known or not; in its frame
  std::vector<point> m_to_ask, m_asked;          // not handed out yet; not told yet
  bool m_is_done = false;
};

enum class search_kind : std::uint8_t {
  exhaustive,
  random,
  hill_climbing,
  nelder_mead,
  parallel_rank_order,
  simulated_annealing,
  diagnosed,
};
inline constexpr search_kind all_searches[] = {
    search_kind::exhaustive,          search_kind::random,
    search_kind::hill_climbing,       search_kind::nelder_mead,
    search_kind::parallel_rank_order, search_kind::simulated_annealing,
    search_kind::diagnosed,
};
std::string_view name_of(search_kind kind) noexcept;
std::optional<search_kind> search_named(std::string_view name) noexcept;

// Where most_evaluations of the limits is 0, what suits the kind.
std::unique_ptr<search> make_search(search_kind kind, space dimensions, search_limits limits = {});

}  // namespace trimtab::steer
