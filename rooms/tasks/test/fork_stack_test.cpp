#include "trimtab/tasks/fork_stack.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace trimtab::tasks {
namespace {

void nothing(void*) noexcept {}

struct counted {
  std::atomic<int> runs{0};
  static void run(void* closure) noexcept { static_cast<counted*>(closure)->runs.fetch_add(1, std::memory_order_relaxed); }
};

TEST(fork_stack, the_newest_comes_back_first_and_the_oldest_is_stolen_first) {
  fork_stack stack(16);
  char closures[4];
  fork_frame* frames[4];
  for (int i = 0; i < 4; ++i) frames[i] = stack.push(nothing, closures + i);
  EXPECT_EQ(stack.size(), 4u);
  EXPECT_EQ(stack.steal(), frames[0]);
  EXPECT_TRUE(stack.pop());
  EXPECT_TRUE(stack.pop());
  EXPECT_TRUE(stack.pop());
  EXPECT_FALSE(stack.pop());
  stack.pop_stolen();
  EXPECT_EQ(stack.size(), 0u);
}

TEST(fork_stack, is_full_at_its_capacity_and_not_after) {
  fork_stack stack(2);
  EXPECT_NE(stack.push(nothing, nullptr), nullptr);
  EXPECT_NE(stack.push(nothing, nullptr), nullptr);
  EXPECT_EQ(stack.push(nothing, nullptr), nullptr);
  EXPECT_TRUE(stack.pop());
  EXPECT_NE(stack.push(nothing, nullptr), nullptr);
}

TEST(fork_stack, offers_the_first_at_once_and_more_when_asked) {
  fork_stack stack(16);
  stack.push(nothing, nullptr);
  stack.push(nothing, nullptr);
  stack.push(nothing, nullptr);
  EXPECT_NE(stack.steal(), nullptr);
  EXPECT_FALSE(stack.is_offering());  // the others are the owner's own
  EXPECT_EQ(stack.steal(), nullptr);
  stack.push(nothing, nullptr);  // nothing is offered: half is, now
  EXPECT_NE(stack.steal(), nullptr);
  EXPECT_TRUE(stack.is_offering());
}

// Random pushes, pops and steals by one thread against a list: newest at the back, oldest stolen from the front.
TEST(fork_stack, does_what_a_list_does) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    fork_stack stack(32);
    std::vector<fork_frame*> pushed;
    std::size_t stolen = 0;
    for (int step = 0; step < 400; ++step) {
      const unsigned choice = random() % 8;
      if (choice < 4) {
        fork_frame* const frame = stack.push(nothing, nullptr);
        ASSERT_EQ(frame == nullptr, pushed.size() == 32) << "seed " << seed;
        if (frame != nullptr) pushed.push_back(frame);
      } else if (choice < 6 && !pushed.empty()) {
        const bool is_mine = stack.pop();
        ASSERT_EQ(is_mine, stolen < pushed.size()) << "seed " << seed;
        if (!is_mine) stack.pop_stolen();
        pushed.pop_back();
        stolen = std::min(stolen, pushed.size());
      } else if (choice == 6) {
        if (fork_frame* const frame = stack.steal()) {
          ASSERT_LT(stolen, pushed.size()) << "seed " << seed;
          ASSERT_EQ(frame, pushed[stolen]) << "seed " << seed;
          ++stolen;
        }
      } else {
        stack.ask();
      }
      ASSERT_EQ(stack.size(), pushed.size() - stolen) << "seed " << seed;
    }
  }
}

// Every task runs exactly once, by its owner or by a thief, whatever meets whatever.
TEST(fork_stack, gives_each_task_to_exactly_one_of_owner_and_thieves) {
  constexpr int rounds = 3000, most = 24, thieves = 3;
  fork_stack stack(most);
  std::atomic<bool> is_over{false};
  std::vector<std::thread> others;
  for (int t = 0; t < thieves; ++t)
    others.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      while (!is_over.load(std::memory_order_relaxed)) {
        if (fork_frame* const frame = stack.steal()) {
          frame->run(frame->closure);
          frame->state.store(fork_frame::done, std::memory_order_release);
        } else {
          stack.ask();
        }
        if (random() % 4 == 0) std::this_thread::yield();
      }
    });
  std::mt19937 random(99);
  std::vector<counted> tasks(most);
  for (int round = 0; round < rounds; ++round) {
    std::vector<fork_frame*> frames;
    int pushed = 0;
    const auto take_newest = [&] {
      --pushed;
      if (stack.pop()) {
        counted::run(&tasks[static_cast<std::size_t>(pushed)]);
      } else {
        while (!frames.back()->is_done()) std::this_thread::yield();
        stack.pop_stolen();
      }
      frames.pop_back();
    };
    for (int step = 0; step < 60; ++step) {
      if (random() % 2 == 0 && pushed < most) {
        tasks[static_cast<std::size_t>(pushed)].runs.store(0, std::memory_order_relaxed);
        frames.push_back(stack.push(counted::run, &tasks[static_cast<std::size_t>(pushed)]));
        ++pushed;
      } else if (pushed > 0) {
        take_newest();
        ASSERT_EQ(tasks[static_cast<std::size_t>(pushed)].runs.load(std::memory_order_relaxed), 1);
      }
    }
    while (pushed > 0) {
      take_newest();
      ASSERT_EQ(tasks[static_cast<std::size_t>(pushed)].runs.load(std::memory_order_relaxed), 1);
    }
  }
  is_over.store(true);
  for (std::thread& each : others) each.join();
}

}  // namespace
}  // namespace trimtab::tasks
