#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <map>
#include <numeric>
#include <optional>

#include "objects_helpers.hpp"
#include "trimtab/parcels/objects/names.hpp"
#include "trimtab/parcels/objects/remote_channel.hpp"
#include "trimtab/parcels/objects/remote_latch.hpp"

namespace trimtab::parcels {

namespace {

class remote_channels : public objects_test {};
INSTANTIATE_TEST_SUITE_P(all, remote_channels, ::testing::ValuesIn(objects_settings()), name_of_objects_setting);

using numbered = std::pair<std::uint32_t, std::uint32_t>;

void send_numbers(remote_channel<numbered> target, std::uint32_t sender, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) i % 7 == 0 ? target.set({sender, i}).get() : target.send({sender, i});
}

struct bad_value {
  int number = 0;
  template <class archive>
  void serialize(archive& ar) {
    if constexpr (archive::writes)
      if (number == 13) throw std::domain_error("13 cannot be written");
    ar(number);
  }
};

}  // namespace

TEST_P(remote_channels, keep_the_order_of_each_sender) {
  constexpr std::uint32_t count = 500;
  run([&](job& this_job) {
    const auto local_handle = remote_channel<numbered>::create(this_job);
    this_job.barrier();
    for (const locality where : this_job.localities()) post(where, send_numbers, local_handle, where.number(), count);
    std::map<std::uint32_t, std::uint32_t> next;
    for (std::uint32_t i = 0; i < count * this_job.size(); ++i) {
      const auto [sender, number] = local_handle.receive().get();
      EXPECT_EQ(number, next[sender]++);
    }
    EXPECT_EQ(next.size(), this_job.size());
  });
}

TEST_P(remote_channels, give_each_value_to_one_receiver) {
  constexpr std::uint64_t count = 200;
  std::atomic<std::uint64_t> sum{0};
  run([&](job& this_job) {
    const auto numbers = handle_of(this_job, remote_channel<std::uint64_t>::create(this_job), 0);
    std::vector<tasks::future<std::uint64_t>> received;
    for (std::uint64_t i = 0; i < count; ++i) received.push_back(numbers.receive());
    for (std::uint64_t i = 1; i <= count; ++i) numbers.send(i);
    for (auto& value : received) sum += value.get();
    this_job.barrier();
    numbers.close().get();
    EXPECT_THROW(numbers.receive().get(), channel_closed);
  });
  EXPECT_EQ(sum, GetParam().size * count * (count + 1) / 2);
}

TEST_P(remote_channels, carry_long_values) {
  run([](job& this_job) {
    const auto local_handle = remote_channel<std::vector<double>>::create(this_job);
    std::vector<double> values(300'000);
    std::iota(values.begin(), values.end(), 0.0);
    for (const locality where : this_job.localities())
      post(
          where, [](remote_channel<std::vector<double>> to, std::vector<double> content) { to.send(std::move(content)); },
          local_handle, values);
    for (std::uint32_t i = 0; i < this_job.size(); ++i) EXPECT_EQ(local_handle.receive().get(), values);
  });
}

TEST_P(remote_channels, end_by_close) {
  run([](job& this_job) {
    const auto local_handle = remote_channel<std::string>::create(this_job);
    const auto far = async(
                         this_job.at(this_job.size() - 1),
                         [](remote_channel<std::string> channel) {
                           channel.set("a").get();
                           channel.set("b").get();
                           channel.close().get();
                           return channel;
                         },
                         local_handle)
                         .get();
    EXPECT_EQ(far, local_handle);
    EXPECT_THROW(far.set("c").get(), channel_closed);
    EXPECT_EQ(far.receive().get(), "a");
    EXPECT_EQ(local_handle.receive().get(), "b");
    EXPECT_THROW(local_handle.receive().get(), channel_closed);
    const auto waiting = remote_channel<int>::create(this_job);
    auto value = async(this_job.at(0), [](remote_channel<int> channel) { return channel.receive(); }, waiting);
    waiting.close().get();
    EXPECT_THROW(value.get(), channel_closed);
    const auto destroyed = remote_channel<int>::create(this_job);
    auto never = destroyed.receive();
    destroyed.destroy().get();
    EXPECT_THROW(never.get(), no_such_object);
    EXPECT_THROW(destroyed.set(1).get(), no_such_object);
  });
}

TEST_P(remote_channels, bring_errors_of_user_types_to_the_caller) {
  run([](job& this_job) {
    const auto local_handle = remote_channel<bad_value>::create(this_job);
    for (const locality where : this_job.localities()) {
      // Written where it is sent to another locality, or where it leaves the channel.
      const auto far = async(
                           where,
                           [](remote_channel<bad_value> channel) {
                             try {
                               channel.set({13}).get();
                             } catch (const std::domain_error&) {
                               return true;
                             }
                             return false;
                           },
                           local_handle)
                           .get();
      EXPECT_EQ(far, !where.is_here());
      if (!where.is_here()) continue;
      const bool is_local = this_job.size() == 1;
      const locality reader_of_value = this_job.at((where.number() + 1) % this_job.size());
      auto value = async(
          reader_of_value,
          [](remote_channel<bad_value> channel) {
            try {
              channel.receive().get();
            } catch (const std::domain_error&) {
              return true;
            }
            return false;
          },
          local_handle);
      EXPECT_EQ(value.get(), !is_local);
    }
  });
}

TEST_P(remote_channels, latches_open_when_all_have_counted) {
  std::atomic<std::uint32_t> counted{0};
  run([&](job& this_job) {
    const remote_latch latch = handle_of(this_job, remote_latch::create(this_job, 3 * this_job.size()), this_job.size() - 1);
    auto opened = latch.wait();
    if (this_job.size() == 1) {
      EXPECT_FALSE(opened.ready());
    }
    counted += 3;
    latch.count_down(2);
    latch.arrive_and_wait().get();
    EXPECT_EQ(counted, 3 * this_job.size());
    opened.get();
    latch.wait().get();
    EXPECT_THROW(latch.arrive_and_wait().get(), std::logic_error);
    remote_latch::create(this_job, 0).wait().get();
  });
}

TEST_P(remote_channels, names_are_found_now_or_later) {
  run([](job& this_job) {
    const std::string number = std::to_string(this_job.here().number());
    const auto local_handle = remote_channel<int>::create(this_job);
    // Asked for before it is there.
    auto next =
        find_name<remote_channel<int>>(this_job, "of " + std::to_string((this_job.here().number() + 1) % this_job.size()));
    this_job.barrier();
    register_name(this_job, "of " + number, local_handle).get();
    next.get().send(5);
    EXPECT_EQ(local_handle.receive().get(), 5);
    EXPECT_EQ(find_name<remote_channel<int>>(this_job, "of " + number).get(), local_handle);
    EXPECT_THROW(register_name(this_job, "of " + number, local_handle).get(), name_error);
    EXPECT_THROW(find_name<remote_channel<double>>(this_job, "of " + number).get(), name_error);
    this_job.barrier();
    forget_name(this_job, "of " + number).get();
    EXPECT_THROW(forget_name(this_job, "of " + number).get(), name_error);
    register_name(this_job, "of " + number, local_handle).get();
  });
}

TEST(remote_channel, says_that_its_locality_was_lost) {
  std::barrier<> both_have_looked(2);
  run_with_a_loss(3, [&](job& this_job) {
    const auto local_handle = remote_channel<int>::create(this_job);
    const auto lost = handle_of(this_job, local_handle, 2);
    auto value = lost.receive();
    this_job.barrier();
    if (this_job.here().number() == 2) return;
    EXPECT_THROW(value.get(), locality_lost);
    EXPECT_THROW(lost.set(1).get(), locality_lost);
    lost.send(1);  // dropped
    local_handle.send(2);
    EXPECT_EQ(local_handle.receive().get(), 2);
    both_have_looked.arrive_and_wait();
  });
}

TEST(remote_channel, gives_no_value_to_a_receiver_that_was_lost) {
  std::barrier<> both_know(2);
  run_with_a_loss(3, [&](job& this_job) {
    const auto local_handle = remote_channel<int>::create(this_job);
    const auto shared = handle_of(this_job, local_handle, 0), lost = handle_of(this_job, local_handle, 2);
    std::optional<tasks::future<int>> early;
    if (this_job.here().number() == 2) early = shared.receive();
    this_job.barrier();
    this_job.barrier();  // the request has arrived
    if (this_job.here().number() == 2) return;
    EXPECT_THROW(lost.receive().get(), locality_lost);
    both_know.arrive_and_wait();
    if (this_job.here().number() == 1) {
      shared.set(4).get();
    } else {
      EXPECT_EQ(shared.receive().get(), 4);
    }
    both_know.arrive_and_wait();
  });
}

}  // namespace trimtab::parcels
