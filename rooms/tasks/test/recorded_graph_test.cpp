// By which names tasks of graphs are recorded. The recorder is one of our own, in a process of its own.
#include <gtest/gtest.h>
#include <trimtab.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "trimtab/tasks/graph.hpp"
#include "trimtab/tasks/runtime.hpp"
#include "trimtab/tasks/this_task.hpp"

namespace trimtab::tasks {
namespace {

std::mutex lock;
std::map<std::string, std::uint32_t>& subjects() {
  static std::map<std::string, std::uint32_t> all;
  return all;
}
std::map<std::uint32_t, std::uint64_t>& times_run() {
  static std::map<std::uint32_t, std::uint64_t> all;
  return all;
}

std::uint32_t subject_called(const std::string& name) {
  const std::lock_guard guard(lock);
  return subjects().try_emplace(name, static_cast<std::uint32_t>(subjects().size() + 1)).first->second;
}

trimtab_api own_recorder() {
  trimtab_api made{};
  made.bytes = sizeof made;
  made.level = [] { return std::uint32_t{TRIMTAB_PROFILE}; };
  made.clock = [] { return std::uint32_t{TRIMTAB_CLOCK_MONOTONIC_NS}; };
  made.task_subject = [](const char* name, const char*, std::uint32_t) { return subject_called(name); };
  made.code_subject = [](const void*) { return subject_called("a function"); };
  made.tasks_ran = [](const trimtab_batch* batch) {
    const std::lock_guard guard(lock);
    times_run()[batch->subject] += batch->ran;
  };
  made.runtime = [](const char*) { return 1u; };
  made.worker_begins = [](std::uint32_t, std::uint32_t) {};
  made.worker_state = [](std::uint32_t) {};
  made.name_lane = [](const char*) {};
  made.path_counter = [](const char*, const char*, std::uint32_t) { return 0u; };
  return made;
}

const annotation annotated("annotated");

// What is wrong: "" if nothing is.
std::string recorded_wrong() {
  static const trimtab_api api = own_recorder();
  trimtab_attached_api = &api;
  std::string names;
  {
    runtime here({.workers = 1});
    graph all(here);
    const event<> begin = all.make_event("begin");
    for (int i = 0; i < 3; ++i) all.task("fill", [&] { names += this_task::name(); }, after(begin));
    // Of storage that is gone when it runs.
    all.task("sum " + std::to_string(1), [&] { names += this_task::name(); }, after(begin));
    all.task({.what = &annotated}, "named twice", [&] { names += this_task::name(); }, after(begin));
    all.task([&] { names += this_task::name(); }, after(begin));
    begin.satisfy();
    all.wait();
  }
  if (names != "fillfillfillsum 1annotated") return "this_task::name: " + names;
  const std::map<std::string, std::uint64_t> expected{{"fill", 3}, {"sum 1", 1}, {"annotated", 1}, {"a function", 1}};
  std::string wrong;
  for (const auto& [name, count] : expected)
    if (times_run()[subject_called(name)] != count) wrong += name + " ";
  if (subjects().size() != expected.size()) wrong += "others";
  return wrong;
}

TEST(recorded_graphs, tasks_have_the_names_that_they_were_given) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const std::string wrong = recorded_wrong();
        std::fprintf(stderr, "wrong: %s.\n", wrong.c_str());
        std::_Exit(wrong.empty() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "wrong: \\.");
}

}  // namespace
}  // namespace trimtab::tasks
