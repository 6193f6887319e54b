// Tests that are to hold under all six policies, with few and many workers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "trimtab/tasks/runtime.hpp"

namespace trimtab::tasks {

class under_all_policies : public ::testing::TestWithParam<std::tuple<policy, std::uint32_t>> {
 protected:
  runtime here{{.workers = std::get<1>(GetParam()), .policy = std::get<0>(GetParam())}};
};

inline auto all_policies_and_workers() {
  return ::testing::Combine(::testing::Values(policy::local, policy::local_priority, policy::abp_priority, policy::hierarchy,
                                              policy::static_priority, policy::periodic_priority),
                            ::testing::Values(1, 2, 5));
}

inline std::string policy_and_workers(const ::testing::TestParamInfo<std::tuple<policy, std::uint32_t>>& of) {
  std::string name = name_of(std::get<0>(of.param));
  for (char& each : name)
    if (each == '-') each = '_';
  return name + "_" + std::to_string(std::get<1>(of.param));
}

}  // namespace trimtab::tasks
