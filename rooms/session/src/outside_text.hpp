// What goes to a policy in another process and what comes back, as text. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "trimtab/steer/policy.hpp"

namespace trimtab::session {

using measured_by_subject = std::map<steer::subject_id, std::vector<steer::measurement>>;

// JSON.
std::string snapshot_text(std::uint64_t number, const steer::view& now, const measured_by_subject& measured,
                          const std::function<std::string(const steer::subject_info&)>& key_of);

// None: the answer is to an earlier snapshot. Throws std::runtime_error where it makes no sense, or tells of a failure.
bool read_answer(const std::string& text, std::uint64_t number, const steer::view& now, std::vector<steer::proposal>& out);

}  // namespace trimtab::session
