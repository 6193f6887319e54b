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
  run([&](job& own) {
    const auto mine = remote_channel<numbered>::create(own);
    own.barrier();
    for (const locality where : own.localities()) post(where, send_numbers, mine, where.number(), count);
    std::map<std::uint32_t, std::uint32_t> next;
    for (std::uint32_t i = 0; i < count * own.size(); ++i) {
      const auto [sender, number] = mine.receive().get();
      EXPECT_EQ(number, next[sender]++);
    }
    EXPECT_EQ(next.size(), own.size());
  });
}

TEST_P(remote_channels, give_each_value_to_one_receiver) {
  constexpr std::uint64_t count = 200;
  std::atomic<std::uint64_t> sum{0};
  run([&](job& own) {
    const auto numbers = handle_of(own, remote_channel<std::uint64_t>::create(own), 0);
    std::vector<tasks::future<std::uint64_t>> received;
    for (std::uint64_t i = 0; i < count; ++i) received.push_back(numbers.receive());
    for (std::uint64_t i = 1; i <= count; ++i) numbers.send(i);
    for (auto& value : received) sum += value.get();
    own.barrier();
    numbers.close().get();
    EXPECT_THROW(numbers.receive().get(), channel_closed);
  });
  EXPECT_EQ(sum, GetParam().size * count * (count + 1) / 2);
}

TEST_P(remote_channels, carry_long_values) {
  run([](job& own) {
    const auto mine = remote_channel<std::vector<double>>::create(own);
    std::vector<double> values(300'000);
    std::iota(values.begin(), values.end(), 0.0);
    for (const locality where : own.localities())
      post(
          where, [](remote_channel<std::vector<double>> to, std::vector<double> content) { to.send(std::move(content)); },
          mine, values);
    for (std::uint32_t i = 0; i < own.size(); ++i) EXPECT_EQ(mine.receive().get(), values);
  });
}

TEST_P(remote_channels, end_by_close) {
  run([](job& own) {
    const auto mine = remote_channel<std::string>::create(own);
    const auto far = async(
                         own.at(own.size() - 1),
                         [](remote_channel<std::string> channel) {
                           channel.set("a").get();
                           channel.set("b").get();
                           channel.close().get();
                           return channel;
                         },
                         mine)
                         .get();
    EXPECT_EQ(far, mine);
    EXPECT_THROW(far.set("c").get(), channel_closed);
    EXPECT_EQ(far.receive().get(), "a");
    EXPECT_EQ(mine.receive().get(), "b");
    EXPECT_THROW(mine.receive().get(), channel_closed);
    const auto waiting = remote_channel<int>::create(own);
    auto value = async(own.at(0), [](remote_channel<int> channel) { return channel.receive(); }, waiting);
    waiting.close().get();
    EXPECT_THROW(value.get(), channel_closed);
    const auto destroyed = remote_channel<int>::create(own);
    auto never = destroyed.receive();
    destroyed.destroy().get();
    EXPECT_THROW(never.get(), no_such_object);
    EXPECT_THROW(destroyed.set(1).get(), no_such_object);
  });
}

TEST_P(remote_channels, bring_errors_of_user_types_to_the_caller) {
  run([](job& own) {
    const auto mine = remote_channel<bad_value>::create(own);
    for (const locality where : own.localities()) {
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
                           mine)
                           .get();
      EXPECT_EQ(far, !where.is_here());
      if (!where.is_here()) continue;
      const bool is_local = own.size() == 1;
      const locality reader_of_value = own.at((where.number() + 1) % own.size());
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
          mine);
      EXPECT_EQ(value.get(), !is_local);
    }
  });
}

TEST_P(remote_channels, latches_open_when_all_have_counted) {
  std::atomic<std::uint32_t> counted{0};
  run([&](job& own) {
    const remote_latch latch = handle_of(own, remote_latch::create(own, 3 * own.size()), own.size() - 1);
    auto opened = latch.wait();
    if (own.size() == 1) {
      EXPECT_FALSE(opened.ready());
    }
    counted += 3;
    latch.count_down(2);
    latch.arrive_and_wait().get();
    EXPECT_EQ(counted, 3 * own.size());
    opened.get();
    latch.wait().get();
    EXPECT_THROW(latch.arrive_and_wait().get(), std::logic_error);
    remote_latch::create(own, 0).wait().get();
  });
}

TEST_P(remote_channels, names_are_found_now_or_later) {
  run([](job& own) {
    const std::string number = std::to_string(own.here().number());
    const auto mine = remote_channel<int>::create(own);
    // Asked for before it is there.
    auto next = find_name<remote_channel<int>>(own, "of " + std::to_string((own.here().number() + 1) % own.size()));
    own.barrier();
    register_name(own, "of " + number, mine).get();
    next.get().send(5);
    EXPECT_EQ(mine.receive().get(), 5);
    EXPECT_EQ(find_name<remote_channel<int>>(own, "of " + number).get(), mine);
    EXPECT_THROW(register_name(own, "of " + number, mine).get(), name_error);
    EXPECT_THROW(find_name<remote_channel<double>>(own, "of " + number).get(), name_error);
    own.barrier();
    forget_name(own, "of " + number).get();
    EXPECT_THROW(forget_name(own, "of " + number).get(), name_error);
    register_name(own, "of " + number, mine).get();
  });
}

TEST(remote_channel, says_that_its_locality_was_lost) {
  std::barrier<> both_have_looked(2);
  run_with_a_loss(3, [&](job& own) {
    const auto mine = remote_channel<int>::create(own);
    const auto lost = handle_of(own, mine, 2);
    auto value = lost.receive();
    own.barrier();
    if (own.here().number() == 2) return;
    EXPECT_THROW(value.get(), locality_lost);
    EXPECT_THROW(lost.set(1).get(), locality_lost);
    lost.send(1);  // dropped
    mine.send(2);
    EXPECT_EQ(mine.receive().get(), 2);
    both_have_looked.arrive_and_wait();
  });
}

TEST(remote_channel, gives_no_value_to_a_receiver_that_was_lost) {
  std::barrier<> both_know(2);
  run_with_a_loss(3, [&](job& own) {
    const auto mine = remote_channel<int>::create(own);
    const auto shared = handle_of(own, mine, 0), lost = handle_of(own, mine, 2);
    std::optional<tasks::future<int>> early;
    if (own.here().number() == 2) early = shared.receive();
    own.barrier();
    own.barrier();  // the request has arrived
    if (own.here().number() == 2) return;
    EXPECT_THROW(lost.receive().get(), locality_lost);
    both_know.arrive_and_wait();
    if (own.here().number() == 1) {
      shared.set(4).get();
    } else {
      EXPECT_EQ(shared.receive().get(), 4);
    }
    both_know.arrive_and_wait();
  });
}

}  // namespace trimtab::parcels
