// Tasks that wait: who goes on, where, with which exceptions; and what is told when nothing can go on.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "on_policies.hpp"
#include "support.hpp"
#include "trimtab/tasks/core/invoke.hpp"
#include "trimtab/tasks/core/task_scope.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks {
namespace {

class suspension : public on_policies {};
INSTANTIATE_TEST_SUITE_P(tasks, suspension, all_policies({1, 2, 5}), name_of_case);

TEST_P(suspension, a_chain_of_waiting_tasks_goes_on_from_its_end) {
  runtime rt(options());
  const int length = 1000 / slower;
  const int sum = rt.run([&] {
    std::vector<promise<int>> links(static_cast<std::size_t>(length) + 1);
    std::vector<future<void>> futures;
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i)
      futures.push_back(async([&links, i] { links[i + 1].set_value(links[i].get_future().get() + 1); }));
    auto last = links.back().get_future();
    links.front().set_value(0);
    for (auto& element : futures) element.get();
    return last.get();
  });
  EXPECT_EQ(sum, length);
}

TEST_P(suspension, threads_that_are_no_workers_wake_tasks_and_wait_for_them) {
  runtime rt(options());
  for (int round = 0; round < 200 / slower; ++round) {
    promise<int> question, answer;
    std::thread external_thread([&, asked = question.get_future()]() mutable { answer.set_value(asked.get() * 2); });
    EXPECT_EQ(rt.run([&] {
      question.set_value(round);
      return answer.get_future().get();
    }),
              2 * round);
    external_thread.join();
  }
}

TEST_P(suspension, exceptions_being_handled_stay_with_their_task) {
  runtime rt(options());
  const auto text_of = [](int index) { return "error " + std::to_string(index); };
  rt.run([&] {
    std::vector<future<bool>> futures;
    for (int i = 0; i < 200 / slower; ++i)
      futures.push_back(async([&, i] {
        try {
          throw std::runtime_error(text_of(i));
        } catch (const std::runtime_error&) {
          // Others handle theirs meanwhile, on the same thread or another.
          for (int turn = 0; turn < 5; ++turn) worker::yield();
          async([] {}).get();
          try {
            throw;
          } catch (const std::runtime_error& repeated) {
            return repeated.what() == text_of(i);
          }
        }
      }));
    for (auto& element : futures) EXPECT_TRUE(element.get());
  });
}

TEST_P(suspension, exceptions_leave_in_every_place) {
  runtime rt(options());
  struct own_error {};
  const auto fails = []() -> int { throw own_error(); };
  EXPECT_THROW(rt.run(fails), own_error);
  rt.run([&] {
    EXPECT_THROW(async(fails).get(), own_error);
    EXPECT_THROW(async(priority::low, fails).get(), own_error);
    EXPECT_THROW(async(fails).then([](future<int> input) { return input.get(); }).get(), own_error);
    EXPECT_THROW(dataflow(unwrapping([](int number, int) { return number; }), async(fails), async([] { return 1; })).get(),
                 own_error);
    EXPECT_THROW(invoke([] {}, fails), own_error);
    EXPECT_THROW(invoke(fails, [] {}), own_error);
    EXPECT_THROW(invoke([] { async([] {}).get(); }, [&] { async(fails).get(); }), own_error);
    EXPECT_THROW(rt.run(fails), own_error);
    task_scope scope;
    scope.spawn([] { async([] {}).get(); });
    scope.spawn(fails);
    EXPECT_THROW(scope.wait(), own_error);
    future<int> abandoned;
    {
      promise<int> unfulfilled;
      abandoned = unfulfilled.get_future();
    }
    EXPECT_THROW(abandoned.get(), std::future_error);
  });
}

TEST_P(suspension, who_yields_lets_others_run) {
  runtime rt(options());
  std::atomic<int> runs{0};
  rt.run([&] {
    std::vector<future<void>> futures;
    for (int i = 0; i < 10; ++i)
      futures.push_back(async([&] {
        runs += 1;
        while (runs.load() != 10) worker::yield();
      }));
    for (auto& element : futures) element.get();
  });
  EXPECT_EQ(runs.load(), 10);
  worker::yield();  // on no worker: nothing
}

TEST_P(suspension, forks_wait_in_each_other) {
  runtime rt(options());
  const std::function<int(int)> tree = [&](int depth) -> int {
    if (depth == 0) return async([] { return 1; }).get();
    int first = 0, two = 0;
    invoke([&] { first = tree(depth - 1); }, [&] { two = tree(depth - 1); });
    return first + two;
  };
  EXPECT_EQ(rt.run([&] { return tree(9); }), 512);
}

TEST_P(suspension, a_deadlock_is_told_once_and_can_be_resolved) {
  std::mutex lock;
  std::vector<std::string> lines;
  runtime_options custom = options();
  custom.deadlock_ms = 20;
  custom.on_deadlock = [&](std::string_view line) {
    const std::lock_guard guard(lock);
    lines.emplace_back(line);
  };
  runtime rt(custom);
  const auto told_lines = [&] {
    const std::lock_guard guard(lock);
    return lines.size();
  };
  for (std::size_t round = 1; round <= 2; ++round) {
    promise<int> missing;
    std::thread rescuer([&] {
      while (told_lines() != 2 * round) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // five times as long: it could be told again
      missing.set_value(3);
    });
    EXPECT_EQ(rt.run([&] { return missing.get_future().get(); }), 3);
    rescuer.join();
    ASSERT_EQ(told_lines(), 2 * round) << "once each time: a line for all, and one for the task";
    EXPECT_TRUE(contains(lines[2 * round - 2], "1 task"));
    EXPECT_TRUE(contains(lines[2 * round - 1], "a future"));
  }
}

// Its destructor waits for what is to come; who has forgotten a promise learns of it.
TEST_P(suspension, a_runtime_that_cannot_end_tells_why) {
  std::mutex lock;
  std::string report;
  promise<int> missing;
  future<int> waiting = missing.get_future();
  std::thread rescuer([&] {
    for (;; std::this_thread::yield()) {
      const std::lock_guard guard(lock);
      if (!report.empty()) break;
    }
    missing.set_value(3);
  });
  {
    runtime_options options_here = options();
    options_here.deadlock_ms = 20;
    options_here.on_deadlock = [&](std::string_view line) {
      const std::lock_guard guard(lock);
      report = line;
    };
    runtime rt(options_here);
    rt.run([&] { waiting = waiting.then([](future<int> input) { return input.get() + 1; }); });
  }
  rescuer.join();
  EXPECT_EQ(waiting.get(), 4);
  EXPECT_NE(report.find("1 task"), std::string::npos) << report;
}

}  // namespace
}  // namespace trimtab::tasks
