// The contract of members in processes of their own, which may be killed or stopped at any instant.
#include <algorithm>
#include <deque>

#include "test_process.hpp"
#include "transport_contract.hpp"
#include "transport_helpers.hpp"

namespace trimtab::parcels {
namespace {

constexpr std::uint64_t process_seed = 31337;
constexpr std::size_t process_largest = 4000;

// A member that sends to all others as much as there is room for, until it is told to stop.
class streaming_member {
 public:
  streaming_member(meeting_point& meeting, locality_number number, std::uint32_t size) {
    opened_transport opened = meeting.open({number, size, "secret"});
    EXPECT_EQ(opened.error, "");
    if (!opened.link) return;
    m_link = std::move(opened.link);
    m_sink.emplace_back(*m_link, process_seed, process_largest);
    m_sent.resize(size);
  }

  bool is_open() const { return m_link != nullptr; }
  transport& link() { return *m_link; }
  checking_sink& sink() { return m_sink.front(); }

  // Sends and receives until `is_done`.
  template <class predicate>
  void stream_until(const predicate& is_done) {
    const test_deadline deadline;
    while (!is_done() && !deadline.is_over()) {
      const bool has_sent = send_one_to_all();
      if (m_link->receive(sink(), 16) == 0 && !has_sent && !is_done()) m_link->wait(long_enough_ns);
    }
    EXPECT_FALSE(deadline.is_over()) << "locality " << m_link->number();
  }

 private:
  bool send_one_to_all() {
    bool has_sent = false;
    for (locality_number to = 0; to < m_link->size(); ++to) {
      if (to == m_link->number()) continue;
      const message_pattern pattern(process_seed, m_link->number(), to, process_largest);
      const bool is_sent = m_link->try_send(to, pattern.fill(m_sent[to], m_room)) == send_status::sent;
      m_sent[to] += is_sent;
      has_sent = has_sent || is_sent;
    }
    return has_sent;
  }

  std::unique_ptr<transport> m_link;
  std::deque<checking_sink> m_sink;  // one
  std::vector<std::uint64_t> m_sent;
  std::vector<std::byte> m_room;
};

// ThreadSanitizer supports no threads in a process that was forked by one with threads, which earlier tests may have left;
// and it sees no races between processes.
#if defined(__SANITIZE_THREAD__)
constexpr bool are_forks_supported = false;
#else
constexpr bool are_forks_supported = true;
#endif
bool may_fork(const transport_kind& kind) { return are_forks_supported && kind.can_fork; }

void stream_until_locality_0_leaves(meeting_point& meeting, locality_number number, std::uint32_t size) {
  streaming_member self(meeting, number, size);
  if (!self.is_open()) return;
  self.stream_until([&] { return self.sink().from(0).left + self.sink().from(0).lost > 0; });
  self.sink().expect_right();
  EXPECT_EQ(self.sink().from(0).left, 1u);
  EXPECT_TRUE(self.link().leave(long_enough_ns));
}

}  // namespace

TEST_P(transport_contract, members_in_processes_send_to_each_other) {
  if (!may_fork(GetParam())) GTEST_SKIP();
  const std::uint32_t size = std::min(3u, GetParam().most_members);
  const auto meeting = GetParam().new_meeting(size);
  std::deque<test_process> others;
  for (locality_number number = 1; number < size; ++number)
    others.emplace_back([&, number] { stream_until_locality_0_leaves(*meeting, number, size); });
  streaming_member self(*meeting, 0, size);
  ASSERT_TRUE(self.is_open());
  for (locality_number number = 1; number < size; ++number) {
    EXPECT_EQ(self.link().process_of(number), others[number - 1].id());
    self.stream_until([&] { return self.sink().from(number).messages > 5'000 / test_slowness; });
  }
  EXPECT_TRUE(self.link().leave(long_enough_ns));
  for (test_process& other : others) other.expect_success();
  self.sink().expect_right();
}

TEST_P(transport_contract, a_killed_member_is_lost_and_the_others_go_on) {
  if (!may_fork(GetParam()) || GetParam().most_members < 3) GTEST_SKIP();
  test_random random(process_seed);
  for (std::uint64_t round = 0; round < 40 / test_slowness; ++round) {
    const auto meeting = GetParam().new_meeting(3);
    test_process witness([&] {
      streaming_member self(*meeting, 1, 3);
      if (!self.is_open()) return;
      self.stream_until([&] { return self.sink().from(0).left == 1 && self.sink().from(2).lost == 1; });
      self.sink().expect_right();
      EXPECT_TRUE(self.link().leave(long_enough_ns));
    });
    test_process victim([&] { stream_until_locality_0_leaves(*meeting, 2, 3); });
    streaming_member self(*meeting, 0, 3);
    ASSERT_TRUE(self.is_open());
    const std::uint64_t last = round % 4 == 0 ? 0 : random.below(3000);
    self.stream_until([&] { return self.sink().from(2).messages >= last; });
    victim.send(SIGKILL);
    self.stream_until([&] { return self.sink().from(2).lost == 1; });
    EXPECT_NE(self.sink().from(2).reason, "");
    self.stream_until([&, before = self.sink().from(1).messages] { return self.sink().from(1).messages > before + 100; });
    EXPECT_EQ(self.link().try_send(2, bytes_view(reinterpret_cast<const std::byte*>("12345678"), 8)), send_status::gone);
    EXPECT_TRUE(self.link().leave(long_enough_ns));
    witness.expect_success();
    self.sink().expect_right();
  }
}

TEST_P(transport_contract, a_killed_member_ends_the_wait_of_an_idle_one) {
  if (!may_fork(GetParam())) GTEST_SKIP();
  for (int round = 0; round < 5; ++round) {
    const auto meeting = GetParam().new_meeting(2);
    test_process victim([&] { stream_until_locality_0_leaves(*meeting, 1, 2); });
    streaming_member self(*meeting, 0, 2);
    ASSERT_TRUE(self.is_open());
    victim.send(SIGKILL);
    EXPECT_TRUE(receive_until(self.link(), self.sink(), [&] { return self.sink().from(1).lost == 1; }));
    self.sink().expect_right();
  }
}

TEST_P(transport_contract, a_stopped_member_does_not_stop_the_others) {
  if (!may_fork(GetParam()) || GetParam().most_members < 3) GTEST_SKIP();
  const auto meeting = GetParam().new_meeting(3);
  test_process other([&] { stream_until_locality_0_leaves(*meeting, 1, 3); });
  test_process stopped([&] { stream_until_locality_0_leaves(*meeting, 2, 3); });
  streaming_member self(*meeting, 0, 3);
  ASSERT_TRUE(self.is_open());
  self.stream_until([&] { return self.sink().from(2).messages > 100; });
  stopped.send(SIGSTOP);
  self.stream_until(
      [&, before = self.sink().from(1).messages] { return self.sink().from(1).messages > before + 20'000 / test_slowness; });
  EXPECT_EQ(self.sink().from(2).left + self.sink().from(2).lost, 0u) << "it is there";
  stopped.send(SIGCONT);
  self.stream_until([&, before = self.sink().from(2).messages] { return self.sink().from(2).messages > before + 1000; });
  EXPECT_TRUE(self.link().leave(long_enough_ns));
  other.expect_success();
  stopped.expect_success();
  self.sink().expect_right();
}

}  // namespace trimtab::parcels
