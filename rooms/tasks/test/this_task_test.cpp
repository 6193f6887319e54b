// this_task::get_id, name and stop_token; stop tokens of coroutines.
#include "trimtab/tasks/core/this_task.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "on_policies.hpp"
#include "trimtab/tasks/core/invoke.hpp"
#include "trimtab/tasks/coroutines/await_future.hpp"
#include "trimtab/tasks/coroutines/coroutine_fork.hpp"
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/sync/latch.hpp"
#include "trimtab/tasks/sync/mutex.hpp"
#include "trimtab/tasks/sync/timer.hpp"

namespace trimtab::tasks {
namespace {

class this_tasks : public on_a_runtime {};
INSTANTIATE_TEST_SUITE_P(tasks, this_tasks, all_policies({1, 2, 5}), name_of_case);

TEST_P(this_tasks, have_identities_of_their_own_that_outlast_waits) {
  rt.run([] {
    constexpr int count = 50;
    std::mutex lock;
    std::set<task_id> ids;
    int changed = 0;
    latch everybody(count);
    std::vector<future<void>> ends;
    for (int i = 0; i < count; ++i)
      ends.push_back(async([&] {
        const task_id own_id = this_task::get_id();
        everybody.arrive_and_wait();
        this_task::yield();
        const std::lock_guard guard(lock);
        ids.insert(own_id);
        changed += this_task::get_id() != own_id;
      }));
    for (auto& element : ends) element.get();
    EXPECT_EQ(ids.size(), count);
    EXPECT_FALSE(ids.contains(this_task::get_id()));
    EXPECT_FALSE(ids.contains(task_id()));
    EXPECT_EQ(changed, 0);
  });
}

// Two that run beside each other, as forks may.
TEST_P(this_tasks, beside_each_other_have_two_identities) {
  // Where forks are not stolen nothing runs beside anything.
  if (rt.workers() == 1 || rt.policy() == policy::static_priority) return;
  rt.run([] {
    std::atomic<int> arrived{0};
    task_id ids[2];
    const auto meets = [&](task_id& id) {
      id = this_task::get_id();
      ++arrived;
      while (arrived.load() < 2) std::this_thread::yield();
    };
    invoke([&] { meets(ids[0]); }, [&] { meets(ids[1]); });
    EXPECT_NE(ids[0], ids[1]);
  });
}

co_task<> waits_and_looks(latch& opened, std::atomic<int>& wrong, std::atomic<long>& sum) {
  const task_id first_id = this_task::get_id();
  const auto in_callee = [](latch& gate, std::atomic<int>& changed) -> co_task<> {
    const task_id own_id = this_task::get_id();
    co_await after(std::chrono::microseconds(50));
    co_await gate.wait_async();
    changed += this_task::get_id() != own_id;
  };
  const auto in_fork = [](latch& gate) -> co_task<int> {
    co_await gate.wait_async();
    co_return 1;
  };
  auto forked = fork(in_fork(opened));
  co_await in_callee(opened, wrong);
  wrong += this_task::get_id() != first_id;
  sum += co_await forked;
  wrong += this_task::get_id() != first_id;
}

TEST_P(this_tasks, that_are_coroutines_keep_their_identity) {
  std::atomic<int> wrong{0};
  std::atomic<long> sum{0};
  for (int round = 0; round < 20; ++round) {
    latch opened(1);
    std::vector<future<void>> futures;
    for (int i = 0; i < 10; ++i) futures.push_back(spawn(waits_and_looks(opened, wrong, sum)));
    async([&] { opened.count_down(); }).get();
    for (auto& element : futures) element.get();
  }
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(sum.load(), 200);
}

const annotation named("solver");

co_task<std::string> its_name() {
  const auto forked = []() -> co_task<std::string> { co_return this_task::name(); };
  auto second = fork(forked());
  co_await after(std::chrono::microseconds(10));
  const std::string of_fork = co_await second;
  const std::string own_name = this_task::name();
  co_return own_name + "," + of_fork;
}

TEST_P(this_tasks, have_the_names_that_they_were_given) {
  EXPECT_EQ(async({.name = &named}, [] { return std::string(this_task::name()); }).get(), "solver");
  EXPECT_EQ(async([] { return std::string(this_task::name()); }).get(), "");
  EXPECT_EQ(spawn({.name = &named}, its_name()).get(), "solver,solver");
  EXPECT_EQ(spawn(its_name()).get(), ",");
  EXPECT_STREQ(this_task::name(), "");
}

co_task<int> until_stopped(latch& begun, int depth) {
  if (depth > 0) {
    auto forked = fork(until_stopped(begun, depth - 1));
    const int called = co_await until_stopped(begun, depth - 1);
    const int of_fork = co_await forked;
    co_return called + of_fork + (this_task::stop_token().stop_requested() ? 1 : 0);
  }
  begun.count_down();
  while (!this_task::stop_token().stop_requested()) co_await after(std::chrono::microseconds(20));
  co_return 1;
}

TEST_P(this_tasks, that_are_coroutines_have_the_token_they_were_spawned_with) {
  for (int round = 0; round < 10; ++round) {
    std::stop_source source;
    latch begun(8);
    future<int> sum = spawn(source.get_token(), until_stopped(begun, 3));
    begun.wait();
    source.request_stop();
    EXPECT_EQ(sum.get(), 15);
  }
  EXPECT_FALSE(this_task::stop_token().stop_possible());
  EXPECT_FALSE(async([] { return this_task::stop_token().stop_possible(); }).get());
}

TEST_P(this_tasks, of_async_have_the_token_they_were_given) {
  std::stop_source source;
  latch gate(1);
  const auto self_id = [&] { return this_task::stop_token() == source.get_token(); };
  future<bool> input = async(source.get_token(), [&] {
    const bool had_stop = self_id();
    // Other tasks run here meanwhile, and on top of this one.
    gate.wait();
    const bool has_token = async([&] { return self_id(); }).get() || async(std::stop_source().get_token(), self_id).get();
    return had_stop && !has_token && self_id();
  });
  EXPECT_FALSE(async(self_id).get());
  gate.count_down();
  EXPECT_TRUE(input.get());
  latch begun(1);
  future<void> until_stopped = async(source.get_token(), [&] {
    begun.count_down();
    while (!this_task::stop_token().stop_requested()) this_task::yield();
  });
  begun.wait();
  source.request_stop();
  until_stopped.get();
  EXPECT_FALSE(async([] { return this_task::stop_token().stop_possible(); }).get());
}

TEST_P(this_tasks, that_are_told_to_stop_before_do_not_begin) {
  std::stop_source source;
  source.request_stop();
  bool is_run = false;
  auto kept = std::make_shared<int>(1);
  const auto runs = [](bool& flag, std::shared_ptr<int>) -> co_task<int> {
    flag = true;
    co_return 1;
  };
  EXPECT_THROW(spawn({.name = &named}, source.get_token(), runs(is_run, kept)).get(), stopped);
  EXPECT_FALSE(is_run);
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(spawn(std::stop_source().get_token(), runs(is_run, kept)).get(), 1);
}

TEST(task_identity, is_what_std_thread_id_is) {
  EXPECT_EQ(task_id(), task_id());
  const task_id own_id = this_task::get_id();
  EXPECT_EQ(this_task::get_id(), own_id);
  EXPECT_NE(own_id, task_id());
  task_id second;
  std::thread([&] { second = this_task::get_id(); }).join();
  EXPECT_NE(own_id, second);
  EXPECT_TRUE(own_id < second || second < own_id);
  EXPECT_EQ((std::unordered_set<task_id>{own_id, second, own_id}.size()), 2u);
  std::ostringstream text;
  text << own_id;
  EXPECT_GT(std::stoul(text.str()), 0u);
}

}  // namespace
}  // namespace trimtab::tasks
