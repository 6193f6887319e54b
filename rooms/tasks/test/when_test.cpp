#include "trimtab/tasks/futures/when.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "on_policies.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks {
namespace {

class compositions : public on_a_runtime {};
INSTANTIATE_TEST_SUITE_P(tasks, compositions, all_policies({1, 2, 5}), name_of_case);

TEST_P(compositions, when_all_of_a_vector_of_some_and_of_none) {
  here.run([] {
    std::vector<future<int>> all;
    for (int i = 0; i < 100; ++i) all.push_back(async([i] { return i; }));
    int sum = 0;
    for (future<int>& each : when_all(std::move(all)).get()) sum += each.get();
    EXPECT_EQ(sum, 4950);
    EXPECT_TRUE(when_all(std::vector<future<int>>()).get().empty());
    when_all().get();
    auto [a, b] = when_all(async([] { return 1; }), async([] { return std::string("two"); })).get();
    EXPECT_EQ(a.get(), 1);
    EXPECT_EQ(b.get(), "two");
    std::vector<future<int>> range;
    for (int i = 0; i < 10; ++i) range.push_back(async([i] { return i; }));
    EXPECT_EQ(when_all(range.begin(), range.end()).get().size(), 10u);
  });
}

TEST_P(compositions, exceptions_stay_in_their_futures) {
  here.run([] {
    auto both = when_all(async([]() -> int { throw std::logic_error("x"); }), make_ready_future(2)).get();
    EXPECT_THROW(std::get<0>(both).get(), std::logic_error);
    EXPECT_EQ(std::get<1>(both).get(), 2);
  });
}

TEST_P(compositions, when_any_is_ready_with_the_first) {
  here.run([] {
    for (int round = 0; round < 50; ++round) {
      std::vector<promise<int>> givers(5);
      std::vector<future<int>> all;
      for (auto& each : givers) all.push_back(each.get_future());
      auto any = when_any(std::move(all));
      EXPECT_FALSE(any.ready());
      const auto which = static_cast<std::size_t>(round % 5);
      future<void> giver = async([&] { givers[which].set_value(7); });
      auto result = any.get();
      giver.get();
      EXPECT_EQ(result.index, which);
      EXPECT_EQ(result.futures[which].get(), 7);
      EXPECT_TRUE(result.futures[(which + 1) % 5].valid());
    }
    EXPECT_EQ(when_any(std::vector<future<int>>()).get().index, static_cast<std::size_t>(-1));
  });
}

TEST_P(compositions, when_some_waits_for_as_many_as_asked) {
  here.run([] {
    std::vector<promise<int>> givers(6);
    std::vector<shared_future<int>> all;
    for (auto& each : givers) all.push_back(each.get_future().share());
    auto some = when_some(3, all.begin(), all.end());
    givers[4].set_value(4);
    givers[1].set_value(1);
    EXPECT_FALSE(some.ready());
    givers[5].set_value(5);
    auto result = some.get();
    EXPECT_EQ(result.indices, (std::vector<std::size_t>{1, 4, 5}));
    EXPECT_EQ(all[4].get(), 4);
    EXPECT_TRUE(when_some(0, all).ready());
    EXPECT_THROW(when_some(7, all), std::invalid_argument);
  });
}

TEST_P(compositions, many_threads_complete_what_is_composed) {
  here.run([] {
    for (int round = 0; round < 30; ++round) {
      std::vector<shared_future<int>> all;
      for (int i = 0; i < 20; ++i) all.push_back(async([i] { return i; }).share());
      auto any = when_any(all);
      auto some = when_some(10, all);
      auto whole = when_all(all);
      const auto first = any.get();
      EXPECT_EQ(all[first.index].get(), static_cast<int>(first.index));
      EXPECT_GE(some.get().indices.size(), 10u);
      for (const auto& each : whole.get()) EXPECT_TRUE(each.ready());
    }
  });
}

// One that never becomes ready does not collect those who looked at it; a broken promise counts as ready.
TEST(when_any, forgets_what_it_need_not_wait_for) {
  const auto held = std::make_shared<int>(0);
  promise<std::shared_ptr<int>> never;
  shared_future<std::shared_ptr<int>> waits = never.get_future();
  for (int i = 0; i < 10; ++i) {
    promise<std::shared_ptr<int>> given;
    auto any = when_any(waits, given.get_future().share());
    given.set_value(held);
    EXPECT_EQ(any.get().index, 1u);
  }
  EXPECT_EQ(held.use_count(), 1);
  auto all = when_all(waits);
  never = {};
  EXPECT_THROW(std::get<0>(all.get()).get(), std::future_error);
}

}  // namespace
}  // namespace trimtab::tasks
