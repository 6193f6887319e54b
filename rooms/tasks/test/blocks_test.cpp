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

  static owned make(block_cache& from, std::size_t bytes, unsigned char mark) {
    auto* const block = static_cast<unsigned char*>(from.allocate(bytes));
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
    block_cache here;
    for (int round = 0; round < 3; ++round) {
      std::set<void*> all;
      for (std::size_t i = 0; i < count; ++i) {
        void* const block = here.allocate(bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % block_cache::grain, 0u);
        EXPECT_TRUE(all.insert(block).second) << "block " << i << " of " << bytes << " bytes is given out twice";
      }
      for (void* const each : all) here.free(each, bytes);
    }
  }
}

TEST(blocks, what_a_cache_leaves_is_found_by_the_next) {
  // Many times what is handed over at once, and no multiple of it.
  constexpr std::size_t bytes = 300, count = 1000;
  const auto take_all = [](block_cache& from) {
    std::vector<void*> all(count);
    for (void*& each : all) each = from.allocate(bytes);
    return all;
  };
  std::set<void*> first;
  {
    block_cache before;
    const std::vector<void*> all = take_all(before);
    first.insert(all.begin(), all.end());
    for (void* const each : all) before.free(each, bytes);
  }
  block_cache after;
  const std::vector<void*> all = take_all(after);
  EXPECT_EQ(std::set<void*>(all.begin(), all.end()).size(), count);
  std::size_t again = 0;
  for (void* const each : all) again += first.count(each);
  // The first has left these, and some that it had not used.
  EXPECT_GE(again, count / 2);
  for (void* const each : all) after.free(each, bytes);
}

TEST(blocks, go_from_thread_to_thread) {
  std::mutex guard;
  std::vector<owned> on_their_way;
  std::size_t broken = 0;
  const auto work = [&](unsigned number) {
    block_cache own;
    std::mt19937 random(number);
    std::vector<owned> kept;
    for (int step = 0; step < 20'000; ++step) {
      // In waves, so that whole batches come and go.
      const bool takes = step / 500 % 2 == 0 ? random() % 8 != 0 : random() % 8 == 0;
      if (takes) {
        kept.push_back(owned::make(own, 1 + random() % 200, static_cast<unsigned char>(random())));
        continue;
      }
      if (!kept.empty()) std::swap(kept[random() % kept.size()], kept.back());
      const std::lock_guard locked(guard);
      if (!kept.empty() && random() % 2 == 0) {
        on_their_way.push_back(kept.back());
        kept.pop_back();
      }
      std::vector<owned>& from = random() % 2 == 0 && !kept.empty() ? kept : on_their_way;
      if (from.empty()) continue;
      broken += from.back().is_whole() ? 0 : 1;
      own.free(from.back().block, from.back().bytes);
      from.pop_back();
    }
    const std::lock_guard locked(guard);
    on_their_way.insert(on_their_way.end(), kept.begin(), kept.end());
  };
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 3; ++number) threads.emplace_back(work, number);
  for (std::thread& each : threads) each.join();
  block_cache last;
  for (const owned& each : on_their_way) {
    broken += each.is_whole() ? 0 : 1;
    last.free(each.block, each.bytes);
  }
  EXPECT_EQ(broken, 0u);
}

}  // namespace
}  // namespace trimtab::tasks
