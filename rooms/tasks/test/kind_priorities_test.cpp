// Kinds of tasks that are raised while the program runs: their order changes under policies with priorities, answers and
// counts never do.
#include "trimtab/tasks/core/kind_priorities.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "on_policies.hpp"
#include "trimtab/tasks.hpp"

namespace trimtab::tasks {
namespace {

constexpr int most_tasks = 20;
const annotation patient_kind("patient"), urgent_kind("urgent");

class watched_kinds {
 public:
  watched_kinds() { EXPECT_TRUE(priorities_of_kinds.watch()); }
  ~watched_kinds() { priorities_of_kinds.unwatch(); }
  watched_kinds(const watched_kinds&) = delete;
  watched_kinds& operator=(const watched_kinds&) = delete;
};

class kind_priorities_order : public on_policies {
 protected:
  static bool has_priorities() { return policy_of_case() != policy::local && policy_of_case() != policy::hierarchy; }
  // 'p' and 'u', as the tasks ran on a single worker, which creates the patient ones first.
  static std::string order(bool uses_graph) {
    runtime rt(options());
    std::string ran;
    rt.run([&] { uses_graph ? run_graph(ran) : run_futures(ran); });
    const snapshot counts(rt);
    EXPECT_EQ(counts.total.created, 2u * most_tasks + 1) << "with the task of run itself";
    EXPECT_EQ(std::count(ran.begin(), ran.end(), 'p'), most_tasks);
    EXPECT_EQ(std::count(ran.begin(), ran.end(), 'u'), most_tasks);
    return ran;
  }

 private:
  static void run_futures(std::string& ran) {
    std::vector<future<void>> ends;
    for (int i = 0; i < most_tasks; ++i) ends.push_back(async(task_options{.name = &patient_kind}, [&ran] { ran += 'p'; }));
    for (int i = 0; i < most_tasks; ++i) ends.push_back(async(task_options{.name = &urgent_kind}, [&ran] { ran += 'u'; }));
    this_task::yield();
    for (future<void>& end : ends) end.get();
  }
  static void run_graph(std::string& ran) {
    graph steps;
    for (int i = 0; i < most_tasks; ++i) steps.task("patient", [&ran] { ran += 'p'; });
    for (int i = 0; i < most_tasks; ++i) steps.task("urgent", [&ran] { ran += 'u'; });
    steps.wait();
  }
};

TEST_P(kind_priorities_order, a_raised_kind_runs_first_where_there_are_priorities) {
  const std::string urgent_first = std::string(most_tasks, 'u') + std::string(most_tasks, 'p');
  for (const bool uses_graph : {false, true}) {
    SCOPED_TRACE(uses_graph);
    const std::string before = order(uses_graph);
    watched_kinds watched;
    // Under abp-priority, whose newest task runs first, the order depends on when the worker looks.
    const bool is_always_the_same = policy_of_case() != policy::abp_priority;
    if (is_always_the_same) {
      EXPECT_EQ(order(uses_graph), before) << "nothing is raised yet";
    }
    ASSERT_TRUE(priorities_of_kinds.set_raised("urgent", true));
    EXPECT_EQ(order(uses_graph), has_priorities() ? urgent_first : before);
    ASSERT_TRUE(priorities_of_kinds.set_raised("urgent", false));
    if (is_always_the_same) {
      EXPECT_EQ(order(uses_graph), before);
    }
    // The newest of a queue runs first under abp-priority; with the other kind raised the order differs for it, too.
    ASSERT_TRUE(priorities_of_kinds.set_raised("patient", true));
    if (has_priorities()) {
      EXPECT_EQ(order(uses_graph), std::string(most_tasks, 'p') + std::string(most_tasks, 'u'));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(single, kind_priorities_order, all_policies({1}), name_of_case);

class kind_priorities_answers : public on_policies {};

// Another thread turns kinds while tasks are created.
TEST_P(kind_priorities_answers, answers_and_counts_stay_while_kinds_are_turned) {
  watched_kinds watched;
  runtime rt(options());
  std::atomic<bool> is_over{false};
  std::thread turning([&] {
    for (bool is_raised = true; !is_over.load(); is_raised = !is_raised) {
      priorities_of_kinds.set_raised("urgent", is_raised);
      priorities_of_kinds.set_raised("patient", !is_raised);
      std::this_thread::yield();
    }
  });
  long sum = 0;
  rt.run([&] {
    for (int round = 0; round < 50; ++round) {
      std::vector<future<long>> parts;
      for (long i = 0; i < 40; ++i)
        parts.push_back(async(task_options{.name = i % 2 == 0 ? &urgent_kind : &patient_kind},
                              [i] { return async(task_options{.name = &urgent_kind}, [i] { return i; }).get(); }));
      for (future<long>& part : parts) sum += part.get();
    }
  });
  is_over = true;
  turning.join();
  EXPECT_EQ(sum, 50 * 39 * 40 / 2);
  const snapshot counts(rt);
  EXPECT_EQ(counts.total.created, 50u * 40 * 2 + 1) << "with the task of run itself";
}

INSTANTIATE_TEST_SUITE_P(few, kind_priorities_answers, all_policies({2, 4}), name_of_case);

TEST(kind_priorities, names_are_noted_only_while_somebody_watches) {
  const auto kinds = std::make_unique<kind_priorities>();
  EXPECT_EQ(kinds->level_of("sum", priority::normal), priority::normal);
  EXPECT_TRUE(kinds->names().empty());
  EXPECT_TRUE(kinds->watch());
  EXPECT_FALSE(kinds->watch()) << "the knobs would have two owners";
  EXPECT_EQ(kinds->level_of("sum", priority::low), priority::low);
  EXPECT_EQ(kinds->level_of("update", priority::normal), priority::normal);
  EXPECT_EQ(kinds->names(), (std::vector<std::string>{"sum", "update"}));
  EXPECT_TRUE(kinds->set_raised("update", true));
  EXPECT_EQ(kinds->level_of("update", priority::normal), priority::high);
  EXPECT_EQ(kinds->level_of("sum", priority::low), priority::low);
  kinds->unwatch();
  EXPECT_TRUE(kinds->watch());
  EXPECT_EQ(kinds->level_of("update", priority::normal), priority::normal) << "what was raised is as the program says";
}

TEST(kind_priorities, what_has_no_place_stays_as_the_program_says) {
  const auto kinds = std::make_unique<kind_priorities>();
  ASSERT_TRUE(kinds->watch());
  const std::string long_name(kind_priorities::longest_name + 1, 'x');
  EXPECT_FALSE(kinds->set_raised(long_name, true));
  EXPECT_FALSE(kinds->set_raised("", true));
  for (std::size_t i = 0; i < kind_priorities::most_kinds; ++i)
    EXPECT_TRUE(kinds->set_raised("kind " + std::to_string(i), true));
  EXPECT_FALSE(kinds->set_raised("another", true));
  EXPECT_EQ(kinds->level_of(std::string("another"), priority::normal), priority::normal);
  EXPECT_EQ(kinds->level_of("kind 31", priority::normal), priority::high);
  EXPECT_EQ(kinds->names().size(), kind_priorities::most_kinds);
}

}  // namespace
}  // namespace trimtab::tasks
