// What an engine was built of and all that it was told, as text: enough to build it anew and have it decide the same.
// Written by recording_writer.hpp. Snapshots are as in log.hpp; before them, and between them:
//
//   trimtab-snapshots 1
//   engine 0x1p-5 0x0p+0 0x1p-2 safe   share of the run that search may cost, allowance, excess expected; 'ask': with
//   consent runtime 1                          whose; 0: OpenMP's. The upper half of its decisions' numbers in the run
//   policy tuner seed=1                in the order in which they are called
//   setting KEY chunk=64               of earlier runs
//
//   about 7 KEY 12                     before its snapshot: how settings name a subject that appears, its number in the run
//   answer WORD, fault WORD            what a policy outside the process said, or why it could not be asked
//   decided 4                          number of the latest decision, those of the snapshot below included
//   time ... end                       the snapshot
//   unapplied 4                        behind it: what was decided could not be done
//
// What stands before a snapshot counts with its end only: whoever wrote it may have been killed at any instant.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/steer/engine.hpp"
#include "trimtab/steer/policy_factory.hpp"

namespace trimtab::steer {

struct recorded_subject {
  subject_id id = 0;
  std::string key;             // "": settings have none for it
  std::uint32_t recorded = 0;  // in the run's table of names
  bool operator==(const recorded_subject&) const = default;
};

struct recorded_step {
  snapshot told;
  std::vector<recorded_subject> about;
  std::optional<std::string> answer, fault;
  decision_number decided = 0;
  std::vector<decision_number> unapplied;
  bool operator==(const recorded_step&) const = default;
};

struct recording_head {
  double budget_share = 0, allowance_s = 0, expected_excess = 0;
  bool has_consent = false;
  std::uint32_t runtime = 0;
  std::vector<policy_description> policies;
  std::vector<setting> settings;
  bool operator==(const recording_head&) const = default;
};
// Without policies and settings.
recording_head head_of(const engine_options& options);
engine_options options_of(const recording_head& head);  // no clock: no policy is found slow

struct recording {
  recording_head head;
  std::vector<recorded_step> steps;
  std::string error;  // "line 3: expected ..., found ..."; empty: none. What came before it is there.
};
recording recording_from_text(std::string_view text);

std::string to_text(const recording_head& head);
// Of a step, but for what could not be applied; decided: if that is another number than with the step before.
std::string to_text(const recorded_step& step, bool has_decided);

}  // namespace trimtab::steer
