#include "trimtab/tasks/core/task_scope.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks {
namespace {

class scopes : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  runtime rt{{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(tasks, scopes, ::testing::Values(1, 2, 5));

TEST_P(scopes, all_members_end_before_wait_does) {
  rt.run([] {
    task_scope scope;
    for (int round = 0; round < 200; ++round) {
      std::atomic<int> runs{0};
      for (int i = 0; i < 100; ++i) scope.spawn([&] { ++runs; });
      scope.wait();
      EXPECT_EQ(runs.load(), 100);
    }
  });
}

void grow(task_scope& scope, std::atomic<int>& runs, int depth) {
  ++runs;
  if (depth == 0) return;
  for (int i = 0; i < 3; ++i) scope.spawn([&, depth] { grow(scope, runs, depth - 1); });
}

TEST_P(scopes, members_spawn_members) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> runs{0};
    rt.run([&] {
      task_scope scope;
      grow(scope, runs, 6);
    });
    EXPECT_EQ(runs.load(), 1093);
  }
}

TEST_P(scopes, the_first_exception_is_thrown_by_wait) {
  rt.run([] {
    task_scope scope;
    std::atomic<int> runs{0};
    for (int i = 0; i < 20; ++i)
      scope.spawn([&] {
        ++runs;
        throw std::runtime_error("x");
      });
    EXPECT_THROW(scope.wait(), std::runtime_error);
    EXPECT_EQ(runs.load(), 20);
    scope.wait();
  });
}

TEST_P(scopes, an_exception_leaves_the_block_of_a_scope_that_nobody_waits_for) {
  rt.run([] {
    int runs = 0;
    EXPECT_THROW(
        {
          task_scope scope;
          scope.spawn([] { throw std::runtime_error("x"); });
          ++runs;
        },
        std::runtime_error);
    EXPECT_EQ(runs, 1);
  });
}

TEST_P(scopes, an_exception_that_leaves_the_block_already_goes_on) {
  rt.run([] {
    EXPECT_THROW(
        {
          task_scope scope;
          scope.spawn([] { throw std::runtime_error("of the member"); });
          throw std::logic_error("of the block");
        },
        std::logic_error);
    // Also where the block itself runs while another exception is on its way: that is not of the block.
    struct cleans_up {
      ~cleans_up() {
        EXPECT_THROW(
            {
              task_scope scope;
              scope.spawn([] { throw std::runtime_error("x"); });
            },
            std::runtime_error);
      }
    };
    EXPECT_THROW(
        {
          const cleans_up at_end;
          throw std::logic_error("x");
        },
        std::logic_error);
  });
}

TEST_P(scopes, an_exception_after_wait_has_thrown_one_is_thrown_too) {
  rt.run([] {
    task_scope scope;
    for (int round = 0; round < 3; ++round) {
      scope.spawn([] { throw std::runtime_error("x"); });
      EXPECT_THROW(scope.wait(), std::runtime_error);
    }
  });
}

TEST_P(scopes, members_that_wait_for_each_other) {
  rt.run([] {
    for (int round = 0; round < 50; ++round) {
      promise<int> source;
      auto input = source.get_future().share();
      std::atomic<int> sum{0};
      task_scope scope;
      for (int i = 0; i < 10; ++i) scope.spawn([&, input] { sum += input.get(); });
      scope.spawn([&] { source.set_value(round); });
      for (int i = 0; i < 10; ++i) scope.spawn([&, input] { sum += input.get(); });
      scope.wait();
      EXPECT_EQ(sum.load(), 20 * round);
    }
  });
}

TEST_P(scopes, from_a_thread_that_is_no_worker) {
  std::atomic<int> runs{0};
  {
    task_scope scope;
    for (int i = 0; i < 500; ++i) scope.spawn([&] { ++runs; });
  }
  EXPECT_EQ(runs.load(), 500);
}

TEST_P(scopes, what_has_not_begun_is_dropped_after_stop) {
  rt.run([] {
    int runs = 0;
    task_scope scope;
    scope.request_stop();
    for (int i = 0; i < 10; ++i) scope.spawn([&] { ++runs; });
    scope.wait();
    EXPECT_EQ(runs, 0);
  });
}

}  // namespace
}  // namespace trimtab::tasks
