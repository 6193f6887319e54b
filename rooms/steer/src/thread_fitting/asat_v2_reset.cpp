#include "trimtab/steer/thread_fitting/asat_v2_reset.hpp"

#include <algorithm>
#include <utility>

#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer {

namespace {

bool has_barrier_knob(std::span<const subject_view* const> subjects) {
  return std::any_of(subjects.begin(), subjects.end(),
                     [](const subject_view* subject) { return subject->info.place_of(knobs::barrier_members).has_value(); });
}

}  // namespace

std::optional<thread_fitting::verdict> asat_v2_reset::judge(const situation& now) {
  const auto number = now.figure_of(figures::evaluations), passage = now.figure_of(figures::passage_seconds);
  if (!number || !passage || *number == m_evaluated) return std::nullopt;
  m_evaluated = *number;
  const bool is_bad = *passage > m_options.bad_time_s;
  if (const knob_value tried = std::exchange(m_dips, 0); tried > 0) {
    const auto members = static_cast<knob_value>(now.figure_of(figures::passage_members).value_or(0));
    if (std::max(members, now.threads) >= tried) return after_dip(now, is_bad, tried);
    m_good = m_options.good_trig;  // the barrier was under way already when it was asked for
  }
  m_bad = is_bad ? m_bad + 1 : 0;
  m_good = is_bad ? 0 : m_good + 1;
  const std::vector<figure> evidence = now.evidence({figures::passage_seconds});
  if (m_bad >= m_options.bad_trig && now.fewer) {
    m_bad = 0;
    return verdict{*now.fewer, "barrier passages take long", evidence};
  }
  if (m_good < m_options.good_trig || !now.more) return std::nullopt;
  m_good = 0;
  m_dips = *now.more;
  if (has_barrier_knob(now.subjects)) return verdict{now.threads, "tries a barrier with one more", evidence, m_dips};
  return verdict{m_dips, "tries one more", evidence};
}

std::optional<thread_fitting::verdict> asat_v2_reset::after_dip(const situation& now, bool is_bad, knob_value tried) const {
  const std::vector<figure> evidence = now.evidence({figures::passage_seconds});
  if (!is_bad) return verdict{tried, "barrier passages are short with one more", evidence};
  const bool is_in_force = now.threads >= tried && now.fewer;
  return verdict{is_in_force ? *now.fewer : now.threads, "barrier passages take long with one more", evidence};
}

}  // namespace trimtab::steer
