// Threads that share a CPU: which are found, and that one is moved and as free as before.
#include "placement_steering.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace trimtab::session {
namespace {

base::cpu_mask first_cpus(unsigned count) {
  base::cpu_mask cpus;
  cpus.bits[0] = (1ul << count) - 1;
  return cpus;
}

TEST(sharing_threads, are_those_beside_another_while_a_cpu_has_none) {
  const base::cpu_mask four = first_cpus(4);
  EXPECT_EQ(find_sharing({{10, 0}, {11, 1}, {12, 3}}, four, 1).count, 0u);
  sharing_threads sharing = find_sharing({{10, 0}, {11, 1}, {12, 1}}, four, 1);
  EXPECT_EQ(sharing.count, 1u);
  EXPECT_EQ(sharing.move, (thread_move{12, 2}));
  sharing = find_sharing({{10, 2}, {11, 2}, {12, 2}, {13, 2}}, four, 1);
  EXPECT_EQ(sharing.count, 3u);
  EXPECT_EQ(sharing.move, (thread_move{13, 0}));
}

TEST(sharing_threads, are_moved_but_for_the_first_of_the_program) {
  const base::cpu_mask two = first_cpus(2);
  EXPECT_EQ(find_sharing({{10, 1}, {11, 1}}, two, 10).move, (thread_move{11, 0}));
  EXPECT_EQ(find_sharing({{11, 1}, {10, 1}}, two, 10).move, (thread_move{11, 0}));
}

TEST(sharing_threads, are_left_where_no_cpu_is_without) {
  EXPECT_EQ(find_sharing({{10, 0}, {11, 0}, {12, 1}}, first_cpus(2), 1).count, 0u);
  EXPECT_EQ(find_sharing({{10, 0}, {11, 0}}, first_cpus(1), 1).count, 0u);
  EXPECT_EQ(find_sharing({}, first_cpus(2), 1).count, 0u);
}

class moves : public ::testing::Test {
 protected:
  void SetUp() override {
    if (all.count() < 2) GTEST_SKIP() << "one CPU";
    m_thread = std::thread([this] {
      tid = gettid();
      while (!is_over) {
        const auto now = static_cast<unsigned>(sched_getcpu());
        if (now == wanted) was_there = true;
      }
    });
    while (tid == 0) sched_yield();
  }
  void TearDown() override {
    is_over = true;
    if (m_thread.joinable()) m_thread.join();
  }
  base::cpu_mask cpus_of_it() const {
    base::cpu_mask current_cpus;
    EXPECT_EQ(sched_getaffinity(tid, sizeof current_cpus.bits, reinterpret_cast<cpu_set_t*>(current_cpus.bits)), 0);
    return current_cpus;
  }
  static std::vector<unsigned> numbers(const base::cpu_mask& cpus) {
    std::vector<unsigned> list;
    for (unsigned cpu = 0; cpu < base::cpu_mask::most; ++cpu)
      if (cpus.has(cpu)) list.push_back(cpu);
    return list;
  }

  const base::cpu_mask all = base::allowed_cpus();
  std::atomic<pid_t> tid{0};
  std::atomic<unsigned> wanted{~0u};
  std::atomic<bool> was_there{false}, is_over{false};

 private:
  std::thread m_thread;
};

TEST_F(moves, a_thread_goes_there_and_stays_as_free_as_it_was) {
  for (const unsigned cpu : numbers(all)) {
    wanted = cpu;
    was_there = false;
    // It may be taken away again before it has run there.
    for (int i = 0; i < 100'000 && !was_there; ++i) {
      ASSERT_TRUE(move_thread({static_cast<std::uint32_t>(tid), cpu}, all));
      sched_yield();
    }
    EXPECT_TRUE(was_there);
    EXPECT_EQ(numbers(cpus_of_it()), numbers(all));
  }
}

TEST_F(moves, who_was_bound_stays) {
  base::cpu_mask one_cpu;
  const unsigned first = numbers(all).front();
  one_cpu.bits[first / 64] = 1ul << (first % 64);
  ASSERT_EQ(sched_setaffinity(tid, sizeof one_cpu.bits, reinterpret_cast<cpu_set_t*>(one_cpu.bits)), 0);
  EXPECT_FALSE(move_thread({static_cast<std::uint32_t>(tid), numbers(all).back()}, all));
  EXPECT_EQ(numbers(cpus_of_it()), numbers(one_cpu));
}

}  // namespace
}  // namespace trimtab::session
