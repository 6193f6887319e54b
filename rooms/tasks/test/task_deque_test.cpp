// One deque, by its owner and by thieves in turn, so that each step is certain.
#include "trimtab/tasks/task_deque.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace trimtab::tasks {
namespace {

struct filled {
  void push(std::size_t count) {
    for (; count > 0; --count) {
      made.push_back(std::make_unique<task>());
      deque.push(*made.back());
    }
  }
  // All that are left come out, the newest first.
  void expect_the_newest_first(std::size_t count) {
    ASSERT_LE(count, made.size());
    for (std::size_t i = made.size(); count > 0; --count) {
      bool is_offered = false;
      ASSERT_EQ(deque.pop_newest(is_offered), made[--i].get()) << i;
    }
    bool is_offered = false;
    EXPECT_EQ(deque.pop_newest(is_offered), nullptr);
  }

  std::vector<std::unique_ptr<task>> made;
  task_deque deque{task_deque::offering::on_demand, 16};
};

// Taking back moves the tasks to later positions: the ring must still grow before it is overrun.
TEST(task_deque, grows_after_all_was_offered_and_taken_back) {
  for (std::size_t first = 1; first <= 16; ++first) {
    filled here;
    here.push(first);
    here.deque.raid();
    bool is_offered = false;
    ASSERT_EQ(here.deque.pop_newest(is_offered), here.made.back().get());
    here.made.pop_back();
    here.push(40);
    here.expect_the_newest_first(first - 1 + 40);
  }
}

TEST(task_deque, thieves_take_the_oldest_half_of_what_is_offered) {
  filled here;
  here.push(9);
  ASSERT_TRUE(here.deque.raid());
  task* stolen[16];
  ASSERT_EQ(here.deque.steal(stolen, 16), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(stolen[i], here.made[i].get());
  here.expect_the_newest_first(4);
}

}  // namespace
}  // namespace trimtab::tasks
