// Arenas of malloc: those of this process, and made-up ones in a buffer.
#include "malloc_arenas.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <latch>
#include <random>
#include <thread>
#include <vector>

#include "made_up_arena.hpp"

namespace trimtab::observe::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool has_own_malloc = true;
#else
constexpr bool has_own_malloc = false;
#endif

TEST(malloc_arenas, of_this_process) {
  if (has_own_malloc) GTEST_SKIP() << "malloc is the sanitizer's";
  free(malloc(100'000));
  const auto arenas = malloc_arenas::find();
  ASSERT_TRUE(arenas);
  const std::uint32_t before = arenas->count();
  EXPECT_GE(before, 1u);
  EXPECT_FALSE(arenas->is_contended());
  // A thread gets an arena of its own with its first block, while there are fewer than eight for a CPU; one whose thread has
  // ended goes to the next thread.
  const std::uint32_t more = before < 5 ? before + 1 : before;
  std::latch all_have(more);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < more; ++i) {
    threads.emplace_back([&] {
      void* volatile const block = malloc(5000);  // no compiler may leave it out
      free(block);
      all_have.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(arenas->count(), before < 5 ? before + 1 : before);
}

TEST(malloc_arenas, of_both_layouts) {
  for (const bool with_flag : {true, false}) {
    made_up_arena arena(with_flag);
    const malloc_arenas found = arena.found();
    EXPECT_EQ(found.count(), 1u);
    EXPECT_TRUE(found.has_lock_at(arena.at(0)));
    EXPECT_FALSE(found.has_lock_at(arena.at(8)));
    for (const std::uint32_t value : {0u, 1u, 2u}) {
      arena.lock(value);
      EXPECT_EQ(found.is_contended(), value == 2);
    }
  }
}

TEST(malloc_arenas, with_blocks_in_most_bins) {
  made_up_arena arena;
  for (std::size_t i = 0; i < 117; ++i) arena.set(arena.bins + 16 * i, 0x1234);
  EXPECT_TRUE(arena.found().has_lock_at(arena.at(0)));
}

TEST(malloc_arenas, in_a_list) {
  made_up_arena first, second, third;
  first.set(first.next, third.at(0));
  third.set(third.next, second.at(0));
  second.set(second.next, first.at(0));
  const malloc_arenas found = first.found();
  EXPECT_EQ(found.count(), 3u);
  EXPECT_TRUE(found.has_lock_at(second.at(0)));
  EXPECT_FALSE(found.is_contended());
  second.lock(2);
  EXPECT_TRUE(found.is_contended());
}

// From whatever address the search begins, it stops at the arena and not some words before it, which bins alone would allow.
TEST(malloc_arenas, behind_other_variables) {
  for (std::size_t words_before = 0; words_before < 40; ++words_before) {
    made_up_arena arena(true, words_before);
    EXPECT_TRUE(arena.found().has_lock_at(arena.at(0))) << words_before;
  }
}

TEST(malloc_arenas, whose_list_leads_nowhere) {
  made_up_arena arena;
  for (const std::uint64_t next : {std::uint64_t{0}, std::uint64_t{0x10000}, std::uint64_t{0x123456789a8}}) {
    arena.set(arena.next, next);
    EXPECT_FALSE(malloc_arenas::find_within(arena.words.data(), arena.words.data() + arena.words.size())) << next;
  }
}

TEST(malloc_arenas, are_not_seen_in_other_memory) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> words(20'000);
  EXPECT_FALSE(malloc_arenas::find_within(words.data(), words.data() + words.size()));
  for (std::uint64_t& word : words) word = random();
  EXPECT_FALSE(malloc_arenas::find_within(words.data(), words.data() + words.size()));
  // An array of empty lists that are all alike, but with no next arena behind them.
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = reinterpret_cast<std::uint64_t>(&words[i / 2 * 2]) - 16;
  words.resize(14 + 254 + 3);
  for (std::size_t i = 14; i < 14 + 254; ++i) words[i] = reinterpret_cast<std::uint64_t>(&words[i / 2 * 2]) - 16;
  words[14 + 254 + 2] = 0;
  EXPECT_FALSE(malloc_arenas::find_within(words.data(), words.data() + words.size()));
}

TEST(malloc_arenas, of_a_list_that_never_closes) {
  made_up_arena first, second;
  first.set(first.next, second.at(0));
  EXPECT_FALSE(malloc_arenas::find_within(first.words.data(), first.words.data() + first.words.size()));
}

}  // namespace
}  // namespace trimtab::observe::testing
