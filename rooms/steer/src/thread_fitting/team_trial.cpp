#include "trimtab/steer/thread_fitting/team_trial.hpp"

#include <algorithm>

namespace trimtab::steer {

void team_trial::end_block(double per_region) noexcept {
  (is_on_trial() ? m_tried : m_usual) = per_region;
  m_block += 1;
  m_forks = 0;
  if (m_block % 2 != 0) return;
  m_worst = std::max(m_worst, m_usual > 0 ? m_tried / m_usual : 1);
  m_is_over = m_worst > m_options.ratio || m_block == 2 * m_options.pairs;
}

void team_trial::give_up() noexcept {
  m_worst = std::max(m_worst, 1.0);
  m_is_over = true;
}

bool team_trial::begin_region(std::uint64_t now) noexcept {
  if (m_is_over) return false;
  if (is_counted()) {
    const std::uint64_t took = now - m_began;
    const std::uint32_t counted = m_forks - not_counted;
    if (took > m_options.most_block) {
      give_up();  // long regions, or long pauses between them
    } else if (took >= m_options.least_block && counted >= m_options.regions) {
      end_block(static_cast<double>(took) / counted);
    }
  }
  if (m_is_over) return false;
  m_forks += 1;
  if (m_forks == not_counted + 1) m_began = now;
  return is_on_trial();
}

}  // namespace trimtab::steer
