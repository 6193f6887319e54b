// What goes to a policy in another process and what comes back, as text. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "trimtab/steer/policy.hpp"

namespace trimtab::steer {

using measured_by_subject = std::map<subject_id, std::vector<measurement>>;

// JSON. measured, happened: since the snapshot before.
std::string snapshot_text(std::uint64_t number, const view& now, const measured_by_subject& measured,
                          const std::vector<event>& happened, const std::function<std::string(const subject_info&)>& key_of);

struct outside_answer {
  std::vector<proposal> proposals;
  std::optional<cadence> when;  // from now on; a period of 0: only with its events
};
// Nothing: the answer is to an earlier snapshot. Throws std::runtime_error where it makes no sense, or tells of a failure.
std::optional<outside_answer> read_answer(const std::string& text, std::uint64_t number, const view& now);

}  // namespace trimtab::steer
