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

bool holds_its_mark(const block& marked) {
  for (std::size_t i = 0; i < marked.bytes; ++i)
    if (marked.memory[i] != marked.mark) return false;
  return true;
}

// Random operations: whatever else happens, each block keeps what was written into it.
bool keeps_what_is_written(unsigned seed, int rounds) {
  std::mt19937 random(seed);
  std::vector<block> live;
  const auto size = [&] { return std::size_t{1} << (random() % 18) | (random() % 64); };
  for (int round = 0; round < rounds; ++round) {
    const unsigned choice = random() % 8;
    const auto mark = static_cast<unsigned char>(random());
    if (choice < 4 || live.empty()) {
      const std::size_t bytes = size(), multiple = std::size_t{16} << (random() % 6);
      void* const memory = choice == 0   ? heap::take_aligned(multiple, bytes)
                           : choice == 1 ? heap::take_zeroed(bytes, 1)
                                         : heap::take(bytes);
      block created{static_cast<unsigned char*>(memory), bytes, 0};
      if (memory == nullptr || reinterpret_cast<std::uintptr_t>(memory) % (choice == 0 ? multiple : 16) != 0) return false;
      if (choice == 1 && !holds_its_mark(created)) return false;
      created.mark = mark;
      std::memset(memory, mark, bytes);
      live.push_back(created);
      continue;
    }
    block& chosen = live[random() % live.size()];
    if (!holds_its_mark(chosen)) return false;
    if (choice == 4) {
      const std::size_t bytes = size();
      chosen.memory = static_cast<unsigned char*>(heap::resize(chosen.memory, bytes));
      chosen.bytes = std::min(chosen.bytes, bytes);
      if (!holds_its_mark(chosen)) return false;
      chosen.bytes = bytes;
      std::memset(chosen.memory, chosen.mark, bytes);
    } else {
      heap::give(chosen.memory);
      chosen = live.back();
      live.pop_back();
    }
  }
  for (const block& live_block : live) {
    if (!holds_its_mark(live_block)) return false;
    heap::give(live_block.memory);
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
  for (void* pointer : all) heap::give(pointer);
}

// The lock may have been held, by a thread that is not there any more.
TEST(own_heap, a_child_of_fork_allocates_while_other_threads_do) {
  std::atomic<bool> is_finished{false};
  std::jthread other([&is_finished] {
    while (!is_finished) heap::give(heap::take(64));
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
  is_finished = true;
}

}  // namespace
