// The selection of messages for communication servers, on models of machines: it follows from the machine's saturation
// curve.
#include <gtest/gtest.h>

#include <algorithm>

#include "simulation/injection_model.hpp"

namespace trimtab::parcels::simulation {
namespace {

// Calls use(load, rate without servers, rates with all through 1, 2 and 4 servers) for each size and length of a row.
template <class function>
void for_each_load(const injection_machine& machine, function&& use) {
  for (const std::uint64_t bytes : model_sizes)
    for (const std::uint32_t in_flight : model_rows) {
      const injection_load load{bytes, model_senders, in_flight};
      std::vector<double> served;
      for (std::uint32_t servers = 1; servers <= model_servers; servers *= 2)
        served.push_back(messages_per_s(machine, load, all_served(servers)));
      use(load, messages_per_s(machine, load, {}), served);
    }
}

std::string name_of(const injection_load& load) {
  return std::to_string(load.bytes) + " bytes, " + std::to_string(load.in_flight) + " in a row";
}

// What a message costs alone: L + 2o, and the answer the same, both through a port that nothing else uses.
TEST(injection_model, one_message_takes_what_the_model_says) {
  injection_machine machine = machine_with_own_ports();
  EXPECT_NEAR(1e9 / messages_per_s(machine, {1, 1, 1}, {}), 2 * 800 + 4 * 200, 1);
  EXPECT_NEAR(1e9 / messages_per_s(machine, {1, 1, 1}, all_served(1)), 2 * 800 + 4 * 200 + 60 + 200, 1);
}

TEST(injection_model, a_port_for_all_is_the_limit) {
  injection_machine machine = machine_with_own_ports();
  machine.network.ports = 1;
  EXPECT_NEAR(messages_per_s(machine, {1001, 8, 128}, {}), 1e9 / (100 + 1000 * 0.1), 1e5);
}

TEST(selection_of_messages, is_as_good_as_the_best_fixed_choice_at_every_size) {
  const injection_machine machine = contended_machine();
  const server_settings chosen =
      choose_servers(curve_of(machine, model_senders, model_servers), model_servers, model_senders);
  EXPECT_GT(chosen.servers, 0u);
  for_each_load(machine, [&](const injection_load& load, double direct, const std::vector<double>& served) {
    const double rate = messages_per_s(machine, load, chosen);
    EXPECT_GE(rate, 0.97 * direct) << name_of(load);
    EXPECT_GE(rate, 0.95 * std::max(direct, *std::ranges::max_element(served))) << name_of(load);
  });
}

TEST(selection_of_messages, wins_where_everything_through_servers_loses) {
  const injection_machine machine = contended_machine();
  double worst = 1, best = 1;
  for_each_load(machine, [&](const injection_load&, double direct, const std::vector<double>& served) {
    worst = std::min(worst, served.front() / direct);
    best = std::max(best, *std::ranges::max_element(served) / direct);
  });
  EXPECT_LT(worst, 0.53) << "published: up to 47 % lost";
  EXPECT_GT(best, 1.76) << "published: up to 76 % gained";
}

TEST(selection_of_messages, is_none_where_servers_gain_nothing_or_have_no_cpus) {
  const saturation_curve own_ports = curve_of(machine_with_own_ports(), model_senders, model_servers);
  EXPECT_EQ(choose_servers(own_ports, model_servers, model_senders).servers, 0u);
  EXPECT_EQ(choose_servers(curve_of(contended_machine(), model_senders, model_servers), 0, model_senders).servers, 0u);
}

}  // namespace
}  // namespace trimtab::parcels::simulation
