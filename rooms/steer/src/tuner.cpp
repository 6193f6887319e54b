#include "trimtab/steer/tuner.hpp"

#include "tuning_session.hpp"

namespace trimtab::steer {

tuner::tuner(tuner_options options, std::string name) : m_options(std::move(options)), m_name(std::move(name)) {}
tuner::~tuner() = default;

void tuner::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id gone : now.gone) {
    const auto match = m_sessions.find(gone);
    if (match == m_sessions.end()) continue;
    if (m_active == match->second.get()) m_active = nullptr;
    m_sessions.erase(match);
  }
  const subject_view* active = nullptr;
  for (const subject_view& subject : now.subjects) {
    if (m_options.is_left_to_rules && m_options.is_left_to_rules(subject.info)) continue;
    std::unique_ptr<tuning_session>& session = m_sessions[subject.info.id];
    if (!session) session = std::make_unique<tuning_session>(subject.info, m_options);
    session->take_in(subject, now);
    if (session.get() == m_active) active = &subject;
  }
  if (now.is_last) return;
  if (m_active != nullptr && (active == nullptr || active->is_others)) m_active = nullptr;
  if (m_active != nullptr && m_active->is_stalled(now)) {
    m_active->interrupt(*active, out);
    m_active = nullptr;
  }
  // Little may be left to gain where most of it has been gained.
  if (const auto left = m_active == nullptr ? std::nullopt : m_active->left();
      left && most_promising(now, *left) != nullptr) {
    m_active->interrupt(*active, out);
    m_active = nullptr;
  }
  if (m_active == nullptr) active = choose(now);
  if (active == nullptr) return;
  m_active->go_on(*active, now, out);
  if (!m_active->is_under_way()) m_active = nullptr;
}

const subject_view* tuner::most_promising(const view& now, double largest) const {
  const subject_view* chosen = nullptr;
  for (const subject_view& subject : now.subjects) {
    const auto match = m_sessions.find(subject.info.id);
    if (match == m_sessions.end() || subject.is_others || match->second.get() == m_active || match->second->is_stalled(now))
      continue;
    const double promise = match->second->promise(subject, now);
    if (promise <= largest) continue;
    largest = promise;
    chosen = &subject;
  }
  return chosen;
}

const subject_view* tuner::choose(const view& now) {
  const subject_view* const chosen = most_promising(now, 0);
  if (chosen == nullptr) return nullptr;
  m_active = m_sessions[chosen->info.id].get();
  m_active->begin(*chosen, now);
  return chosen;
}

}  // namespace trimtab::steer
