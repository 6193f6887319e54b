// Priorities of kinds of task as knobs: which kinds are offered and when, what turning one does, whose they are, and that
// nothing is left when the source has gone.
#include "priority_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "trimtab/steer/board.hpp"
#include "trimtab/tasks.hpp"
#include "trimtab/tasks/core/kind_priorities.hpp"

namespace trimtab::task_steering {
namespace {

using tasks::priorities_of_kinds;
using tasks::priority;

constexpr steer::subject_id subject = 7;
const std::string key = "tasks/program/priorities of tasks";
// More than the source waits for without another kind.
constexpr int enough_looks = 30;

// A runtime, its source, and what the source says.
class offered_kinds {
 public:
  explicit offered_kinds(tasks::policy policy = tasks::policy::local_priority, std::vector<steer::setting> settings = {},
                         bool is_turned = true)
      : m_runtime({.workers = 2, .policy = policy}),
        m_registry(m_knobs, [](const steer::knob_offer&) {}),
        m_source(m_runtime, subject, m_registry, m_costs, {is_turned, key, std::move(settings)}) {}

  steer::snapshot look() {
    steer::snapshot now;
    m_source.add_to(now);
    for (const steer::subject_info& info : now.appeared)
      for (const steer::knob& kind : info.knobs) kinds.push_back(kind.name);
    return now;
  }
  void look_often() {
    for (int i = 0; i < enough_looks; ++i) look();
  }
  // Places of knobs are those of `kinds`.
  bool turn(const std::string& kind, steer::knob_value to, steer::decision_number number = 1) {
    const auto place = std::find(kinds.begin(), kinds.end(), "priority:" + kind) - kinds.begin();
    steer::decision change{};
    change.number = number;
    change.subject = subject;
    change.changes = {{static_cast<std::uint32_t>(place), 1 - to, to}};
    return m_knobs.apply(change);
  }
  void run_tasks(int count, const char* kind) {
    m_runtime.run([&] {
      graph tasks;
      for (int i = 0; i < count; ++i) tasks.task(kind, [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
      tasks.wait();
    });
  }
  priority_source::obstacle reason() const { return m_source.reason(); }

  std::vector<std::string> kinds;  // names of the knobs, as they appeared

 private:
  tasks::runtime m_runtime;
  cost_meter m_costs;
  steer::board m_knobs;
  steer::knob_registry m_registry;
  priority_source m_source;
};

priority level_of(const char* kind) { return tasks::level_of_kind(kind, priority::normal); }
bool contains(const std::vector<std::string>& kinds, const std::string& kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

TEST(priority_source, offers_all_named_kinds_once_no_more_come) {
  offered_kinds program;
  program.run_tasks(4, "kinds: first");
  program.look();
  program.run_tasks(4, "kinds: second");
  program.look();
  EXPECT_TRUE(program.kinds.empty()) << "another kind has just come";
  program.look_often();
  EXPECT_TRUE(contains(program.kinds, "priority:kinds: first"));
  EXPECT_TRUE(contains(program.kinds, "priority:kinds: second"));
  const std::size_t offered = program.kinds.size();
  program.run_tasks(4, "kinds: third");
  program.look_often();
  EXPECT_EQ(program.kinds.size(), offered) << "a subject appears once";
}

TEST(priority_source, tasks_without_a_name_are_no_kind) {
  offered_kinds program;
  const std::size_t before = priorities_of_kinds.names().size();
  program.run_tasks(8, "");
  EXPECT_EQ(level_of(nullptr), priority::normal);
  EXPECT_EQ(priorities_of_kinds.names().size(), before);
  program.look_often();
  EXPECT_FALSE(contains(program.kinds, "priority:"));
}

TEST(priority_source, turning_a_knob_raises_its_kind_alone) {
  offered_kinds program;
  program.run_tasks(2, "turned: raised");
  program.run_tasks(2, "turned: other");
  program.look_often();
  ASSERT_TRUE(program.turn("turned: raised", 1));
  EXPECT_EQ(level_of("turned: raised"), priority::high);
  EXPECT_EQ(level_of("turned: other"), priority::normal);
  ASSERT_TRUE(program.turn("turned: raised", 0));
  EXPECT_EQ(level_of("turned: raised"), priority::normal);
}

TEST(priority_source, what_is_measured_belongs_to_the_decision_before_it) {
  offered_kinds program;
  program.run_tasks(2, "measured");
  program.look_often();
  ASSERT_TRUE(program.turn("measured", 1, 5));
  std::vector<steer::measurement> measured;
  for (int i = 0; i < 100 && measured.size() < 2; ++i) {
    program.run_tasks(40, "measured");
    for (const steer::subject_state& state : program.look().subjects)
      measured.insert(measured.end(), state.measured.begin(), state.measured.end());
  }
  ASSERT_EQ(measured.size(), 2u);
  for (const steer::measurement& each : measured) {
    EXPECT_EQ(each.under, 5u);
    EXPECT_GE(each.seconds, 0.05) << "of different kinds of task, so never of a few";
    EXPECT_GT(each.value, 0) << "seconds for a task";
  }
}

TEST(priority_source, kinds_of_earlier_runs_are_offered_at_once) {
  offered_kinds program(tasks::policy::local_priority, {{key, {{"priority:saved", "high"}, {"workers", "2"}}},
                                                        {"tasks/other program", {{"priority:of others", "high"}}}});
  program.look();
  EXPECT_TRUE(contains(program.kinds, "priority:saved"));
  EXPECT_FALSE(contains(program.kinds, "priority:of others"));
  EXPECT_FALSE(contains(program.kinds, "workers"));
  EXPECT_EQ(level_of("saved"), priority::normal) << "it is offered, and who knows the setting turns it";
  ASSERT_TRUE(program.turn("saved", 1));
  EXPECT_EQ(level_of("saved"), priority::high);
}

TEST(priority_source, a_saved_name_that_is_too_long_turns_nothing) {
  const std::string long_name(tasks::kind_priorities::longest_name + 1, 'x');
  offered_kinds program(tasks::policy::local_priority, {{key, {{"priority:" + long_name, "high"}}}});
  program.look();
  EXPECT_FALSE(program.turn(long_name, 1));
}

TEST(priority_source, policies_without_priorities_offer_nothing) {
  for (const tasks::policy policy : {tasks::policy::local, tasks::policy::hierarchy}) {
    offered_kinds program(policy);
    EXPECT_EQ(program.reason(), priority_source::obstacle::policy_without_priorities);
    program.run_tasks(4, "none");
    program.look_often();
    EXPECT_TRUE(program.kinds.empty());
  }
}

TEST(priority_source, kinds_belong_to_the_first_runtime_that_asks) {
  auto first = std::make_unique<offered_kinds>();
  offered_kinds second, off(tasks::policy::local_priority, {}, false);
  EXPECT_EQ(first->reason(), priority_source::obstacle::none);
  EXPECT_EQ(second.reason(), priority_source::obstacle::other_runtime);
  EXPECT_EQ(off.reason(), priority_source::obstacle::none) << "who asks for nothing lacks nothing";
  second.run_tasks(4, "owned");
  second.look_often();
  off.look_often();
  EXPECT_TRUE(second.kinds.empty() && off.kinds.empty());
  first->look_often();
  ASSERT_TRUE(first->turn("owned", 1));
  EXPECT_EQ(level_of("owned"), priority::high);
  first.reset();
  EXPECT_EQ(level_of("owned"), priority::normal) << "nothing is left of it";
  EXPECT_EQ(offered_kinds().reason(), priority_source::obstacle::none);
}

}  // namespace
}  // namespace trimtab::task_steering
