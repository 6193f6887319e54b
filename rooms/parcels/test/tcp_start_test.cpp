// How a job starts over TCP, and why it does not.
#include <list>
#include <thread>

#include "tcp_raw_member.hpp"

namespace trimtab::parcels {
namespace {

constexpr std::uint64_t brief_patience_ns = 300'000'000;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

membership member_of(locality_number number, std::uint32_t size, std::uint64_t patience_ns = long_enough_ns) {
  return {number, size, "a secret", patience_ns};
}

std::vector<opened_transport> open_members(meeting_point& meeting, const std::vector<membership>& members) {
  std::vector<opened_transport> results(members.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < members.size(); ++i) threads.emplace_back([&, i] { results[i] = meeting.open(members[i]); });
  return threads.clear(), std::move(results);
}

void expect_started(const std::vector<opened_transport>& results) {
  for (const opened_transport& result : results) EXPECT_EQ(result.error, "");
}

std::string error_of(const membership& self, const tcp_options& options) {
  const opened_transport opened = open_tcp(self, options);
  EXPECT_EQ(opened.link, nullptr);
  return opened.error;
}

// Nobody listens there now.
std::uint16_t free_port() {
  const tcp::opened_listener opened = tcp::listen_at(tcp::parse_address("127.0.0.1", 0));
  return tcp::local_address(opened.socket.get()).port();
}

}  // namespace

TEST(tcp_start, a_port_in_use_is_named) {
  const tcp::opened_listener occupier = tcp::listen_at(tcp::parse_address("127.0.0.1", 0));
  tcp_options options;
  options.meeting_port = tcp::local_address(occupier.socket.get()).port();
  EXPECT_EQ(error_of(member_of(0, 2), options),
            "cannot listen at 127.0.0.1:" + std::to_string(options.meeting_port) + ": Address already in use");
}

TEST(tcp_start, an_address_of_another_host_is_named) {
  tcp_options options;
  options.meeting_port = free_port();
  options.listen_address = "192.0.2.1";  // reserved for documentation (RFC 5737)
  EXPECT_EQ(error_of(member_of(1, 2), options), "cannot listen at 192.0.2.1:0: Cannot assign requested address");
}

TEST(tcp_start, what_cannot_be_is_said) {
  tcp_options options;
  options.meeting_port = 4000;
  EXPECT_TRUE(contains(error_of({0, 0, "s"}, options), "1 to 4096 localities, found 0"));
  EXPECT_TRUE(contains(error_of({0, 1'000'000, "s"}, options), "found 1000000"));
  EXPECT_TRUE(contains(error_of({4'000'000, 4, "s"}, options), "0 to 3, found 4000000"));
  EXPECT_TRUE(contains(error_of({0, 2, ""}, options), "no secret"));
  options.meeting_address = "localhost";
  EXPECT_TRUE(contains(error_of({1, 2, "s"}, options), "found 'localhost'"));
  options = {};
  EXPECT_TRUE(contains(error_of({1, 2, "s"}, options), "the meeting port must be 1 to 65535, found 0"));
  options.largest_message = 4095;
  EXPECT_TRUE(contains(error_of({0, 1, "s"}, options), "found 4095"));
}

TEST(tcp_start, a_meeting_socket_is_closed_whatever_happens) {
  for (const membership& self : {member_of(0, 1), member_of(9, 2)}) {
    tcp::opened_listener opened = tcp::listen_at(tcp::parse_address("127.0.0.1", 0));
    tcp_options options;
    options.meeting_socket = dup(opened.socket.get());
    (void)open_tcp(self, options);
    EXPECT_EQ(close(options.meeting_socket), -1) << "it was open still";
  }
}

TEST(tcp_start, a_port_can_be_used_again_and_again_and_members_may_be_first) {
  tcp_options options;
  options.meeting_port = free_port();
  for (int round = 0; round < 50; ++round) {
    std::vector<opened_transport> results(3);
    {
      std::vector<std::jthread> threads;
      for (const locality_number number : {2u, 1u, 0u})
        threads.emplace_back([&, number] { results[number] = open_tcp(member_of(number, 3), options); });
    }
    expect_started(results);
    if (round % 2 == 0) continue;
    for (opened_transport& result : results)
      if (result.link) result.link->leave(long_enough_ns);
  }
}

TEST(tcp_start, many_members_start) {
  tcp_meeting meeting;
  std::vector<membership> members;
  for (locality_number number = 0; number < 20; ++number) members.push_back(member_of(number, 20));
  expect_started(open_members(meeting, members));
}

TEST(tcp_start, members_that_listen_everywhere_start) {
  for (const char* everywhere : {"0.0.0.0", "::"}) {
    tcp_options options;
    if (std::string(everywhere) == "::") options.meeting_address = "::1";
    options.listen_address = everywhere;
    tcp_meeting meeting(options);
    expect_started(open_members(meeting, {member_of(0, 3), member_of(1, 3), member_of(2, 3)}));
  }
}

TEST(tcp_start, one_that_listens_everywhere_is_reached_where_it_called_from) {
  tcp_meeting meeting;
  opened_transport first;
  std::jthread opener([&] { first = meeting.open(member_of(0, 2)); });
  raw_caller caller(meeting.address(), member_of(1, 2), tcp_options().largest_message);
  tcp::set_listener(caller.proof.claim, tcp::parse_address("0.0.0.0", 4321));
  ASSERT_TRUE(caller.greet());
  caller.sign();
  ASSERT_EQ(caller.send_proof(), tcp::frame_kind::welcome);
  ASSERT_EQ(await_frame(caller.channel()), tcp::arrival::frame);
  std::array<tcp::member_claim, 2> members;
  ASSERT_TRUE(caller.channel().get(members));
  EXPECT_EQ(tcp::listener_of(members[1]).text(), "127.0.0.1:4321");
  caller.channel().close();
}

TEST(tcp_start, all_who_are_missing_are_named_to_all) {
  tcp_meeting meeting;
  const auto results = open_members(meeting, {member_of(0, 5, brief_patience_ns), member_of(2, 5)});
  EXPECT_EQ(results[0].error, "localities 1, 3 and 4 did not come within 300 ms");
  EXPECT_EQ(results[1].error, "locality 0 gave up: localities 1, 3 and 4 did not come within 300 ms");
}

TEST(tcp_start, the_least_patient_member_decides) {
  tcp_meeting meeting;
  const auto results = open_members(meeting, {member_of(0, 3), member_of(1, 3, brief_patience_ns)});
  EXPECT_TRUE(contains(results[0].error, "locality 2 did not come within")) << results[0].error;
  EXPECT_TRUE(contains(results[1].error, "locality 2 did not come within")) << results[1].error;
}

TEST(tcp_start, a_number_that_is_taken_twice_is_named_to_all) {
  tcp_meeting meeting;
  const auto results = open_members(meeting, {member_of(0, 3), member_of(1, 3), member_of(1, 3)});
  EXPECT_TRUE(contains(results[0].error, "two processes are locality 1: process")) << results[0].error;
  const std::string errors = results[1].error + results[2].error;
  EXPECT_TRUE(contains(errors, "is locality 1 already")) << errors;
  EXPECT_TRUE(contains(errors, "gave up: two processes are locality 1")) << errors;
}

TEST(tcp_start, other_limits_of_messages_are_an_error) {
  tcp_meeting meeting;
  tcp_options larger = meeting.options();
  larger.largest_message *= 2;
  opened_transport first;
  std::jthread opener([&] { first = meeting.open(member_of(0, 2)); });
  EXPECT_TRUE(contains(error_of(member_of(1, 2), larger), "its messages have up to 1048576 bytes"));
  opener.join();
  EXPECT_TRUE(contains(first.error, "has messages of up to 2097152 bytes, expected 1048576")) << first.error;
}

TEST(tcp_start, one_that_ends_during_the_start_is_named_to_all) {
  tcp_meeting meeting;
  opened_transport first;
  std::jthread opener([&] { first = meeting.open(member_of(0, 4)); });
  std::list<raw_caller> callers;
  for (const locality_number number : {1u, 2u}) {
    callers.emplace_back(meeting.address(), member_of(number, 4), tcp_options().largest_message);
    ASSERT_TRUE(callers.back().greet());
    callers.back().sign();
    ASSERT_EQ(callers.back().send_proof(), tcp::frame_kind::welcome);
  }
  callers.front().channel().close();
  opener.join();
  EXPECT_EQ(first.error, "locality 1 was lost before the job started: the connection was closed");
  tcp::control_channel& witness = callers.back().channel();
  ASSERT_EQ(await_frame(witness), tcp::arrival::frame);
  EXPECT_EQ(witness.kind(), tcp::frame_kind::failure);
  const std::string text(reinterpret_cast<const char*>(witness.body().data()), witness.body().size());
  EXPECT_EQ(text, first.error);
}

}  // namespace trimtab::parcels
