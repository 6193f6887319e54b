// What is TCP's own about messages that go well.
#include <atomic>
#include <thread>

#include "tcp_meeting.hpp"
#include "transport_helpers.hpp"

namespace trimtab::parcels {
namespace {

constexpr std::uint64_t messages_seed = 5;

void open_two(opened_transport& first, opened_transport& second) {
  tcp_meeting meeting;
  std::jthread opener([&] { first = meeting.open({0, 2, "a secret", long_enough_ns}); });
  second = meeting.open({1, 2, "a secret", long_enough_ns});
}

}  // namespace

// More parts than one call of the system takes, and each size of padding.
TEST(tcp_messages, may_have_any_number_of_parts) {
  opened_transport first, second;
  open_two(first, second);
  ASSERT_EQ(first.error + second.error, "");
  checking_sink sender_sink(*first.link, messages_seed, 3000), sink(*second.link, messages_seed, 3000);
  const message_pattern pattern(messages_seed, 0, 1, 3000);
  std::vector<std::byte> room;
  for (std::uint64_t index = 0; index < 300; ++index) {
    const bytes_view bytes = pattern.fill(index, room);
    std::vector<bytes_view> parts;
    for (std::size_t start = 0; start < bytes.size(); start += index + 1)
      parts.push_back(bytes.subspan(start, std::min<std::size_t>(index + 1, bytes.size() - start)));
    ASSERT_TRUE(send_surely(*first.link, sender_sink, 1, parts));
  }
  ASSERT_TRUE(receive_until(*second.link, sink, [&] { return sink.messages() == 300; }));
  sink.expect_right();
}

// The receiving thread meets the room that another thread waits for, and must tell it.
TEST(tcp_messages, room_that_another_thread_meets_ends_a_wait) {
  opened_transport first, second;
  open_two(first, second);
  ASSERT_EQ(first.error + second.error, "");
  const std::vector<std::byte> large(first.link->largest_message());
  const std::uint64_t count = 300 / test_slowness;
  checking_sink sender_sink(*first.link, messages_seed, 8), sink(*second.link, messages_seed, 8);
  std::atomic<bool> has_received_all{false};
  std::jthread receiver([&] {
    receive_until(*second.link, sink, [&] { return sink.messages() == count; });
    has_received_all = true;
  });
  std::jthread meeter([&] {
    while (!has_received_all) {
      first.link->receive(sender_sink, 1);
      std::this_thread::yield();
    }
  });
  const test_deadline deadline;
  for (std::uint64_t index = 0; index < count && !deadline.is_over();)
    if (first.link->try_send(1, bytes_view(large)) == send_status::sent)
      ++index;
    else
      first.link->wait(long_enough_ns);
  EXPECT_FALSE(deadline.is_over()) << "a wait was not ended";
}

TEST(tcp_messages, a_wake_ends_one_wait_and_not_all) {
  opened_transport first, second;
  open_two(first, second);
  ASSERT_EQ(first.error + second.error, "");
  first.link->wake();
  first.link->wait(long_enough_ns);
  constexpr std::uint64_t idle_ns = 200'000'000;
  const std::uint64_t begin_ns = base::monotonic_ns();
  const double begin_s = base::thread_seconds();
  for (std::uint64_t spent = 0; spent < idle_ns; spent = base::monotonic_ns() - begin_ns) first.link->wait(idle_ns - spent);
  EXPECT_LT(base::thread_seconds() - begin_s, 0.1) << "it did not sleep";
}

}  // namespace trimtab::parcels
