// The transport's contract in simulated time. The contract's own test-suite lets threads wait for each other, which nobody
// does here; these are its rules about messages, room and ends.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "simulation/simulated_transport.hpp"
#include "transport_helpers.hpp"

namespace trimtab::parcels::simulation {
namespace {

constexpr std::uint64_t simulated_seed = 99;

class simulated_links : public ::testing::Test {
 protected:
  void open(std::uint32_t size, const simulated_network::options& chosen = {}) {
    m_network = std::make_shared<simulated_network>(m_events, size, network_parameters{.jitter_ns = 900}, 1, chosen);
    for (locality_number i = 0; i < size; ++i) m_links.push_back(std::make_unique<simulated_transport>(m_network, i));
  }
  void run_all_events() {
    while (m_events.run_next()) continue;
  }
  // False: there was no room.
  bool send(locality_number from, locality_number to, std::uint64_t index, std::size_t largest) {
    std::vector<std::byte> room;
    const bytes_view message = message_pattern(simulated_seed, from, to, largest).fill(index, room);
    return m_links[from]->try_send(
               to, std::vector<bytes_view>{message.first(message.size() / 2), {}, message.subspan(message.size() / 2)}) ==
           send_status::sent;
  }

  event_queue m_events;
  std::shared_ptr<simulated_network> m_network;
  std::vector<std::unique_ptr<simulated_transport>> m_links;
};

TEST_F(simulated_links, bring_messages_of_all_sizes_whole_and_in_order) {
  open(3);
  const std::size_t largest = m_links[0]->largest_message();
  checking_sink sink(*m_links[2], simulated_seed, largest);
  std::uint64_t sent[2] = {};
  for (int round = 0; round < 2000; ++round) {
    for (locality_number from = 0; from < 2; ++from) sent[from] += send(from, 2, sent[from], largest);
    m_events.run_next();
    EXPECT_LE(m_links[2]->receive(sink, 3), 3u);
  }
  run_all_events();
  while (m_links[2]->receive(sink, 10) != 0) continue;
  EXPECT_GT(sent[0], 10u);
  EXPECT_EQ(sink.from(0).messages, sent[0]);
  EXPECT_EQ(sink.from(1).messages, sent[1]);
  sink.expect_right();
}

TEST_F(simulated_links, refuse_until_the_receiver_receives_and_say_when) {
  open(2, {.most_unreceived = 1000});
  std::uint64_t sent = 0;
  std::uint32_t announced = 0;
  while (send(0, 1, sent, 64)) ++sent;
  EXPECT_GT(sent, 10u);
  run_all_events();
  EXPECT_FALSE(send(0, 1, sent, 64));
  m_links[0]->set_on_event([&](bool) { ++announced; });
  checking_sink sink(*m_links[1], simulated_seed, 64);
  EXPECT_EQ(m_links[1]->receive(sink, 1000), sent);
  EXPECT_GT(announced, 0u);
  EXPECT_TRUE(send(0, 1, sent, 64));
}

TEST_F(simulated_links, say_who_has_left_or_is_lost_after_the_last_message) {
  open(3);
  ASSERT_TRUE(send(0, 2, 0, 64));
  ASSERT_TRUE(send(1, 2, 0, 64));
  EXPECT_TRUE(m_links[0]->leave(0));
  m_links[0].reset();
  m_links[1].reset();
  checking_sink sink(*m_links[2], simulated_seed, 64);
  run_all_events();
  EXPECT_EQ(m_links[2]->receive(sink, 10), 2u);
  sink.expect_right();
  EXPECT_EQ(sink.from(0).left, 1u);
  EXPECT_EQ(sink.from(0).lost, 0u);
  EXPECT_EQ(sink.from(1).lost, 1u);
  std::byte byte{};
  EXPECT_EQ(static_cast<transport&>(*m_links[2]).try_send(0, bytes_view(&byte, 1)), send_status::gone);
}

}  // namespace
}  // namespace trimtab::parcels::simulation
