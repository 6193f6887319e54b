#include "outside.hpp"

#include <utility>

#include "trimtab.h"
#include "trimtab/observe/policy_files.hpp"

namespace trimtab::task_steering {

steer::policy_description describe_outside(const std::string& file) {
  return {std::string(steer::outside_kind), {{"name", file.substr(file.rfind('/') + 1)}}};
}

std::unique_ptr<steer::outside_policy> make_outside(const steer::policy_description& described, const std::string& engine,
                                                    std::function<std::string(const steer::subject_info&)> key_of) {
  const observe::policy_files files(trimtab_process_folder(), engine);
  return std::make_unique<steer::outside_policy>(
      std::string(described.find("name").value_or("")),
      steer::outside_exchange{[files](const std::string& snapshot) { files.put_snapshot(snapshot); },
                              [files](std::string& answer) { return files.take_answer(answer); }},
      std::move(key_of));
}

void record_answers(steer::outside_policy* from, steer::recording_writer* writer) {
  if (from == nullptr || writer == nullptr) return;
  if (auto answer = from->take_answered()) writer->answered(*std::move(answer));
  if (auto fault = from->take_fault()) writer->failed(*std::move(fault));
}

}  // namespace trimtab::task_steering
