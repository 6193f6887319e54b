// A program that ends because of a mistake says which one, and in which task.
#include <gtest/gtest.h>

#include <stdexcept>

#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/task_scope.hpp"
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/sync/barrier.hpp"
#include "trimtab/tasks/sync/latch.hpp"
#include "trimtab/tasks/sync/mutex.hpp"
#include "trimtab/tasks/sync/semaphore.hpp"
#include "trimtab/tasks/sync/shared_mutex.hpp"

namespace trimtab::tasks {
namespace {

const annotation culprit("the culprit");

// f() in a task that has a name.
template <class function>
void run_named(function&& f) {
  runtime rt({.workers = 1});
  rt.run([&] { async({.name = &culprit}, f).get(); });
}

class misuse : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(misuse, of_mutexes) {
  EXPECT_DEATH(run_named([] {
                 mutex lock;
                 lock.unlock();
               }),
               "unlock of a mutex that is not locked.*\n.*in task the culprit \\(.*misuse_test.cpp:[0-9]+\\)");
  EXPECT_DEATH(shared_mutex().unlock(), "unlock of a shared mutex that no writer has locked");
  EXPECT_DEATH(shared_mutex().unlock_shared(), "unlock_shared of a shared mutex that no reader has locked");
}

TEST_F(misuse, of_counts) {
  EXPECT_DEATH(latch(1).count_down(2), "count_down of a latch below zero");
  EXPECT_DEATH(binary_semaphore(1).release(), "release of a semaphore beyond its maximum");
  EXPECT_DEATH(static_cast<void>(barrier<>(1).arrive(2)), "more arrivals at a barrier than it expects");
}

TEST_F(misuse, what_is_allowed_is_not_reported) {
  mutex lock;
  lock.lock();
  lock.unlock();
  latch zero(2);
  zero.count_down(0);
  zero.count_down(2);
  counting_semaphore<> counted(0);
  counted.release(1000);
  binary_semaphore two(0);
  two.release();
}

struct throws_at_its_end {
  throws_at_its_end() = default;
  throws_at_its_end(const throws_at_its_end&) = default;
  ~throws_at_its_end() noexcept(false) {
    if (is_armed) throw std::runtime_error("from a destructor");
  }
  bool is_armed = false;
};

TEST_F(misuse, an_exception_that_nobody_can_take_is_told_with_its_task) {
  EXPECT_DEATH(
      {
        runtime rt({.workers = 1});
        rt.run([] { post([] { throw std::runtime_error("posted in vain"); }); });
      },
      "terminate was called in task .*TestBody(.|\n)*posted in vain");
  EXPECT_DEATH(run_named([held = throws_at_its_end()]() mutable { held.is_armed = true; }), "in task the culprit");
}

}  // namespace
}  // namespace trimtab::tasks
