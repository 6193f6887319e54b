// What threads wait for, from the kernel's text, and which idle CPUs that explains.
#include "probes/thread_states.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <numeric>
#include <string>
#include <thread>

#include "probe_fixture.hpp"
#include "trimtab/observe/plain_threads.hpp"

namespace trimtab::observe::testing {
namespace {

std::string call(long number, unsigned long first = 0, unsigned long second = 0) {
  char text[128];
  std::snprintf(text, sizeof text, "%ld 0x%lx 0x%lx 0x0 0x0 0x0 0x0 0x7ffc0 0x7f00\n", number, first, second);
  return text;
}

thread_state state_of(const std::string& text) { return observe::state_of(read_thread_call(text.c_str())); }

TEST(thread_states, come_from_the_call_that_a_thread_waits_in) {
  EXPECT_EQ(state_of("running\n"), thread_state::runs);
  EXPECT_EQ(state_of(call(SYS_sched_yield)), thread_state::runs);
  EXPECT_EQ(state_of(call(SYS_futex)), thread_state::for_threads);
  EXPECT_EQ(state_of("-1 0x7ffc0 0x7f00\n"), thread_state::otherwise) << "in no call: a page";
  EXPECT_EQ(state_of(call(SYS_openat)), thread_state::for_files);
  EXPECT_EQ(state_of(call(SYS_fsync, 3)), thread_state::for_files);
  EXPECT_EQ(state_of(call(SYS_clock_nanosleep)), thread_state::for_time);
  EXPECT_EQ(state_of(call(SYS_ppoll, 0x1000, 1)), thread_state::for_messages);
  EXPECT_EQ(state_of(call(SYS_ppoll, 0, 0)), thread_state::for_time) << "of no descriptor";
  EXPECT_EQ(state_of(call(SYS_pselect6, 0)), thread_state::for_time);
  EXPECT_EQ(state_of(call(SYS_epoll_pwait, 5)), thread_state::for_messages);
  EXPECT_EQ(state_of(call(SYS_recvfrom, 5)), thread_state::for_messages);
  EXPECT_EQ(state_of(call(SYS_wait4)), thread_state::for_programs);
  EXPECT_EQ(state_of(call(SYS_ioctl, 3)), thread_state::otherwise);
  EXPECT_EQ(state_of(""), thread_state::otherwise);
  EXPECT_EQ(state_of("nonsense"), thread_state::otherwise);
}

TEST(thread_states, of_reads_depend_on_what_is_read) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_EQ(state_of(call(SYS_read, static_cast<unsigned long>(ends[0]))), thread_state::for_messages);
  EXPECT_EQ(state_of(call(SYS_pread64, static_cast<unsigned long>(file))), thread_state::for_files);
  for (const int descriptor : {ends[0], ends[1], file}) close(descriptor);
  EXPECT_EQ(state_of(call(SYS_read, 1 << 20)), thread_state::otherwise) << "that is not open";
  EXPECT_EQ(state_of(std::to_string(SYS_read) + "\n"), thread_state::otherwise) << "without arguments";
}

state_counts counts_of(std::initializer_list<std::pair<thread_state, unsigned>> all) {
  state_counts counts{};
  for (const auto& [state, count] : all) counts[static_cast<std::size_t>(state)] = count;
  return counts;
}

double waiting(const idle_cpus& idle, thread_state state) { return idle.waiting[static_cast<std::size_t>(state)]; }

TEST(idle_cpus, are_charged_to_what_the_threads_wait_for) {
  const idle_cpus idle =
      idle_cpus_of(counts_of({{thread_state::runs, 1}, {thread_state::for_threads, 3}, {thread_state::for_files, 1}}), 4);
  EXPECT_DOUBLE_EQ(idle.no_thread, 0);
  EXPECT_DOUBLE_EQ(waiting(idle, thread_state::for_threads), 3 * 0.75);
  EXPECT_DOUBLE_EQ(waiting(idle, thread_state::for_files), 3 * 0.25);
}

TEST(idle_cpus, without_a_thread_are_told_apart) {
  const idle_cpus idle = idle_cpus_of(counts_of({{thread_state::runs, 1}, {thread_state::for_time, 1}}), 4);
  EXPECT_DOUBLE_EQ(idle.no_thread, 2);
  EXPECT_DOUBLE_EQ(waiting(idle, thread_state::for_time), 1);
}

TEST(idle_cpus, none_while_as_many_threads_run) {
  const idle_cpus idle = idle_cpus_of(counts_of({{thread_state::runs, 3}, {thread_state::for_threads, 5}}), 2);
  EXPECT_DOUBLE_EQ(idle.no_thread + std::accumulate(idle.waiting.begin(), idle.waiting.end(), 0.0), 0);
}

TEST(idle_cpus, of_who_waits_for_a_sleeper_are_the_sleepers) {
  const idle_cpus idle = idle_cpus_of(counts_of({{thread_state::for_threads, 3}, {thread_state::for_time, 1}}), 2);
  EXPECT_DOUBLE_EQ(waiting(idle, thread_state::for_time), 2);
  EXPECT_DOUBLE_EQ(waiting(idle, thread_state::for_threads), 0);
}

TEST(idle_cpus, add_up_whatever_the_threads_do) {
  std::uint32_t random = 1;
  const auto next = [&random] { return (random = random * 1664525u + 1013904223u) >> 16; };
  for (int i = 0; i < 2000; ++i) {
    state_counts counts{};
    for (unsigned& count : counts) count = next() % 3;
    const double cpus = 0.5 + next() % 8, running = counts[0];
    const idle_cpus idle = idle_cpus_of(counts, cpus);
    const double all = idle.no_thread + std::accumulate(idle.waiting.begin(), idle.waiting.end(), 0.0);
    EXPECT_NEAR(all, std::max(cpus - running, 0.0), 1e-9);
    EXPECT_DOUBLE_EQ(idle.waiting[0], 0);
  }
}

std::vector<std::uint32_t> known_threads() {
  std::vector<std::uint32_t> all;
  plain_threads::for_each([&all](std::uint32_t tid) { all.push_back(tid); });
  return all;
}

class plain_threads_test : public ::testing::Test {
 protected:
  void SetUp() override { plain_threads::after_fork(); }
  void TearDown() override { plain_threads::after_fork(); }
};

TEST_F(plain_threads_test, are_known_from_begin_to_end) {
  std::thread([] {
    const std::size_t place = plain_threads::begin();
    EXPECT_EQ(known_threads(), std::vector{static_cast<std::uint32_t>(syscall(SYS_gettid))});
    EXPECT_EQ(plain_threads::count(), 1u);
    std::thread([place] { plain_threads::end(place); }).join();
    EXPECT_EQ(plain_threads::count(), 1u) << "another thread has ended";
    plain_threads::end(place);
  }).join();
  EXPECT_TRUE(known_threads().empty());
  EXPECT_EQ(plain_threads::count(), 0u);
  plain_threads::end(plain_threads::max_threads);
}

TEST_F(plain_threads_test, use_places_again_and_more_than_there_are_stay_unknown) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < plain_threads::max_threads; ++i) places.push_back(plain_threads::begin());
  EXPECT_EQ(plain_threads::begin(), plain_threads::max_threads);
  EXPECT_EQ(plain_threads::count(), plain_threads::max_threads);
  plain_threads::end(places[7]);
  EXPECT_EQ(plain_threads::begin(), places[7]);
}

TEST_F(plain_threads_test, come_and_go_on_many_threads_at_once) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([] {
      for (int times = 0; times < 500; ++times) plain_threads::end(plain_threads::begin());
    });
  for (int i = 0; i < 100; ++i) EXPECT_LE(known_threads().size(), 8u);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plain_threads::count(), 0u);
}

}  // namespace
}  // namespace trimtab::observe::testing
