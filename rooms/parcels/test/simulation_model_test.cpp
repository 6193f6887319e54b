// The parts of the simulation: events, threads and the network, against times computed by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "simulation/network_model.hpp"
#include "simulation/simulated_thread.hpp"
#include "trimtab/parcels/coalescing/clock.hpp"

namespace trimtab::parcels::simulation {
namespace {

constexpr nanoseconds start = event_queue::first_time;

TEST(simulation_events, run_by_time_and_then_in_the_order_in_which_they_were_added) {
  event_queue events;
  std::string order;
  const auto add = [&](nanoseconds time, char name) { events.add(start + time, [&order, name] { order += name; }); };
  add(20, 'd');
  add(10, 'b');
  add(10, 'c');
  add(5, 'a');
  events.add(start + 10, [&] { add(3, 'x'); });  // which has passed: now
  while (events.run_next()) continue;
  EXPECT_EQ(order, "abcxd");
  EXPECT_EQ(events.now(), start + 20);
  EXPECT_EQ(events.events(), 6u);
}

TEST(simulation_events, set_the_clock_of_coalescing_until_they_end) {
  {
    event_queue events;
    events.add(start + 7, [&] {
      events.spend(5);
      EXPECT_EQ(current_ticks(), start + 12);
      EXPECT_EQ(current_monotonic_ns(), start + 12);
    });
    events.run_next();
    EXPECT_EQ(current_ticks(), start + 12);
  }
  EXPECT_EQ(simulated_ns.load(), 0u);
  EXPECT_NE(current_ticks(), start + 12) << "the real clock again";
}

TEST(simulation_threads, do_one_thing_after_the_other_and_are_busy_each_on_its_own) {
  event_queue events;
  simulated_thread one(events), other(events);
  std::vector<nanoseconds> begins;
  const auto work = [&](simulated_thread& thread) {
    return [&] {
      begins.push_back(events.now() - start);
      events.spend(10);
      thread.occupy(90);
    };
  };
  for (int i = 0; i < 3; ++i) one.run(work(one));
  other.run(work(other), start + 50);
  while (events.run_next()) continue;
  EXPECT_EQ(begins, (std::vector<nanoseconds>{0, 50, 100, 200}));
  EXPECT_EQ(one.busy_ns(), 300u);
  EXPECT_EQ(other.busy_ns(), 100u);
}

constexpr network_parameters by_hand{
    .latency_ns = 1000, .overhead_ns = 300, .gap_ns = 100, .gap_per_byte_ns = 2, .ports = 1, .longest_queue_ns = 10'000};

TEST(simulation_network, one_message_takes_its_latency_and_each_byte_its_gap) {
  network_model network(3, by_hand, 1);
  EXPECT_EQ(network.send({0, 1, 1}, start), start + 1000);
  EXPECT_EQ(network.send({1, 0, 501}, start), start + 1000 + 500 * 2);
}

TEST(simulation_network, messages_of_one_port_leave_one_after_the_other) {
  network_model network(3, by_hand, 1);
  for (nanoseconds i = 0; i < 10; ++i)
    EXPECT_EQ(network.send({0, static_cast<std::uint32_t>(1 + i % 2), 1}, start), start + 1000 + i * 100) << i;
  // 11 bytes: the port is busy for 100 + 10 * 2.
  EXPECT_EQ(network.send({0, 1, 11}, start), start + 1000 + 1000 + 20);
  EXPECT_EQ(network.send({0, 1, 1}, start), start + 1000 + 1000 + 120);
}

TEST(simulation_network, messages_leave_by_all_ports_at_once) {
  network_parameters several = by_hand;
  several.ports = 3;
  network_model network(2, several, 1);
  for (nanoseconds i = 0; i < 9; ++i) EXPECT_EQ(network.send({0, 1, 1}, start), start + 1000 + i / 3 * 100) << i;
}

TEST(simulation_network, a_port_with_too_much_to_do_refuses_until_it_has_less) {
  network_model network(2, by_hand, 1);
  nanoseconds accepted = 0;
  while (network.send({0, 1, 1}, start)) ++accepted;
  EXPECT_EQ(accepted, 101u);
  EXPECT_EQ(network.time_of_room(0), start + 100);
  EXPECT_FALSE(network.send({0, 1, 1}, start + 99));
  EXPECT_TRUE(network.send({0, 1, 1}, start + 100));
}

TEST(simulation_network, more_clients_of_a_port_make_it_slower) {
  network_parameters contended = by_hand;
  contended.contention = 0.5;
  network_model network(2, contended, 1);
  EXPECT_EQ(network.send({0, 1, 1, 7}, start), start + 1000);
  EXPECT_EQ(network.send({0, 1, 1, 7}, start), start + 1100);
  EXPECT_EQ(network.send({0, 1, 1, 8}, start), start + 1200);  // occupies the port for 150
  EXPECT_EQ(network.send({0, 1, 1, 8}, start), start + 1350);
  EXPECT_EQ(network.send({0, 1, 1, 8}, start + 20'000), start + 21'000);
  EXPECT_EQ(network.send({0, 1, 1, 8}, start + 20'000), start + 21'100) << "the other one is forgotten";
}

TEST(simulation_network, jitter_keeps_the_order_between_two_localities) {
  network_parameters shaky = by_hand;
  shaky.jitter_ns = 5000;
  const auto arrivals = [&](std::uint64_t seed) {
    network_model network(2, shaky, seed);
    std::vector<nanoseconds> times;
    for (nanoseconds i = 0; i < 50; ++i) times.push_back(*network.send({0, 1, 1}, start + i * 100));
    return times;
  };
  const std::vector<nanoseconds> times = arrivals(1);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  EXPECT_EQ(times, arrivals(1));
  EXPECT_NE(times, arrivals(2));
}

}  // namespace
}  // namespace trimtab::parcels::simulation
