#include "trimtab/tasks/sync/channel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "on_policies.hpp"
#include "trimtab/tasks/core/task_scope.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks {
namespace {

class channels : public on_a_runtime {};
INSTANTIATE_TEST_SUITE_P(tasks, channels, all_policies({1, 2, 5}), name_of_case);

TEST_P(channels, values_come_in_their_order) {
  for (const std::size_t capacity : {0u, 1u, 7u}) {
    channel<int> line(capacity);
    const std::vector<int> values = rt.run([&] {
      future<void> producer = async([&] {
        for (int i = 0; i < 200; ++i) EXPECT_TRUE(line.send(i));
        line.close();
      });
      std::vector<int> received;
      for (const int element : line) received.push_back(element);
      producer.get();
      return received;
    });
    std::vector<int> expected(200);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(values, expected) << "capacity " << capacity;
  }
}

TEST_P(channels, each_value_comes_once_from_many_to_many) {
  for (const std::size_t capacity : {0u, 3u}) {
    channel<int> line(capacity);
    std::atomic<long> sum{0}, count{0};
    std::thread external_thread([&] {
      for (const int element : line) {
        sum += element;
        ++count;
      }
    });
    rt.run([&] {
      task_scope consumers;
      for (int i = 0; i < 4; ++i)
        consumers.spawn([&] {
          for (const int element : line) {
            sum += element;
            ++count;
          }
        });
      {
        task_scope producers;
        for (int i = 0; i < 5; ++i)
          producers.spawn([&] {
            for (int item = 1; item <= 100; ++item) line.send(item);
          });
      }
      line.close();
    });
    external_thread.join();
    EXPECT_EQ(count.load(), 500);
    EXPECT_EQ(sum.load(), 5 * 5050);
  }
}

TEST_P(channels, who_waits_is_turned_away_when_it_closes) {
  channel<std::unique_ptr<int>> line(1);
  rt.run([&] {
    EXPECT_TRUE(line.send(std::make_unique<int>(1)));
    future<bool> sender = async([&] { return line.send(std::make_unique<int>(2)); });
    channel<int> empty(1);
    future<bool> receiver = async([&] { return empty.receive().has_value(); });
    this_task::yield();
    empty.close();
    EXPECT_FALSE(receiver.get());
    line.close();
    const bool is_sent = sender.get();
    EXPECT_EQ(*line.receive().value(), 1);
    EXPECT_EQ(line.receive().has_value(), is_sent);
    EXPECT_FALSE(line.send(std::make_unique<int>(3)));
  });
}

TEST(channel, what_would_wait_says_so) {
  channel<int> line(1);
  EXPECT_FALSE(line.try_receive().has_value());
  EXPECT_TRUE(line.try_send(1));
  EXPECT_FALSE(line.try_send(2));
  EXPECT_EQ(line.try_receive(), 1);
  channel<int> meeting(0);
  EXPECT_FALSE(meeting.try_send(1));
  line.close();
  EXPECT_TRUE(line.is_closed());
  EXPECT_FALSE(line.try_send(1));
}

}  // namespace
}  // namespace trimtab::tasks
