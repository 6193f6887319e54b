// Tests within the ranks of an mpirun, where mpi_transport_test.cpp starts them. Anywhere else they are skipped.
//
// The program initializes MPI itself here, so each test opens a transport of its own. mpi_server_starts_mpi is for the other
// case.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <thread>

#include "mpi_helpers.hpp"
#include "transport/mpi_library.hpp"
#include "transport_helpers.hpp"

namespace trimtab::parcels {

namespace {

constexpr std::uint64_t inside_seed = 4711;

// MPI as the program uses it.
class program_mpi : public ::testing::Environment {
 public:
  mpi::library& start(int mpi::interface_table::* level) {
    mpi::loaded_library result = mpi::load_library(wanted_library(), look_around().started_by);
    EXPECT_EQ(result.error, "");
    m_library = result.mpi;
    int provided = 0;
    m_library.call.init_thread(nullptr, nullptr, m_library.table.*level, &provided);
    EXPECT_EQ(provided, m_library.table.*level);
    m_is_started = true;
    return m_library;
  }
  mpi::library& multiple() { return m_is_started ? m_library : start(&mpi::interface_table::thread_multiple); }
  void TearDown() override {
    if (m_is_started) m_library.call.finalize();
  }

 private:
  mpi::library m_library = {};
  bool m_is_started = false;
};

program_mpi& the_program() {
  static auto* const environment =
      static_cast<program_mpi*>(::testing::AddGlobalTestEnvironment(new program_mpi));  // gtest deletes it
  return *environment;
}
[[maybe_unused]] const program_mpi& registered_program = the_program();

mpi_options inside_options() {
  const rank_surroundings around = look_around();
  mpi_options options;
  options.library = wanted_library();
  options.started_by = around.started_by;
  options.started_size = around.size;
  return options;
}

std::unique_ptr<transport> open_inside(const mpi_options& options = inside_options()) {
  opened_transport result = open_mpi(options);
  EXPECT_EQ(result.error, "");
  return std::move(result.link);
}

// Leaves, and goes on until all others have left.
void leave_together(transport& link, checking_sink& sink) {
  EXPECT_TRUE(link.leave(long_enough_ns));
  receive_until(link, sink, [&] {
    std::uint64_t others = 0;
    for (locality_number number = 0; number < link.size(); ++number) others += sink.from(number).left;
    return others == link.size() - 1;
  });
  sink.expect_right();
}

// All send the first messages of the patterns to all others.
void exchange_messages(transport& link, checking_sink& sink, std::uint64_t count, std::size_t largest) {
  std::vector<std::byte> room;
  for (std::uint64_t index = 0; index < count; ++index)
    for (locality_number to = 0; to < link.size(); ++to) {
      if (to == link.number()) continue;
      const message_pattern pattern(inside_seed, link.number(), to, largest);
      ASSERT_TRUE(send_surely(link, sink, to, pattern.fill(index, room)));
    }
  receive_until(link, sink, [&] { return sink.messages() >= count * (link.size() - 1); });
  for (locality_number from = 0; from < link.size(); ++from)
    EXPECT_EQ(sink.from(from).messages, from == link.number() ? 0 : count);
}

struct counting_sink : message_sink {
  std::vector<std::uint64_t> next = std::vector<std::uint64_t>(64);
  std::uint64_t wrong = 0, messages = 0, left = 0;
  bool first_has_left = false;
  void on_message(locality_number from, bytes_view bytes) noexcept override {
    std::uint64_t index = 0;
    std::memcpy(&index, bytes.data(), std::min<std::size_t>(8, bytes.size()));
    wrong += bytes.size() != 8 + index % 16 || index != next[from];
    ++next[from];
    ++messages;
  }
  void on_left(locality_number from) noexcept override {
    ++left;
    first_has_left |= from == 0;
  }
  void on_lost(locality_number, std::string_view) noexcept override { ++wrong; }
};

}  // namespace

class mpi_inside : public ::testing::Test {
 protected:
  void SetUp() override {
    if (look_around().size == 0) GTEST_SKIP() << "mpi_transport_test starts it with mpirun";
    m_mpi = &the_program().multiple();
  }
  // Ranks meet in the program's own messages, past the transport.
  void send_signal(locality_number to) {
    const char byte = 0;
    m_mpi->call.send(&byte, 1, m_mpi->table.byte_type, static_cast<int>(to), 77, m_mpi->table.world);
  }
  void await_signal(locality_number from) {
    char byte;
    m_mpi->call.recv(&byte, 1, m_mpi->table.byte_type, static_cast<int>(from), 77, m_mpi->table.world,
                     reinterpret_cast<void*>(m_mpi->table.status_ignore));
  }
  mpi::library* m_mpi = nullptr;
};

TEST_F(mpi_inside, says_who_its_members_are) {
  const auto link = open_inside();
  ASSERT_TRUE(link);
  EXPECT_EQ(link->size(), look_around().size);
  EXPECT_LT(link->number(), link->size());
  EXPECT_STREQ(link->name(), "MPI");
  EXPECT_EQ(link->process_of(link->number()), getpid());
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  for (locality_number other = 0; other < link->size(); ++other) {
    EXPECT_EQ(link->host_of(other), std::string_view(host).substr(0, 63));
    EXPECT_EQ(link->process_of(other) == getpid(), other == link->number());
  }
  checking_sink sink(*link, inside_seed, 8);
  leave_together(*link, sink);
}

TEST_F(mpi_inside, messages_of_all_sizes_arrive_whole) {
  const auto link = open_inside();
  ASSERT_TRUE(link);
  const std::size_t largest = link->largest_message();
  std::vector<std::size_t> sizes(300);
  std::iota(sizes.begin(), sizes.end(), std::size_t{1});
  for (std::size_t size = 512; size < largest; size *= 2) sizes.insert(sizes.end(), {size - 1, size, size + 1});
  sizes.insert(sizes.end(), {largest - 1, largest, 1, largest});
  struct : message_sink {
    std::vector<std::vector<std::byte>> messages = {};
    void on_message(locality_number, bytes_view bytes) noexcept override {
      messages.emplace_back(bytes.begin(), bytes.end());
    }
    void on_left(locality_number) noexcept override {}
    void on_lost(locality_number, std::string_view) noexcept override {}
  } sink;
  std::vector<std::byte> bytes(largest);
  test_random random(inside_seed);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  if (link->number() == 0)
    for (const std::size_t size : sizes) {
      const bytes_view message = bytes_view(bytes).last(size);
      const bytes_view parts[] = {message.first(size / 3), {}, message.subspan(size / 3)};
      ASSERT_TRUE(send_surely(*link, sink, 1, parts));
    }
  if (link->number() == 1) {
    receive_until(*link, sink, [&] { return sink.messages.size() >= sizes.size(); });
    ASSERT_EQ(sink.messages.size(), sizes.size());
    for (std::size_t place = 0; place < sizes.size(); ++place)
      EXPECT_TRUE(std::ranges::equal(sink.messages[place], bytes_view(bytes).last(sizes[place]))) << sizes[place];
  }
  EXPECT_TRUE(link->leave(long_enough_ns));
}

TEST_F(mpi_inside, keeps_the_order_of_many_small_messages) {
  const auto link = open_inside();
  ASSERT_TRUE(link);
  const std::uint64_t count = 200'000 / test_slowness;
  counting_sink sink;
  std::byte bytes[24] = {};
  for (std::uint64_t index = 0; index < count; ++index) {
    std::memcpy(bytes, &index, sizeof index);
    for (locality_number to = 0; to < link->size(); ++to)
      if (to != link->number() && !send_surely(*link, sink, to, bytes_view(bytes, 8 + index % 16))) return;
  }
  const std::uint64_t expected = count * (link->size() - 1);
  receive_until(*link, sink, [&] { return sink.messages >= expected; }, 1000);
  EXPECT_TRUE(link->leave(long_enough_ns));
  receive_until(*link, sink, [&] { return sink.left == link->size() - 1; });
  EXPECT_EQ(sink.messages, expected);
  EXPECT_EQ(sink.wrong, 0u);
}

TEST_F(mpi_inside, leaving_is_heard_after_the_last_message) {
  const auto link = open_inside();
  ASSERT_TRUE(link);
  constexpr std::uint64_t count = 2000;
  counting_sink sink;
  if (link->number() == 0) {
    std::byte bytes[24] = {};
    for (std::uint64_t index = 0; index < count; ++index) {
      std::memcpy(bytes, &index, sizeof index);
      ASSERT_TRUE(send_surely(*link, sink, 1, bytes_view(bytes, 8 + index % 16)));
    }
    EXPECT_TRUE(link->leave(long_enough_ns));
  } else {
    receive_until(*link, sink, [&] { return sink.first_has_left; }, 1);
    EXPECT_EQ(sink.messages, link->number() == 1 ? count : 0);
    EXPECT_EQ(sink.wrong, 0u);
    EXPECT_TRUE(link->leave(long_enough_ns));
  }
}

TEST_F(mpi_inside, nothing_is_lost_or_doubled) {
  const auto link = open_inside();
  ASSERT_TRUE(link);
  checking_sink sink(*link, inside_seed, link->largest_message());
  exchange_messages(*link, sink, 1'000 / test_slowness, link->largest_message());
  leave_together(*link, sink);
}

TEST_F(mpi_inside, two_transports_know_nothing_of_each_other) {
  const auto one = open_inside(), other = open_inside();
  ASSERT_TRUE(one && other);
  checking_sink sink(*one, inside_seed, 300), other_sink(*other, inside_seed, 100);
  std::jthread second([&] { exchange_messages(*other, other_sink, 500, 100); });
  exchange_messages(*one, sink, 800, 300);
  second.join();
  leave_together(*one, sink);
  leave_together(*other, other_sink);
}

TEST_F(mpi_inside, a_slow_receiver_is_not_flooded) {
  const auto link = open_inside();
  ASSERT_TRUE(link);
  constexpr std::size_t bytes_of_message = 1000, most_bytes = std::size_t{8} << 20;
  struct : message_sink {
    std::uint64_t messages = 0, left = 0;
    void on_message(locality_number, bytes_view) noexcept override { ++messages; }
    void on_left(locality_number) noexcept override { ++left; }
    void on_lost(locality_number, std::string_view) noexcept override {}
  } sink;
  const std::vector<std::byte> bytes(bytes_of_message);
  std::uint64_t sent = 0;
  const auto is_refused = [&] { return link->try_send(1, bytes) == send_status::no_room || (++sent, false); };
  if (link->number() == 0) {
    // As much as everything together can take; a wait that no room has ended means that this is reached.
    for (bool is_full = false; !is_full && sent * bytes_of_message < most_bytes;) {
      while (sent * bytes_of_message < most_bytes && !is_refused()) {
      }
      link->receive(sink, 10);  // that others have left would end the wait
      const std::uint64_t before_ns = base::monotonic_ns();
      link->wait(100'000'000);
      is_full = base::monotonic_ns() - before_ns >= 100'000'000 && is_refused();
    }
    EXPECT_LT(sent * bytes_of_message, most_bytes);
    send_signal(1);
    while (is_refused()) link->wait(100 * long_enough_ns);  // room comes again, and that ends the wait
    send_signal(1);
  }
  if (link->number() == 1) {
    await_signal(0);
    receive_until(*link, sink, [&] { return sink.messages > 1000; });
    await_signal(0);
  }
  EXPECT_TRUE(link->leave(long_enough_ns));
  receive_until(*link, sink, [&] { return sink.left == link->size() - 1; });
  EXPECT_EQ(sink.messages > 1000, link->number() == 1);
}

// Rank 0 leaves although rank 1 has filled it with messages and does not receive either.
TEST_F(mpi_inside, two_that_do_not_receive_can_leave) {
  const auto link = open_inside();
  ASSERT_TRUE(link);
  const std::vector<std::byte> bytes(5000);
  if (link->number() < 2)
    while (link->try_send(1 - link->number(), bytes) == send_status::sent) {
    }
  EXPECT_TRUE(link->leave(long_enough_ns));
}

TEST_F(mpi_inside, who_has_left_takes_no_more) {
  const auto link = open_inside();
  ASSERT_TRUE(link);
  checking_sink sink(*link, inside_seed, 100);
  exchange_messages(*link, sink, 10, 100);
  if (link->number() != 0) {
    EXPECT_TRUE(link->leave(long_enough_ns));
  } else {
    receive_until(*link, sink, [&] { return sink.from(link->size() - 1).left == 1; });
    const std::byte byte{};
    EXPECT_EQ(link->try_send(link->size() - 1, bytes_view(&byte, 1)), send_status::gone);
    leave_together(*link, sink);
  }
}

TEST_F(mpi_inside, who_ends_without_leaving_is_lost) {
  auto link = open_inside();
  ASSERT_TRUE(link);
  checking_sink sink(*link, inside_seed, 100);
  exchange_messages(*link, sink, 10, 100);
  if (link->number() == 1) return link.reset();
  receive_until(*link, sink, [&] { return sink.from(1).lost == 1; });
  EXPECT_EQ(sink.from(1).reason, "it has ended without leaving");
  const std::byte byte{};
  EXPECT_EQ(link->try_send(1, bytes_view(&byte, 1)), send_status::gone);
  EXPECT_TRUE(link->leave(long_enough_ns));
}

TEST_F(mpi_inside, wait_ends_by_messages_and_wake) {
  const auto link = open_inside();
  ASSERT_TRUE(link);
  checking_sink sink(*link, inside_seed, 100);
  link->wake();
  link->wait(100 * long_enough_ns);
  {
    std::jthread waker([&] { link->wake(); });
    link->wait(100 * long_enough_ns);
  }
  exchange_messages(*link, sink, 100, 100);  // receive_until sleeps for a tenth of what it takes to fail
  leave_together(*link, sink);
}

TEST_F(mpi_inside, options_must_be_the_same_everywhere) {
  int rank = 0;
  m_mpi->call.comm_rank(m_mpi->table.world, &rank);
  mpi_options options = inside_options();
  options.largest_message = rank == 2 ? 8192 : 4096;
  const opened_transport result = open_mpi(options);
  EXPECT_FALSE(result.link);
  EXPECT_NE(result.error.find("must be the same everywhere"), std::string::npos) << result.error;
  EXPECT_NE(result.error.find("8192"), std::string::npos) << result.error;
}

TEST_F(mpi_inside, the_launchers_size_is_checked) {
  int rank = 0;
  m_mpi->call.comm_rank(m_mpi->table.world, &rank);
  mpi_options options = inside_options();
  if (rank == 0) ++options.started_size;
  const opened_transport result = open_mpi(options);
  EXPECT_FALSE(result.link);
  const char* const expected = rank == 0 ? "launcher has started" : "locality 0 cannot take part";
  EXPECT_NE(result.error.find(expected), std::string::npos) << result.error;
}

// The server initializes MPI and finalizes it: once in a process.
TEST(mpi_server_starts_mpi, and_finalizes_it) {
  if (look_around().size == 0) GTEST_SKIP() << "mpi_transport_test starts it with mpirun";
  auto link = open_inside();
  ASSERT_TRUE(link);
  {
    checking_sink sink(*link, inside_seed, 5000);
    exchange_messages(*link, sink, 1000, 5000);
    leave_together(*link, sink);
  }
  link.reset();
  const mpi::loaded_library result = mpi::load_library(wanted_library(), look_around().started_by);
  ASSERT_EQ(result.error, "");
  int is_finalized = 0;
  result.mpi.call.finalized(&is_finalized);
  EXPECT_EQ(is_finalized, 1);
  EXPECT_NE(open_mpi(inside_options()).error.find("already called MPI_Finalize"), std::string::npos);
}

TEST(mpi_single_thread_level, is_an_error) {
  if (look_around().size == 0) GTEST_SKIP() << "mpi_transport_test starts it with mpirun";
  the_program().start(&mpi::interface_table::thread_serialized);
  const opened_transport result = open_mpi(inside_options());
  EXPECT_FALSE(result.link);
  EXPECT_NE(result.error.find("call MPI_Init_thread with MPI_THREAD_MULTIPLE"), std::string::npos) << result.error;
}

}  // namespace trimtab::parcels
