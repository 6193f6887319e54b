#include "trimtab/kernel/event_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace trimtab::kernel {

TEST(event_order, takes_the_events_of_all_cpus_in_the_order_of_time) {
  std::mt19937_64 random(3);
  for (const std::size_t sources : {std::size_t{1}, std::size_t{2}, std::size_t{17}}) {
    event_order order(sources);
    std::vector<std::uint64_t> expected, found;
    std::vector<std::uint64_t> last(sources);
    for (std::uint64_t round = 1; round <= 50; ++round) {
      const std::uint64_t end = round * 1'000;
      for (std::size_t source = 0; source < sources; ++source)
        for (std::uint64_t& time = last[source]; time + 200 < end + random() % 300;) {
          time += random() % 150;
          order.add(source, {.time_ns = time, .cpu = static_cast<std::uint16_t>(source)});
          expected.push_back(time);
        }
      order.take_until(end - 300, [&](const scheduler_event& one) {
        EXPECT_LE(one.time_ns, end - 300);
        found.push_back(one.time_ns);
      });
      EXPECT_TRUE(std::ranges::is_sorted(found)) << "also over several calls";
    }
    order.take_until(~std::uint64_t{0}, [&](const scheduler_event& one) { found.push_back(one.time_ns); });
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(order.waiting(), 0u);
  }
}

TEST(event_order, keeps_what_is_younger) {
  event_order order(2);
  order.add(0, {.time_ns = 5});
  order.add(1, {.time_ns = 9});
  int count = 0;
  order.take_until(8, [&](const scheduler_event&) { ++count; });
  EXPECT_EQ(count, 1);
  EXPECT_EQ(order.waiting(), 1u);
}

}  // namespace trimtab::kernel
