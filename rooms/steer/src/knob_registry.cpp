#include "trimtab/steer/knob_registry.hpp"

#include <utility>

namespace trimtab::steer {

knob_registry::knob_registry(board& knobs, decision_record& record)
    : knob_registry(knobs, [&record](const knob_offer& offered) { record.add(offered.info, offered.key); }) {}

void knob_registry::offer(snapshot& now, knob_offer offered) {
  m_keys.insert_or_assign(offered.info.id, offered.key);
  m_offered(offered);
  m_board.add(offered.info, std::move(offered.apply), std::move(offered.confirm));
  now.appeared.push_back(std::move(offered.info));
}

void knob_registry::withdraw(snapshot& now, subject_id subject) {
  m_board.remove(subject);
  now.gone.push_back(subject);
}

std::string knob_registry::key_of(subject_id subject) const {
  const auto match = m_keys.find(subject);
  return match == m_keys.end() ? std::string() : match->second;
}

}  // namespace trimtab::steer
