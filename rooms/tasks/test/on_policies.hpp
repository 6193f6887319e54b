// Tests that all six policies pass, with several numbers of workers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "trimtab/tasks.hpp"

namespace trimtab::tasks {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr int slower = 10;
#else
inline constexpr int slower = 1;
#endif

class on_policies : public ::testing::TestWithParam<std::tuple<policy, std::uint32_t>> {
 protected:
  static policy which() { return std::get<0>(GetParam()); }
  static std::uint32_t workers() { return std::get<1>(GetParam()); }
  // Never told of what waits for long: a wake-up that is lost stays lost, and the test hangs.
  static runtime_options options() { return {.workers = workers(), .policy = which(), .deadlock_ms = 0}; }
};

inline std::string name_of_case(const ::testing::TestParamInfo<std::tuple<policy, std::uint32_t>>& info) {
  std::string name = name_of(std::get<0>(info.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name + "_" + std::to_string(std::get<1>(info.param));
}

inline auto all_policies(std::vector<std::uint32_t> workers) {
  return ::testing::Combine(::testing::Values(policy::local, policy::local_priority, policy::abp_priority, policy::hierarchy,
                                              policy::static_priority, policy::periodic_priority),
                            ::testing::ValuesIn(std::move(workers)));
}

// A task that calls a function, as often as it is submitted.
struct calling_task : task {
  explicit calling_task(std::function<void()> called) : call(std::move(called)) {
    run = [](task& self, place) noexcept { static_cast<calling_task&>(self).call(); };
  }
  std::function<void()> call;
};

inline std::uint64_t times_parked(const runtime& of) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < of.workers(); ++i) sum += of.counters(i).parked.get();
  return sum;
}

}  // namespace trimtab::tasks
