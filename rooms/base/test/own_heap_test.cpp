#include "trimtab/base/own_heap.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace heap = trimtab::base::own_heap;

namespace {

struct block {
  unsigned char* memory;
  std::size_t bytes;
  unsigned char mark;
};

bool holds_its_mark(const block& each) {
  for (std::size_t i = 0; i < each.bytes; ++i)
    if (each.memory[i] != each.mark) return false;
  return true;
}

// Random operations: whatever else happens, each block keeps what was written into it.
bool keeps_what_is_written(unsigned seed, int rounds) {
  std::mt19937 random(seed);
  std::vector<block> live;
  const auto size = [&] { return std::size_t{1} << (random() % 18) | (random() % 64); };
  for (int round = 0; round < rounds; ++round) {
    const unsigned what = random() % 8;
    const auto mark = static_cast<unsigned char>(random());
    if (what < 4 || live.empty()) {
      const std::size_t bytes = size(), multiple = std::size_t{16} << (random() % 6);
      void* const memory = what == 0   ? heap::take_aligned(multiple, bytes)
                           : what == 1 ? heap::take_zeroed(bytes, 1)
                                       : heap::take(bytes);
      block made{static_cast<unsigned char*>(memory), bytes, 0};
      if (memory == nullptr || reinterpret_cast<std::uintptr_t>(memory) % (what == 0 ? multiple : 16) != 0) return false;
      if (what == 1 && !holds_its_mark(made)) return false;
      made.mark = mark;
      std::memset(memory, mark, bytes);
      live.push_back(made);
      continue;
    }
    block& one = live[random() % live.size()];
    if (!holds_its_mark(one)) return false;
    if (what == 4) {
      const std::size_t bytes = size();
      one.memory = static_cast<unsigned char*>(heap::resize(one.memory, bytes));
      one.bytes = std::min(one.bytes, bytes);
      if (!holds_its_mark(one)) return false;
      one.bytes = bytes;
      std::memset(one.memory, one.mark, bytes);
    } else {
      heap::give(one.memory);
      one = live.back();
      live.pop_back();
    }
  }
  for (const block& each : live) {
    if (!holds_its_mark(each)) return false;
    heap::give(each.memory);
  }
  return true;
}

TEST(own_heap, blocks_keep_what_is_written_into_them) {
  for (unsigned seed = 1; seed <= 6; ++seed) EXPECT_TRUE(keeps_what_is_written(seed, 1'000)) << "seed " << seed;
}

TEST(own_heap, threads_do_not_get_in_each_others_way) {
  std::atomic<int> right{0};
  std::vector<std::jthread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed)
    threads.emplace_back([&right, seed] { right += keeps_what_is_written(100 + seed, 1'000); });
  threads.clear();
  EXPECT_EQ(right.load(), 4);
}

TEST(own_heap, memory_that_is_given_back_is_taken_again) {
  void* const first = heap::take(100);
  heap::give(first);
  EXPECT_EQ(heap::take(100), first);
  heap::give(first);
  heap::give(nullptr);
}

TEST(own_heap, what_cannot_be_had_is_no_memory) {
  errno = 0;
  EXPECT_EQ(heap::take(SIZE_MAX - 100), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(heap::take_zeroed(SIZE_MAX / 2, 3), nullptr);
  EXPECT_EQ(heap::take_aligned(64, SIZE_MAX - 10), nullptr);
}

TEST(own_heap, it_is_apart_from_the_programs_heap) {
  std::vector<void*> all;
  all.reserve(1'000);
  const auto before = reinterpret_cast<std::uintptr_t>(sbrk(0));
  for (int i = 0; i < 1'000; ++i) all.push_back(heap::take(300));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(sbrk(0)), before);
  for (void* each : all) heap::give(each);
}

// The lock may have been held, by a thread that is not there any more.
TEST(own_heap, a_child_of_fork_allocates_while_other_threads_do) {
  std::atomic<bool> is_over{false};
  std::jthread other([&is_over] {
    while (!is_over) heap::give(heap::take(64));
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      heap::after_fork();
      _exit(keeps_what_is_written(7, 200) ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  is_over = true;
}

}  // namespace
