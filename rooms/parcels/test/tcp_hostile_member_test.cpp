// A member that has come in properly and then sends what no member sends: the others lose it, and nothing else.
#include <thread>

#include "tcp_raw_member.hpp"

namespace trimtab::parcels {

struct hostile_case {
  const char* name;
  std::vector<std::uint32_t> words;
  const char* reason;
};

// Instead of its bytes, which contain addresses.
inline void PrintTo(const hostile_case& sent, std::ostream* stream) { *stream << sent.name; }

class tcp_hostile_member : public ::testing::TestWithParam<hostile_case> {};

namespace {

constexpr std::uint64_t hostile_seed = 99;

constexpr auto message_kind = static_cast<std::uint32_t>(tcp::frame_kind::message);
constexpr auto leaving_kind = static_cast<std::uint32_t>(tcp::frame_kind::leaving);
constexpr auto hello_kind = static_cast<std::uint32_t>(tcp::frame_kind::hello);

const hostile_case hostile_cases[] = {
    {"no_bytes", {0, message_kind}, "it sent a message of 0 bytes, expected 1 to 1048576"},
    {"too_many_bytes", {1'048'577, message_kind}, "it sent a message of 1048577 bytes, expected 1 to 1048576"},
    {"all_bits", {~0u, ~0u}, "it sent a frame of the unknown kind 0xffffffff"},
    {"second_start", {0, hello_kind}, "it sent a frame of the unknown kind 0x54540003"},
    {"leaving_with_body", {4, leaving_kind, 1, 0}, "it sent a frame of its leaving of 4 bytes, expected 0 to 0"},
    {"wrong_padding", {4, message_kind, 1, 1}, "it sent a message of 4 bytes with other bytes than zeros behind it"},
    {"half_a_header", {4}, "its connection was closed within a message"},
    {"half_a_message", {8, message_kind, 1}, "its connection was closed within a message"},
    {"nothing", {}, "its connection was closed"},
};

std::string hostile_name(const ::testing::TestParamInfo<hostile_case>& parameter) { return parameter.param.name; }

// Comes in as a member does, sends one message to each, then the words, and closes.
void misbehave(const tcp_meeting& meeting, const std::vector<std::uint32_t>& words) {
  const membership self{2, 3, "a secret", long_enough_ns};
  tcp::bootstrap start(self, meeting.options(), tcp::descriptor());
  ASSERT_EQ(start.run(), "");
  for (locality_number number = 0; number < 2; ++number) {
    const message_pattern pattern(hostile_seed, 2, number, 50);
    std::vector<std::byte> room;
    tcp::control_channel& channel = start.members()[number].channel;
    channel.send(tcp::frame_kind::message, pattern.fill(0, room));
    ASSERT_FALSE(channel.has_unsent());
    send_text(channel.release(), {reinterpret_cast<const char*>(words.data()), 4 * words.size()});
  }
}

void expect_exchange(transport& link, transport& other) {
  checking_sink sender_sink(link, hostile_seed, 50), sink(other, hostile_seed, 50);
  const message_pattern pattern(hostile_seed, link.number(), other.number(), 50);
  std::vector<std::byte> room;
  for (std::uint64_t index = 0; index < 100; ++index)
    ASSERT_TRUE(send_surely(link, sender_sink, other.number(), pattern.fill(index, room)));
  ASSERT_TRUE(receive_until(other, sink, [&] { return sink.messages() == 100; }));
  sink.expect_right();
}

}  // namespace

TEST_P(tcp_hostile_member, is_lost_and_nobody_else) {
  tcp_meeting meeting;
  std::vector<opened_transport> results(2);
  {
    std::vector<std::jthread> threads;
    for (locality_number number = 0; number < 2; ++number)
      threads.emplace_back([&, number] { results[number] = meeting.open({number, 3, "a secret", long_enough_ns}); });
    threads.emplace_back([&] { misbehave(meeting, GetParam().words); });
  }
  for (const opened_transport& result : results) ASSERT_EQ(result.error, "");
  for (const opened_transport& result : results) {
    checking_sink sink(*result.link, hostile_seed, 50);
    ASSERT_TRUE(receive_until(*result.link, sink, [&] { return sink.from(2).lost == 1; }));
    EXPECT_EQ(sink.from(2).messages, 1u);
    EXPECT_EQ(sink.from(2).reason, GetParam().reason);
    sink.expect_right();
    EXPECT_EQ(result.link->try_send(2, bytes_view(reinterpret_cast<const std::byte*>("12345678"), 8)), send_status::gone);
  }
  expect_exchange(*results[0].link, *results[1].link);
  expect_exchange(*results[1].link, *results[0].link);
  for (const opened_transport& result : results) EXPECT_TRUE(result.link->leave(long_enough_ns));
}

INSTANTIATE_TEST_SUITE_P(tcp, tcp_hostile_member, ::testing::ValuesIn(hostile_cases), hostile_name);

}  // namespace trimtab::parcels
