// A runtime's life: options, destruction with work pending, several in one process.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "on_policies.hpp"
#include "support.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks {
namespace {

class lives : public on_policies {};
INSTANTIATE_TEST_SUITE_P(tasks, lives, all_policies({1, 2, 5}), name_of_case);

TEST_P(lives, all_that_is_pending_is_run_before_the_end) {
  for (int round = 0; round < 10 / slower + 1; ++round) {
    std::atomic<int> runs{0};
    std::vector<std::unique_ptr<calling_task>> calls;
    {
      runtime rt(options());
      for (int i = 0; i < 100; ++i)
        calls.push_back(std::make_unique<calling_task>([&] {
          for (int child = 0; child < 3; ++child)
            post([&] {
              worker::yield();
              post([&] { runs += 1; });
            });
          runs += 1;
        }));
      for (auto& element : calls) rt.submit(*element);
    }
    ASSERT_EQ(runs.load(), 400);
  }
}

TEST_P(lives, the_end_waits_for_what_waits_for_others) {
  promise<void> late;
  std::atomic<bool> went_on{false};
  calling_task waits([&, gate = std::make_shared<future<void>>(late.get_future())] {
    gate->get();
    went_on = true;
  });
  std::thread external_thread;
  {
    runtime rt(options());
    rt.submit(waits);
    external_thread = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      late.set_value();
    });
  }
  EXPECT_TRUE(went_on.load());
  external_thread.join();
}

TEST_P(lives, tasks_of_two_runtimes_wait_for_each_other) {
  runtime first_runtime(options()), two(options());
  const int rounds = 50 / slower;
  EXPECT_EQ(first_runtime.run([&] {
    int sum = 0;
    for (int i = 0; i < rounds; ++i)
      sum += two.run(
          [&] { return first_runtime.run([] { return async([] { return 1; }).get(); }) + async([] { return 1; }).get(); });
    return sum;
  }),
            2 * rounds);
}

TEST(options, errors_name_option_value_and_what_is_allowed) {
  const auto report_of = [](const runtime_options& wrong) {
    return thrown_text<std::invalid_argument>([&] { const runtime created(wrong); });
  };
  EXPECT_TRUE(contains(report_of({.workers = 1'000'000}), "workers is 1000000, at most 4096"));
  EXPECT_TRUE(contains(report_of({.stack_bytes = 1000}), "stack_bytes is 1000, expected 65536 to"));
  runtime rt({.workers = 2});
  EXPECT_THROW(rt.set_active_workers(0), std::invalid_argument);
  EXPECT_TRUE(contains(thrown_text<std::invalid_argument>([&] { rt.set_active_workers(3); }), "set to 3, expected 1 to 2"));
}

}  // namespace
}  // namespace trimtab::tasks
