// The queue of one worker: random operations against std::deque, and owners against thieves on real threads.
#include "trimtab/tasks/core/task_deque.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace trimtab::tasks {
namespace {

using offering = task_deque::offering;

class deques : public ::testing::TestWithParam<offering> {};
std::string name_of_offering(const ::testing::TestParamInfo<offering>& info) {
  return info.param == offering::disabled ? "never" : info.param == offering::on_demand ? "on_demand" : "periodic";
}
INSTANTIATE_TEST_SUITE_P(tasks, deques, ::testing::Values(offering::disabled, offering::on_demand, offering::periodic),
                         name_of_offering);

// Front: the oldest.
TEST_P(deques, random_operations_agree_with_a_deque) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    task_deque tested(GetParam(), 4);
    std::deque<task*> model;
    std::vector<task> tasks(3000);
    std::size_t pushed = 0;
    bool is_offered = false;
    const std::uint64_t share_of_pushes = 30 + random() % 40;
    while (pushed < tasks.size()) {
      if (random() % 100 < share_of_pushes) {
        tested.push(tasks[pushed]);
        model.push_back(&tasks[pushed++]);
      } else {
        switch (random() % 7) {
          case 0:
            ASSERT_EQ(tested.pop_newest(is_offered), model.empty() ? nullptr : model.back());
            if (!model.empty()) model.pop_back();
            break;
          case 1:
            ASSERT_EQ(tested.pop_oldest(is_offered), model.empty() ? nullptr : model.front());
            if (!model.empty()) model.pop_front();
            break;
          case 2: {
            if (model.empty()) break;
            // Wherever it lies, offered or not.
            const auto index = model.begin() + static_cast<std::ptrdiff_t>(random() % model.size());
            ASSERT_TRUE(tested.claim(**index));
            ASSERT_FALSE(tested.claim(**index));
            model.erase(index);
            break;
          }
          case 3: {
            std::array<task*, 8> batch{};
            const std::size_t count = tested.steal(batch.data(), 1 + random() % batch.size());
            ASSERT_LE(count, model.size());
            for (std::size_t i = 0; i < count; ++i) {
              ASSERT_EQ(batch[i], model.front());
              model.pop_front();
            }
            break;
          }
          case 4:
            tested.request_offer();
            break;
          case 5:
            // What is offered may be holes only.
            tested.raid();
            break;
          default: {
            const auto is_newest = [&](task& item) { return &item == &tasks[pushed - 1]; };
            task* const item = tested.take_newest_if(is_newest, is_offered);
            if (item != nullptr) {
              ASSERT_EQ(item, model.back());
              model.pop_back();
            }
          }
        }
      }
      ASSERT_EQ(tested.tasks(), model.size());
      ASSERT_GE(tested.size(), model.size());
    }
  }
}

TEST_P(deques, who_was_asked_offers) {
  task_deque tested(GetParam());
  std::array<task, 8> tasks;
  for (std::size_t i = 0; i < 4; ++i) tested.push(tasks[i]);
  std::array<task*, 8> batch{};
  while (tested.steal(batch.data(), batch.size()) != 0) {
  }
  tested.push(tasks[4]);
  tested.request_offer();
  EXPECT_TRUE(tested.push(tasks[5]));
  EXPECT_TRUE(tested.is_offering());
}

TEST_P(deques, each_task_is_taken_once_by_an_owner_or_thieves) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr std::size_t count = 30'000;
#else
  constexpr std::size_t count = 300'000;
#endif
  task_deque tested(GetParam(), 4);
  std::vector<task> tasks(count);
  std::vector<std::atomic<int>> times(count);
  std::atomic<bool> has_ended{false};
  const auto took = [&](const task* item) { times[static_cast<std::size_t>(item - tasks.data())] += 1; };
  std::vector<std::thread> thieves;
  for (std::uint64_t t = 0; t < 2; ++t)
    thieves.emplace_back([&, t] {
      std::mt19937_64 random(t);
      std::array<task*, 8> batch{};
      while (!has_ended.load()) {
        const std::size_t stolen = tested.steal(batch.data(), 1 + random() % batch.size());
        for (std::size_t i = 0; i < stolen; ++i) took(batch[i]);
        if (stolen == 0 && random() % 8 == 0) tested.request_offer();
        if (stolen == 0 && random() % 64 == 0) tested.raid();
        if (stolen == 0 && random() % 256 == 0) std::this_thread::yield();
      }
    });
  std::mt19937_64 random(99);
  bool is_offered = false;
  std::size_t pushed = 0;
  while (pushed < count || tested.size() != 0) {
    const std::uint64_t operation = random() % 8;
    if (operation < 4 && pushed < count) {
      tested.push(tasks[pushed++]);
    } else if (operation == 4) {
      if (task* const item = tested.pop_oldest(is_offered)) took(item);
    } else if (operation == 5 && pushed > 0) {
      task& wanted = tasks[pushed - 1 - random() % std::min<std::size_t>(pushed, 8)];
      if (tested.claim(wanted)) took(&wanted);
    } else if (task* const item = tested.pop_newest(is_offered)) {
      took(item);
    }
  }
  has_ended = true;
  for (std::thread& thieve : thieves) thieve.join();
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(times[i].load(), 1) << "task " << i;
}

// By its owner and by thieves in turn, so that each step is certain.
struct filled {
  void push(std::size_t count) {
    for (; count > 0; --count) {
      created.push_back(std::make_unique<task>());
      deque.push(*created.back());
    }
  }
  // Until all are offered.
  void be_raided() {
    while (deque.raid()) {
    }
  }
  // All that are left come out, the newest first.
  void expect_the_newest_first(std::size_t count) {
    ASSERT_LE(count, created.size());
    for (std::size_t i = created.size(); count > 0; --count) {
      bool is_offered = false;
      ASSERT_EQ(deque.pop_newest(is_offered), created[--i].get()) << i;
    }
    bool is_offered = false;
    EXPECT_EQ(deque.pop_newest(is_offered), nullptr);
  }

  std::vector<std::unique_ptr<task>> created;
  task_deque deque{task_deque::offering::on_demand, 16};
};

TEST(task_deque, grows_after_all_was_offered_and_taken_back) {
  for (std::size_t first = 1; first <= 16; ++first) {
    filled queue;
    queue.push(first);
    queue.be_raided();
    bool is_offered = false;
    ASSERT_EQ(queue.deque.pop_newest(is_offered), queue.created.back().get());
    queue.created.pop_back();
    queue.push(40);
    queue.expect_the_newest_first(first - 1 + 40);
  }
}

TEST(task_deque, thieves_take_the_oldest_half_of_what_is_offered) {
  filled queue;
  queue.push(9);
  queue.be_raided();
  task* stolen[16];
  ASSERT_EQ(queue.deque.steal(stolen, 16), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(stolen[i], queue.created[i].get());
  queue.expect_the_newest_first(4);
}

TEST(task_deque, a_raid_leaves_the_owner_its_newer_half) {
  filled queue;
  queue.push(9);  // the first is offered
  ASSERT_TRUE(queue.deque.raid());
  task* stolen[16];
  ASSERT_EQ(queue.deque.steal(stolen, 16), 3u);  // of 1 + 4
  queue.expect_the_newest_first(6);
}

TEST(task_deque, offers_only_so_many_at_once) {
  filled queue;
  queue.push(5000);
  queue.deque.request_offer();
  queue.push(1);
  std::vector<task*> stolen(5000);
  EXPECT_LE(queue.deque.steal(stolen.data(), stolen.size()), 513u);
  EXPECT_TRUE(queue.deque.is_offering());
}

// The first stays, and of the others only the newest ones: what was taken between them takes no room for long.
TEST_P(deques, holes_do_not_make_it_grow) {
  constexpr std::size_t kept = 10, count = 100'000;
  task_deque tested(GetParam(), 16);
  std::vector<task> tasks(count);
  for (std::size_t i = 0; i < count; ++i) {
    tested.push(tasks[i]);
    if (i > kept) {
      ASSERT_TRUE(tested.claim(tasks[i - kept])) << i;
    }
  }
  EXPECT_LE(tested.capacity(), 64u);
  EXPECT_EQ(tested.tasks(), kept + 1);
  bool is_offered = false;
  for (std::size_t i = 0; i < kept; ++i) ASSERT_EQ(tested.pop_newest(is_offered), &tasks[count - 1 - i]) << i;
  EXPECT_EQ(tested.pop_newest(is_offered), &tasks[0]);
  EXPECT_EQ(tested.size(), 0u);
}

// Who sleeps only while a queue is empty must not be kept awake by holes that a busy owner has left.
TEST(task_deque, a_raid_drops_the_holes_that_are_left) {
  filled queue;
  queue.push(3);  // the first is offered
  ASSERT_TRUE(queue.deque.claim(*queue.created[1]));
  ASSERT_TRUE(queue.deque.claim(*queue.created[2]));
  task* stolen[4];
  ASSERT_EQ(queue.deque.steal(stolen, 4), 1u);
  EXPECT_EQ(queue.deque.tasks(), 0u);
  ASSERT_EQ(queue.deque.size(), 1u);
  EXPECT_FALSE(queue.deque.raid());
  EXPECT_EQ(queue.deque.size(), 0u);
}

TEST(task_deque, a_thief_skips_what_was_taken_from_the_middle_of_the_offer) {
  filled queue;
  queue.push(8);
  queue.be_raided();
  for (const std::size_t which : {2u, 5u, 4u}) ASSERT_TRUE(queue.deque.claim(*queue.created[which]));
  task* stolen[16];
  std::size_t count = 0;
  while (const std::size_t extra = queue.deque.steal(stolen + count, 16 - count)) count += extra;
  ASSERT_EQ(count, 5u);
  constexpr std::size_t left[] = {0, 1, 3, 6, 7};
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(stolen[i], queue.created[left[i]].get());
  EXPECT_EQ(queue.deque.size(), 0u);
}

TEST_P(deques, who_takes_its_newest_offers_what_is_left) {
  task_deque tested(GetParam());
  std::array<task, 8> tasks;
  for (task& each : tasks) tested.push(each);
  std::array<task*, 8> batch{};
  while (tested.steal(batch.data(), batch.size()) != 0) {
  }
  if (GetParam() != offering::on_demand) tested.request_offer();
  bool is_offered = false;
  ASSERT_NE(tested.take_newest_if([](task&) { return true; }, is_offered), nullptr);
  EXPECT_TRUE(is_offered);
  EXPECT_TRUE(tested.is_offering());
}

}  // namespace
}  // namespace trimtab::tasks
