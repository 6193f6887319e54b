// Memory for tasks: each block has one owner, also after it has gone from one thread to another by the depot.
#include "trimtab/tasks/core/blocks.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace trimtab::tasks {
namespace {

// Filled by its owner; anyone else who has it too writes something else.
struct owned {
  unsigned char* block;
  std::size_t bytes;
  unsigned char mark;

  static owned allocate_from(block_cache& cache, std::size_t bytes, unsigned char mark) {
    auto* const block = static_cast<unsigned char*>(cache.allocate(bytes));
    std::memset(block, mark, bytes);
    return {block, bytes, mark};
  }
  bool is_whole() const {
    for (std::size_t i = 0; i < bytes; ++i)
      if (block[i] != mark) return false;
    return true;
  }
};

TEST(blocks, a_thread_has_each_block_once) {
  // Several batches, and again after they have been to the depot.
  constexpr std::size_t count = 1000;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{65}, block_cache::largest}) {
    block_cache cache;
    for (int round = 0; round < 3; ++round) {
      std::set<void*> blocks;
      for (std::size_t i = 0; i < count; ++i) {
        void* const block = cache.allocate(bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % block_cache::grain, 0u);
        EXPECT_TRUE(blocks.insert(block).second) << "block " << i << " of " << bytes << " bytes is given out twice";
      }
      for (void* const block : blocks) cache.free(block, bytes);
    }
  }
}

TEST(blocks, what_a_cache_leaves_is_found_by_the_next) {
  // Many times what is handed over at once, and no multiple of it.
  constexpr std::size_t bytes = 300, count = 1000;
  const auto pop_all = [](block_cache& cache) {
    std::vector<void*> blocks(count);
    for (void*& block : blocks) block = cache.allocate(bytes);
    return blocks;
  };
  std::set<void*> first;
  {
    block_cache earlier;
    const std::vector<void*> blocks = pop_all(earlier);
    first.insert(blocks.begin(), blocks.end());
    for (void* const block : blocks) earlier.free(block, bytes);
  }
  block_cache second;
  const std::vector<void*> blocks = pop_all(second);
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), count);
  std::size_t repeated = 0;
  for (void* const block : blocks) repeated += first.count(block);
  // The first has left these, and some that it had not used.
  EXPECT_GE(repeated, count / 2);
  for (void* const block : blocks) second.free(block, bytes);
}

TEST(blocks, go_from_thread_to_thread) {
  std::mutex guard;
  std::vector<owned> on_their_way;
  std::size_t broken = 0;
  const auto work = [&](unsigned number) {
    block_cache cache;
    std::mt19937 random(number);
    std::vector<owned> kept;
    for (int step = 0; step < 20'000; ++step) {
      // In waves, so that whole batches come and go.
      const bool grows = step / 500 % 2 == 0 ? random() % 8 != 0 : random() % 8 == 0;
      if (grows) {
        kept.push_back(owned::allocate_from(cache, 1 + random() % 200, static_cast<unsigned char>(random())));
        continue;
      }
      if (!kept.empty()) std::swap(kept[random() % kept.size()], kept.back());
      const std::lock_guard locked(guard);
      if (!kept.empty() && random() % 2 == 0) {
        on_their_way.push_back(kept.back());
        kept.pop_back();
      }
      std::vector<owned>& source = random() % 2 == 0 && !kept.empty() ? kept : on_their_way;
      if (source.empty()) continue;
      broken += source.back().is_whole() ? 0 : 1;
      cache.free(source.back().block, source.back().bytes);
      source.pop_back();
    }
    const std::lock_guard locked(guard);
    on_their_way.insert(on_their_way.end(), kept.begin(), kept.end());
  };
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 3; ++number) threads.emplace_back(work, number);
  for (std::thread& each : threads) each.join();
  block_cache last;
  for (const owned& element : on_their_way) {
    broken += element.is_whole() ? 0 : 1;
    last.free(element.block, element.bytes);
  }
  EXPECT_EQ(broken, 0u);
}

}  // namespace
}  // namespace trimtab::tasks
