// Those who do not belong to the job can neither come in nor keep it from starting.
#include <atomic>
#include <thread>

#include "tcp_raw_member.hpp"
#include "transport/tcp_call.hpp"

namespace trimtab::parcels {
namespace {

constexpr const char* http_request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

// Less than a guest gets to prove itself: so no stranger may be waited for.
constexpr std::uint64_t start_patience_ns = 4'000'000'000;

std::vector<opened_transport> start_three(meeting_point& meeting) {
  std::vector<opened_transport> results(3);
  std::vector<std::jthread> threads;
  for (locality_number number = 0; number < 3; ++number)
    threads.emplace_back([&, number] { results[number] = meeting.open({number, 3, "a secret", start_patience_ns}); });
  threads.clear();
  for (const opened_transport& result : results) EXPECT_EQ(result.error, "");
  return results;
}

const std::size_t usual_largest = tcp_options().largest_message;

// Opens locality 0 of a job of two beside the test, which plays the other.
class started_job {
 public:
  started_job() : m_thread([this] { m_result = meeting.open({0, 2, "a secret", long_enough_ns}); }) {}
  // Ends its start, and says how.
  std::string finish() {
    const opened_transport other = meeting.open({1, 2, "a secret", long_enough_ns});
    EXPECT_EQ(other.error, "");
    m_thread.join();
    return m_result.error;
  }

  tcp_meeting meeting;

 private:
  opened_transport m_result;
  std::jthread m_thread;
};

}  // namespace

TEST(tcp_strangers, silent_ones_do_not_delay_the_start) {
  tcp_meeting meeting;
  std::vector<tcp::descriptor> strangers;
  for (std::size_t i = 0; i < 3 * tcp::reception::most_guests; ++i) strangers.push_back(connect_to(meeting.address()));
  start_three(meeting);
}

TEST(tcp_strangers, garbage_does_not_delay_the_start) {
  tcp_meeting meeting;
  test_random random(11);
  std::vector<tcp::descriptor> strangers;
  const tcp::frame_header hello{sizeof(tcp::hello_body), tcp::frame_kind::hello};
  const tcp::frame_header huge{~0u, tcp::frame_kind::hello};
  for (std::size_t i = 0; i < 2 * tcp::reception::most_guests; ++i) {
    strangers.push_back(connect_to(meeting.address()));
    std::string text(1 + random.below(300), ' ');
    for (char& character : text) character = static_cast<char>(random.next());
    if (i % 4 == 1) text = http_request;
    if (i % 4 == 2) text.assign(reinterpret_cast<const char*>(&hello), sizeof hello);  // and nothing more
    if (i % 4 == 3) text.assign(reinterpret_cast<const char*>(&huge), sizeof huge);
    send_text(strangers.back(), text);
  }
  start_three(meeting);
}

TEST(tcp_strangers, a_flood_does_not_delay_the_start) {
  tcp_meeting meeting;
  std::atomic<bool> has_started{false};
  std::jthread flood([&] {
    std::vector<tcp::descriptor> strangers(300);
    for (std::size_t i = 0; !has_started; ++i) {
      strangers[i % strangers.size()] = tcp::start_connecting(meeting.address());
      if (i % 3 == 0) (void)send(strangers[i % strangers.size()].get(), http_request, 10, MSG_NOSIGNAL);
    }
  });
  start_three(meeting);
  has_started = true;
}

TEST(tcp_strangers, one_with_another_secret_is_told_so_and_the_job_starts) {
  started_job job;
  const opened_transport stranger = job.meeting.open({1, 2, "another secret", long_enough_ns});
  EXPECT_EQ(stranger.error, "locality 0 at " + job.meeting.address().text() +
                                " turned this process away: this process has another secret of the job");
  EXPECT_EQ(job.finish(), "");
}

TEST(tcp_strangers, an_answer_cannot_be_replayed) {
  started_job job;
  raw_caller victim(job.meeting.address(), {1, 2, "a secret"}, usual_largest);
  ASSERT_TRUE(victim.greet());
  victim.sign();  // and somebody sees it before it is sent
  raw_caller thief(job.meeting.address(), {1, 2, "not known"}, usual_largest);
  thief.nonces = victim.nonces;
  ASSERT_TRUE(thief.greet());
  thief.proof = victim.proof;
  ASSERT_EQ(thief.send_proof(), tcp::frame_kind::refusal);
  EXPECT_EQ(thief.reason(), tcp::refusal_reason::secret);
  victim.channel().close();
  EXPECT_EQ(job.finish(), "");
}

TEST(tcp_strangers, what_is_said_cannot_be_changed) {
  started_job job;
  raw_caller caller(job.meeting.address(), {1, 2, "a secret"}, usual_largest);
  ASSERT_TRUE(caller.greet());
  caller.sign();
  caller.proof.claim.port ^= 1;
  ASSERT_EQ(caller.send_proof(), tcp::frame_kind::refusal);
  EXPECT_EQ(caller.reason(), tcp::refusal_reason::secret);
  EXPECT_EQ(job.finish(), "");
}

TEST(tcp_strangers, no_byte_of_what_is_authenticated_can_be_changed) {
  const tcp::siphash_key key = tcp::derive_key("a secret");
  const tcp::drawn_nonces nonces{};
  const tcp::member_claim claim{};
  const auto code = tcp::caller_code(key, nonces, claim);
  EXPECT_NE(code, tcp::acceptor_code(key, nonces, claim)) << "or one could be sent back to who made it";
  EXPECT_NE(code, tcp::caller_code(tcp::derive_key("a secres"), nonces, claim));
  for (std::size_t i = 0; i < sizeof claim; ++i) {
    tcp::member_claim changed = claim;
    reinterpret_cast<std::byte*>(&changed)[i] ^= std::byte{1};
    EXPECT_NE(code, tcp::caller_code(key, nonces, changed)) << "byte " << i;
  }
  for (std::size_t i = 0; i < sizeof nonces; ++i) {
    tcp::drawn_nonces changed = nonces;
    reinterpret_cast<std::byte*>(&changed)[i] ^= std::byte{1};
    EXPECT_NE(code, tcp::caller_code(key, changed, claim)) << "byte " << i;
  }
}

// Somebody else has the meeting address, does not know the secret, and sends the caller's own code back.
TEST(tcp_strangers, a_member_does_not_trust_whoever_answers) {
  tcp::opened_listener opened = tcp::listen_at(tcp::parse_address("127.0.0.1", 0));
  const tcp::identity self = tcp::describe_self({1, 2, "a secret"}, usual_largest);
  tcp::call caller({0, tcp::purpose::join, tcp::local_address(opened.socket.get())}, ~std::uint64_t{0});
  tcp::control_channel impostor;
  std::uint64_t now_ns = 0;  // the call's clock: it must not call again
  const auto advance_until = [&](tcp::call_state state) {
    for (const test_deadline deadline; caller.advance(self, now_ns) != state && !deadline.is_over();) {
      if (!impostor.is_open()) impostor = tcp::control_channel(tcp::accept_from(opened.socket.get()));
    }
    EXPECT_EQ(caller.state(), state);
  };
  advance_until(tcp::call_state::greeting);
  while (!impostor.is_open()) impostor = tcp::control_channel(tcp::accept_from(opened.socket.get()));
  ASSERT_EQ(await_frame(impostor), tcp::arrival::frame);
  impostor.send(tcp::frame_kind::challenge, tcp::bytes_of(tcp::challenge_body{}));
  advance_until(tcp::call_state::proving);
  ASSERT_EQ(await_frame(impostor), tcp::arrival::frame);
  tcp::proof_body proof;
  ASSERT_TRUE(impostor.get(proof));
  impostor.send(tcp::frame_kind::welcome, tcp::bytes_of(tcp::welcome_body{proof.code}));
  advance_until(tcp::call_state::pausing);
  EXPECT_NE(caller.failure().find("another program answers there"), std::string::npos) << caller.failure();
}

TEST(tcp_strangers, another_version_is_told_so) {
  started_job job;
  tcp::control_channel channel(connect_to(job.meeting.address()));
  channel.send(tcp::frame_kind::hello, tcp::bytes_of(tcp::hello_body{tcp::protocol_version + 1, {}}));
  ASSERT_EQ(await_frame(channel), tcp::arrival::frame);
  tcp::refusal_body refusal;
  ASSERT_TRUE(channel.get(refusal));
  EXPECT_EQ(refusal.reason, tcp::refusal_reason::version);
  EXPECT_EQ(job.finish(), "");
}

}  // namespace trimtab::parcels
