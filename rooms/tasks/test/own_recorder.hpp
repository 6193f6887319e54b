// A recorder of a test's own, at profile level. A process has one, so each test that uses it runs in a process of its own.
#pragma once

#include <gtest/gtest.h>
#include <trimtab.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace trimtab::tasks {

struct recorded_counts {
  std::uint64_t created = 0, ran = 0;
};

inline std::mutex& recorder_lock() {
  static std::mutex lock;
  return lock;
}
// Numbers by name, and what was told of each.
inline std::map<std::string, std::uint32_t>& subjects() {
  static std::map<std::string, std::uint32_t> subjects;
  return subjects;
}
inline std::map<std::uint32_t, recorded_counts>& recorded() {
  static std::map<std::uint32_t, recorded_counts> counts_by_subject;
  return counts_by_subject;
}

inline std::uint32_t subject_called(const std::string& name) {
  const std::lock_guard guard(recorder_lock());
  return subjects().try_emplace(name, static_cast<std::uint32_t>(subjects().size() + 1)).first->second;
}

inline trimtab_api own_recorder() {
  trimtab_api api{};
  api.bytes = sizeof api;
  api.level = [] { return std::uint32_t{TRIMTAB_PROFILE}; };
  api.clock = [] { return std::uint32_t{TRIMTAB_CLOCK_MONOTONIC_NS}; };
  api.task_subject = [](const char* name, const char*, std::uint32_t) { return subject_called(name); };
  api.code_subject = [](const void*) { return subject_called("a function"); };
  api.tasks_ran = [](const trimtab_batch* batch) {
    const std::lock_guard guard(recorder_lock());
    recorded_counts& total = recorded()[batch->subject];
    total.created += batch->made;
    total.ran += batch->ran;
  };
  api.runtime = [](const char*) { return 1u; };
  api.task_resumed = [](std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t) {};
  api.worker_begins = [](std::uint32_t, std::uint32_t) {};
  api.worker_state = [](std::uint32_t) {};
  api.name_lane = [](const char*) {};
  api.path_counter = [](const char*, const char*, std::uint32_t) { return 0u; };
  return api;
}

// check(), in a process of its own: what is wrong, "" if nothing is.
inline void expect_nothing_wrong(std::string (*check)()) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const std::string wrong = check();
        std::fprintf(stderr, "wrong: %s.\n", wrong.c_str());
        std::_Exit(wrong.empty() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "wrong: \\.");
}

}  // namespace trimtab::tasks
