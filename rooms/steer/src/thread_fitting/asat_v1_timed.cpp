#include "trimtab/steer/thread_fitting/asat_v1_timed.hpp"

#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer {

std::optional<thread_fitting::verdict> asat_v1_timed::judge(const situation& now) {
  const auto number = now.figure_of(figures::evaluations), spread = now.figure_of(figures::iterations_spread);
  if (!number || !spread || *number == m_evaluated) return std::nullopt;
  m_evaluated = *number;
  const bool is_bad = *spread > m_options.bad_spread;
  m_bad = is_bad ? m_bad + 1 : 0;
  m_good = is_bad ? 0 : m_good + 1;
  const std::vector<figure> evidence = now.evidence({figures::iterations_spread});
  if (m_bad >= m_options.bad_trig && now.fewer) {
    m_bad = 0;
    return verdict{*now.fewer, "threads do unequal shares of 1000 empty iterations", evidence};
  }
  if (m_good >= m_options.good_trig && now.more) {
    m_good = 0;
    return verdict{*now.more, "threads do equal shares of 1000 empty iterations", evidence};
  }
  return std::nullopt;
}

}  // namespace trimtab::steer
