#include "trimtab/parcels/transport/shm_transport.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>

#include <atomic>
#include <string>
#include <thread>

#include "faulty_transport.hpp"
#include "shm_meeting.hpp"
#include "test_process.hpp"
#include "transport/segment_layout.hpp"

namespace trimtab::parcels {

INSTANTIATE_TEST_SUITE_P(shm, transport_contract,
                         ::testing::Values(shm_kind("usual", std::size_t{1} << 20), shm_kind("small_rings", smallest_ring),
                                           with_faults(shm_kind("usual", std::size_t{1} << 20), {})),
                         kind_name);

namespace {

constexpr std::uint64_t little_patience_ns = 50'000'000;

using shm_links = std::vector<std::unique_ptr<transport>>;

shm_links open_shm_job(shm_meeting& meeting, std::uint32_t size) {
  shm_links links(size);
  std::vector<std::jthread> threads;
  for (locality_number number = 0; number < size; ++number)
    threads.emplace_back([&, number] {
      opened_transport opened = meeting.open({number, size, "secret"});
      EXPECT_EQ(opened.error, "");
      links[number] = std::move(opened.link);
    });
  return links;
}

std::string error_of(meeting_point& meeting, const membership& self) { return meeting.open(self).error; }

// What a member says of a file with these bytes.
std::string error_with_content(const void* bytes, std::size_t size) {
  shm_meeting meeting(smallest_ring);
  EXPECT_EQ(pwrite(meeting.file(), bytes, size, 0), static_cast<ssize_t>(size));
  return error_of(meeting, {0, 1, "secret"});
}

struct ends_and_bytes : message_sink {
  void on_message(locality_number, bytes_view bytes) noexcept override {
    for (const std::byte byte : bytes) sum += static_cast<unsigned char>(byte);
    ++messages;
  }
  void on_left(locality_number) noexcept override { ++left; }
  void on_lost(locality_number, std::string_view why) noexcept override {
    ++lost;
    reason = why;
  }
  std::uint64_t sum = 0, messages = 0, left = 0, lost = 0;
  std::string reason = {};
};

}  // namespace

TEST(shm_transport, a_number_that_is_taken_is_an_error) {
  shm_meeting meeting(smallest_ring);
  const shm_links links = open_shm_job(meeting, 2);
  const std::string error = error_of(meeting, {1, 2, "secret"});
  EXPECT_NE(error.find("locality 1 is there already (process " + std::to_string(getpid()) + ")"), std::string::npos)
      << error;
}

TEST(shm_transport, wrong_options_are_errors) {
  shm_meeting too_small(smallest_ring / 2), no_power(smallest_ring * 3), good(smallest_ring);
  EXPECT_NE(error_of(too_small, {0, 1}).find("power of two"), std::string::npos);
  EXPECT_NE(error_of(no_power, {0, 1}).find("power of two"), std::string::npos);
  EXPECT_NE(error_of(good, {3, 3}).find("locality 3 cannot be in a job of size 3"), std::string::npos);
  const std::string missing = open_shm({0, 1}, {"/proc/self/fd/none", smallest_ring}).error;
  EXPECT_EQ(missing.find("/proc/self/fd/none: cannot open it: "), 0u) << missing;
}

TEST(shm_transport, a_foreign_or_damaged_file_is_an_error) {
  const std::string text(5000, 'x');
  EXPECT_NE(error_with_content(text.data(), text.size()).find("is not a file of shared-memory messages"), std::string::npos);
  struct {
    std::uint64_t magic = segment_magic;
    std::uint32_t version = segment_version + 1, size = 1;
    std::uint64_t rest[20] = {};
  } header;
  const std::string version = error_with_content(&header, sizeof header);
  EXPECT_NE(version.find("has version 2, expected 1"), std::string::npos) << version;

  shm_meeting meeting(smallest_ring);
  open_shm_job(meeting, 1);
  ASSERT_EQ(ftruncate(meeting.file(), 10'000), 0);
  const std::string shorter = error_of(meeting, {0, 1, "secret"});
  EXPECT_NE(shorter.find("has 10000 bytes, expected "), std::string::npos) << shorter;
}

TEST(shm_transport, whoever_is_killed_while_it_makes_the_file_hinders_nobody) {
  shm_meeting meeting(smallest_ring);
  // It has the lock, and has written all but the magic number.
  int ready[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  {
    const test_process maker([&] {
      const int file = open(meeting.path().c_str(), O_RDWR | O_CLOEXEC);
      flock(file, LOCK_EX);
      const std::string half(4000, 'y');
      if (ftruncate(file, 4000) != 0 || pwrite(file, half.data() + 8, half.size() - 8, 8) < 0 ||
          write(ready[1], "x", 1) != 1)
        _exit(1);
      while (true) pause();
    });
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    const std::string locked = error_of(meeting, {0, 2, "secret", little_patience_ns});
    EXPECT_NE(locked.find("another process has held its lock for 0.0 s"), std::string::npos) << locked;
  }
  close(ready[0]);
  close(ready[1]);
  const shm_links links = open_shm_job(meeting, 2);
  EXPECT_TRUE(links[0] && links[1]);
}

TEST(shm_transport, more_members_than_bits_have_no_message_lost_while_rings_cool) {
  constexpr std::uint32_t size = 70;
  shm_meeting meeting(smallest_ring);
  const shm_links links = open_shm_job(meeting, size);
  ASSERT_TRUE(links.back());
  checking_sink sink(*links[0], 9, 64);
  std::vector<std::byte> room;
  std::uint64_t sent[size] = {}, total = 0;
  test_random random(9);
  for (int round = 0; round < 3000; ++round) {
    // Rarely all of them, so that most rings cool and become hot again.
    const std::uint64_t senders = round % 500 == 0 ? size - 1 : random.below(3);
    for (std::uint64_t sender = 0; sender < senders; ++sender) {
      const auto from = static_cast<locality_number>(senders < size - 1 ? 1 + random.below(size - 1) : sender + 1);
      const message_pattern pattern(9, from, 0, 64);
      ASSERT_EQ(links[from]->try_send(0, pattern.fill(sent[from]++, room)), send_status::sent);
      ++total;
    }
    for (std::uint64_t looks = random.below(2000); looks > 0; --looks) links[0]->receive(sink, 1 + random.below(10));
    ASSERT_TRUE(receive_until(*links[0], sink, [&] { return sink.messages() == total; }));
  }
  sink.expect_right();
}

TEST(shm_transport, a_message_that_comes_while_its_ring_cools_is_received) {
  constexpr std::uint32_t size = 8;
  const std::uint64_t rounds = 1000 / test_slowness;
  shm_meeting meeting(smallest_ring);
  const shm_links links = open_shm_job(meeting, size);
  ASSERT_TRUE(links.back());
  checking_sink sink(*links[0], 9, 64);
  std::atomic<std::uint64_t> received{0};
  // The rings are idle but for one message at a time, so they cool again and again.
  std::jthread sender([&] {
    test_random random(9);
    std::vector<std::byte> room;
    std::uint64_t sent[size] = {};
    const test_deadline deadline;
    for (std::uint64_t round = 0; round < rounds && !deadline.is_over(); ++round) {
      for (std::uint64_t spin = random.below(200'000); spin > 0; --spin) std::atomic_signal_fence(std::memory_order_seq_cst);
      const auto from = static_cast<locality_number>(1 + random.below(size - 1));
      EXPECT_EQ(links[from]->try_send(0, message_pattern(9, from, 0, 64).fill(sent[from]++, room)), send_status::sent);
      while (received <= round && !deadline.is_over()) continue;
    }
  });
  const test_deadline deadline;
  while (received < rounds && !deadline.is_over()) received += links[0]->receive(sink, 10);
  EXPECT_EQ(received, rounds);
  sink.expect_right();
}

TEST(shm_transport, a_member_with_damaged_messages_is_lost) {
  shm_meeting meeting(smallest_ring);
  const shm_links links = open_shm_job(meeting, 2);
  const std::uint64_t nonsense = smallest_ring;
  ASSERT_EQ(pwrite(meeting.file(), &nonsense, 8, static_cast<off_t>(segment_layout(2, smallest_ring).data(1, 0))), 8);
  const std::byte bytes[8] = {};
  links[1]->wake();
  ends_and_bytes sink;
  // Its sender says that there is something, and cannot repair the word.
  member_attention attention = {};
  attention.ready = 2;
  ASSERT_EQ(pwrite(meeting.file(), static_cast<const void*>(&attention), 8,
                   static_cast<off_t>(segment_layout(2, smallest_ring).attention(0))),
            8);
  for (int look = 0; look < 10; ++look) EXPECT_EQ(links[0]->receive(sink, 10), 0u);
  EXPECT_EQ(sink.lost, 1u);
  EXPECT_EQ(sink.reason, "its messages in shared memory are damaged");
  EXPECT_EQ(links[0]->try_send(1, bytes_view(bytes)), send_status::gone);
}

TEST(shm_transport, survives_whatever_is_written_into_the_segment) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    shm_meeting meeting(smallest_ring);
    const shm_links links = open_shm_job(meeting, 3);
    const segment_layout layout(3, smallest_ring);
    test_random random(seed);
    ends_and_bytes sink;
    std::vector<std::byte> bytes(links[0]->largest_message());
    for (int step = 0; step < 200; ++step) {
      const auto from = static_cast<locality_number>(random.below(3)), to = static_cast<locality_number>(random.below(3));
      const std::size_t places[] = {layout.slot(from) + random.below(3) * 4, layout.attention(from) + random.below(4) * 4,
                                    layout.control(from, to) + random.below(2) * 8,
                                    layout.data(from, to) + random.below(200) * 8};
      const std::uint64_t values[] = {0, ~std::uint64_t{0}, random.below(5000), random.next()};
      ASSERT_GT(pwrite(meeting.file(), &values[random.below(4)], 4 + 4 * random.below(2),
                       static_cast<off_t>(places[random.below(4)])),
                0);
      for (const auto& link : links) {
        link->try_send((link->number() + 1) % 3, bytes_view(bytes).first(1 + random.below(bytes.size())));
        link->receive(sink, 5);
        if (step % 10 == 0) link->wait(100);
      }
    }
    EXPECT_LE(sink.left + sink.lost, 6u) << "each end once";
  }
}

namespace {
std::atomic<transport*> woken_by_signal{nullptr};
}

TEST(shm_transport, a_signal_handler_may_wake) {
  shm_meeting meeting(smallest_ring);
  const shm_links links = open_shm_job(meeting, 1);
  woken_by_signal = links[0].get();
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) { woken_by_signal.load()->wake(); };
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  std::atomic<bool> has_returned{false};
  std::jthread waiter([&] {
    links[0]->wait(long_enough_ns);
    has_returned = true;
  });
  const test_deadline deadline;
  while (!has_returned && !deadline.is_over()) {
    kill(getpid(), SIGUSR1);
    std::this_thread::yield();
  }
  EXPECT_TRUE(has_returned);
  waiter.join();
  sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace trimtab::parcels
