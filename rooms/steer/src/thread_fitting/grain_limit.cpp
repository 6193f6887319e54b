#include "trimtab/steer/thread_fitting/grain_limit.hpp"

#include <algorithm>

namespace trimtab::steer {

void grain_limit::wait_longer(double now_s) noexcept {
  m_next_s = now_s + m_wait_s;
  m_wait_s = std::min(2 * m_wait_s, m_options.most_wait_s);
}

knob_value grain_limit::next_trial(double now_s, double region_s, knob_value threads, knob_value fewest,
                                   knob_value largest) {
  if (m_trial != 0 || now_s < m_next_s || !(region_s > 0 && region_s <= m_options.short_s)) return 0;
  const bool is_downward = m_threads == none || (m_goes_down && fewest < threads);
  const knob_value down = m_by_half ? std::max(fewest, threads / 2) : fewest;
  const knob_value to = is_downward ? down : largest;
  if (to <= 0 || to == threads || (!is_downward && now_s < m_up_s)) return 0;
  // As if nothing gained from threads, or all did.
  const double slower = std::max(1.0, static_cast<double>(threads) / static_cast<double>(to));
  m_costs_s = std::clamp(m_options.block_regions * region_s * slower, m_options.block_s, m_options.most_block_s);
  return m_spent_s + m_costs_s <= m_options.budget_share * now_s ? to : 0;
}

void grain_limit::begin(double now_s, knob_value members, double trials) noexcept {
  m_trial = members;
  m_began_s = now_s;
  m_trials = trials;
}

grain_limit::result grain_limit::end(double now_s, double trials, double ratio, knob_value threads) noexcept {
  const bool is_finished = trials > m_trials;
  if (!is_finished && now_s - m_began_s < m_options.answer_s) return result::open;
  const knob_value tried = m_trial;
  m_trial = 0;
  if (!is_finished || !(ratio <= m_options.ratio)) {
    m_spent_s += m_costs_s;
    if (m_goes_down) m_by_half = !m_by_half;
    m_goes_down = m_threads == none || !m_goes_down;
    wait_longer(now_s);
    return result::no_gain;
  }
  m_goes_down = tried < threads;
  m_threads = tried;
  m_region_s = -1;
  // Further on at once; back as after a trial without gain.
  m_wait_s = m_options.wait_s;
  m_next_s = now_s;
  m_up_s = now_s + m_wait_s;
  return result::gain;
}

bool grain_limit::is_outgrown(double now_s, double region_s) noexcept {
  if (m_threads == none || m_trial != 0 || !(region_s > 0)) return false;
  if (m_region_s < 0) {
    m_region_s = region_s;
    return false;
  }
  if (region_s <= m_options.longer * m_region_s) return false;
  m_threads = none;
  m_goes_down = true;
  m_by_half = false;
  wait_longer(now_s);
  return true;
}

}  // namespace trimtab::steer
