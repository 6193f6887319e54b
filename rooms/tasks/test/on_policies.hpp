// Tests that are to hold under all six policies, with few and many workers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::tasks {

using policy_and_workers = std::tuple<policy, std::uint32_t>;

// Makes its runtimes itself.
class on_policies : public ::testing::TestWithParam<policy_and_workers> {
 protected:
  static policy policy_of_case() { return std::get<0>(GetParam()); }
  static std::uint32_t workers() { return std::get<1>(GetParam()); }
  // Never told of what waits for long: a wake-up that is lost stays lost, and the test hangs.
  static runtime_options options() { return {.workers = workers(), .policy = policy_of_case(), .deadlock_ms = 0}; }
};

// Has one, which tells of deadlocks as any other does.
class on_a_runtime : public on_policies {
 protected:
  runtime rt{{.workers = workers(), .policy = policy_of_case()}};
};

inline auto policies_with(std::vector<policy> policies, std::vector<std::uint32_t> workers) {
  return ::testing::Combine(::testing::ValuesIn(std::move(policies)), ::testing::ValuesIn(std::move(workers)));
}

inline auto all_policies(std::vector<std::uint32_t> workers) {
  return policies_with({policy::local, policy::local_priority, policy::abp_priority, policy::hierarchy,
                        policy::static_priority, policy::periodic_priority},
                       std::move(workers));
}

inline std::string name_of_case(const ::testing::TestParamInfo<policy_and_workers>& info) {
  std::string name = name_of(std::get<0>(info.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name + "_" + std::to_string(std::get<1>(info.param));
}

}  // namespace trimtab::tasks
