// Where knob sources offer their subjects: on the board, which turns the knobs, in the run's records, and under the key by
// which settings of earlier runs name them. By the steering thread.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "trimtab/steer/board.hpp"
#include "trimtab/steer/record.hpp"

namespace trimtab::steer {

struct knob_offer {
  subject_info info;
  std::string key;             // the same in every run of the same build; "": not remembered
  std::uint32_t recorded = 0;  // its number in the run's records, where that is not `info.id`
  board::apply_knob apply;     // false: it did not take effect
  board::in_force confirm;     // may be empty
};

class knob_registry {
 public:
  // Told of each subject before its knobs can turn.
  using listener = std::function<void(const knob_offer& offered)>;
  knob_registry(board& knobs, listener offered) : m_board(knobs), m_offered(std::move(offered)) {}

  knob_registry(board& knobs, decision_record& record);

  void offer(snapshot& now, knob_offer offered);
  // Its callbacks are not called any more once this has returned.
  void withdraw(snapshot& now, subject_id subject);

  const board& knobs() const noexcept { return m_board; }
  // "": not offered, or not remembered.
  std::string key_of(subject_id subject) const;

 private:
  board& m_board;
  listener m_offered;
  std::map<subject_id, std::string> m_keys;
};

}  // namespace trimtab::steer
