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
  rt.run([] {
    std::vector<future<int>> futures;
    for (int i = 0; i < 100; ++i) futures.push_back(async([i] { return i; }));
    int sum = 0;
    for (future<int>& each : when_all(std::move(futures)).get()) sum += each.get();
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
  rt.run([] {
    auto joined = when_all(async([]() -> int { throw std::logic_error("x"); }), make_ready_future(2)).get();
    EXPECT_THROW(std::get<0>(joined).get(), std::logic_error);
    EXPECT_EQ(std::get<1>(joined).get(), 2);
  });
}

TEST_P(compositions, when_any_is_ready_with_the_first) {
  rt.run([] {
    for (int round = 0; round < 50; ++round) {
      std::vector<promise<int>> givers(5);
      std::vector<future<int>> futures;
      for (auto& element : givers) futures.push_back(element.get_future());
      auto first_ready = when_any(std::move(futures));
      EXPECT_FALSE(first_ready.ready());
      const auto index = static_cast<std::size_t>(round % 5);
      future<void> giver = async([&] { givers[index].set_value(7); });
      auto result = first_ready.get();
      giver.get();
      EXPECT_EQ(result.index, index);
      EXPECT_EQ(result.futures[index].get(), 7);
      EXPECT_TRUE(result.futures[(index + 1) % 5].valid());
    }
    EXPECT_EQ(when_any(std::vector<future<int>>()).get().index, static_cast<std::size_t>(-1));
  });
}

TEST_P(compositions, when_some_waits_for_as_many_as_asked) {
  rt.run([] {
    std::vector<promise<int>> givers(6);
    std::vector<shared_future<int>> futures;
    for (auto& element : givers) futures.push_back(element.get_future().share());
    auto several = when_some(3, futures.begin(), futures.end());
    givers[4].set_value(4);
    givers[1].set_value(1);
    EXPECT_FALSE(several.ready());
    givers[5].set_value(5);
    auto result = several.get();
    EXPECT_EQ(result.indices, (std::vector<std::size_t>{1, 4, 5}));
    EXPECT_EQ(futures[4].get(), 4);
    EXPECT_TRUE(when_some(0, futures).ready());
    EXPECT_THROW(when_some(7, futures), std::invalid_argument);
  });
}

TEST_P(compositions, many_threads_complete_what_is_composed) {
  rt.run([] {
    for (int round = 0; round < 30; ++round) {
      std::vector<shared_future<int>> futures;
      for (int i = 0; i < 20; ++i) futures.push_back(async([i] { return i; }).share());
      auto first_ready = when_any(futures);
      auto several = when_some(10, futures);
      auto whole = when_all(futures);
      const auto first = first_ready.get();
      EXPECT_EQ(futures[first.index].get(), static_cast<int>(first.index));
      EXPECT_GE(several.get().indices.size(), 10u);
      for (const auto& element : whole.get()) EXPECT_TRUE(element.ready());
    }
  });
}

// One that never becomes ready does not collect those who looked at it; a broken promise counts as ready.
TEST(when_any, forgets_what_it_need_not_wait_for) {
  const auto held = std::make_shared<int>(0);
  promise<std::shared_ptr<int>> unfulfilled;
  shared_future<std::shared_ptr<int>> waits = unfulfilled.get_future();
  for (int i = 0; i < 10; ++i) {
    promise<std::shared_ptr<int>> source;
    auto first_ready = when_any(waits, source.get_future().share());
    source.set_value(held);
    EXPECT_EQ(first_ready.get().index, 1u);
  }
  EXPECT_EQ(held.use_count(), 1);
  auto joined = when_all(waits);
  unfulfilled = {};
  EXPECT_THROW(std::get<0>(joined.get()).get(), std::future_error);
}

}  // namespace
}  // namespace trimtab::tasks
