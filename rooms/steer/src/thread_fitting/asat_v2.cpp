#include "trimtab/steer/thread_fitting/asat_v2.hpp"

#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer {

void asat_v2::begin_anew(double) {
  m_bad = m_good = 0;
  m_planned = {};
}

std::optional<thread_fitting::verdict> asat_v2::judge_passage(const situation& now) {
  const auto number = now.figure_of(figures::evaluations), passage = now.figure_of(figures::passage_seconds);
  if (!number || !passage || *number == m_evaluated) return std::nullopt;
  m_evaluated = *number;
  const bool is_bad = *passage > m_options.bad_time_s;
  m_bad = is_bad ? m_bad + 1 : 0;
  m_good = is_bad ? 0 : m_good + 1;
  if (m_bad >= m_options.bad_trig && now.fewer) {
    m_planned = {};
    return verdict{*now.fewer, "barrier passages take long", now.evidence({figures::passage_seconds})};
  }
  if (m_good >= m_options.good_trig && now.more) return judge_dip(now);
  return std::nullopt;
}

std::optional<thread_fitting::verdict> asat_v2::judge_dip(const situation& now) {
  const auto dip = now.figure_of(figures::dip_seconds);
  const auto members = static_cast<knob_value>(now.figure_of(figures::dip_members).value_or(0));
  if (!dip || !now.more || members != *now.more || *dip >= m_options.longest_dip_s()) return std::nullopt;
  m_planned = {};
  return verdict{*now.more, "barrier passages are short with one more",
                 now.evidence({figures::passage_seconds, figures::dip_seconds})};
}

std::optional<thread_fitting::verdict> asat_v2::plan(const situation& now) {
  next_step next;
  if (m_bad + 1 >= m_options.bad_trig && now.fewer) next.drop = *now.fewer;
  if (m_good + 1 >= m_options.good_trig && now.more) next.dip = *now.more;
  if (next == m_planned) return std::nullopt;
  m_planned = next;
  verdict planned{now.threads,
                  next.dip > 0    ? "after the next short passage it tries a barrier with one more"
                  : next.drop > 0 ? "the next long passage takes a thread"
                                  : "one more passage changes nothing",
                  now.evidence({figures::passage_seconds})};
  planned.threads_if_bad = next.drop;
  planned.barrier_members = next.dip;
  return planned;
}

std::optional<thread_fitting::verdict> asat_v2::judge(const situation& now) {
  if (auto changed = judge_passage(now)) return changed;
  return plan(now);
}

}  // namespace trimtab::steer
