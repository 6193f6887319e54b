#include "trimtab/steer/outside_policy.hpp"

#include <stdexcept>

#include "outside_text.hpp"

namespace trimtab::steer {

namespace {

constexpr std::size_t most_measured = 1024;  // of a subject, in one snapshot
constexpr std::size_t most_happened = 1024;

}  // namespace

outside_policy::outside_policy(std::string name, outside_exchange exchange,
                               std::function<std::string(const subject_info&)> key_of, outside_limits limits)
    : m_name(std::move(name)),
      m_with(std::move(exchange)),
      m_key_of(std::move(key_of)),
      m_limits(limits),
      m_when{limits.period_s, {}} {}

template <class work>
auto outside_policy::exchanged(work action) {
  try {
    return action();
  } catch (const std::exception& error) {
    m_fault = error.what();
    throw;
  }
}

void outside_policy::ask(const view& now) {
  const std::string text = snapshot_text(++m_number, now, m_measured, m_happened, m_key_of);
  exchanged([&] { m_with.ask(text); });
  m_measured.clear();
  m_happened.clear();
  m_is_waiting = true;
  m_asked_s = now.time_s;
}

bool outside_policy::take_answer(const view& now, std::vector<proposal>& out) {
  std::string text;
  if (!exchanged([&] { return m_with.answer(text); })) return false;
  // An answer to another snapshot is none, and takes no part; one that makes no sense does.
  m_answered = text;
  std::optional<outside_answer> answer = read_answer(text, m_number, now);
  if (!answer) {
    m_answered.reset();
    return false;
  }
  out = std::move(answer->proposals);
  if (answer->when) m_when = *std::move(answer->when);
  return true;
}

bool outside_policy::is_due(double time_s) const {
  if (m_number == 0) return true;
  return (m_when.is_periodic() && time_s - m_asked_s >= m_when.period_s) || m_when.is_triggered_by(m_happened);
}

void outside_policy::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id gone : now.gone) m_measured.erase(gone);
  m_happened.insert(m_happened.end(), now.events.begin(), now.events.end());
  if (m_happened.size() > most_happened)
    m_happened.erase(m_happened.begin(), m_happened.end() - static_cast<std::ptrdiff_t>(most_happened));
  for (const subject_view& subject : now.subjects) {
    std::vector<measurement>& kept = m_measured[subject.info.id];
    for (const measurement& taken : subject.measured)
      if (kept.size() < most_measured) kept.push_back(taken);
  }
  if (now.is_last) return ask(now);  // nobody waits for an answer
  if (m_is_waiting) {
    if (take_answer(now, out)) {
      m_is_waiting = false;
      m_has_answered = true;
    } else if (now.time_s - m_asked_s > (m_has_answered ? m_limits.answer_s : m_limits.begin_s)) {
      throw std::runtime_error("has not answered for " + std::to_string(static_cast<int>(now.time_s - m_asked_s)) + " s");
    }
  }
  if (!m_is_waiting && is_due(now.time_s)) ask(now);
}

}  // namespace trimtab::steer
