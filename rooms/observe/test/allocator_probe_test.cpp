// Waits in malloc: what a thread waits for, from the kernel's text, and how much of its blocked time counts.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cstdio>
#include <string>

#include "made_up_arena.hpp"
#include "probes/allocator.hpp"

namespace trimtab::observe::testing {
namespace {

std::string blocked_in(long call, std::uint64_t first_argument) {
  char text[160];
  std::snprintf(text, sizeof text, "%ld 0x%lx 0x80 0x2 0x0 0x7f16183a0e50 0x0 0x7f16181c8d08 0x7f16182530d6\n", call,
                static_cast<unsigned long>(first_argument));
  return text;
}

TEST(allocator_probe, reads_what_a_thread_waits_for) {
  made_up_arena arena;
  const malloc_arenas arenas = arena.found();
  const auto reason = [&](const std::string& text) { return read_blocked_by(read_thread_call(text.c_str()), arenas); };
  EXPECT_EQ(reason("running\n"), blocked_by::nothing);
  EXPECT_EQ(reason(""), blocked_by::nothing);
  EXPECT_EQ(reason(blocked_in(SYS_futex, arena.at(0))), blocked_by::arena_lock);
  EXPECT_EQ(reason(blocked_in(SYS_futex, arena.at(8))), blocked_by::others);
  EXPECT_EQ(reason(blocked_in(SYS_read, arena.at(0))), blocked_by::others);
  EXPECT_EQ(reason(blocked_in(SYS_munmap, 0x1000)), blocked_by::memory_map);
  EXPECT_EQ(reason(blocked_in(SYS_madvise, 0x1000)), blocked_by::memory_map);
  EXPECT_EQ(reason("-1 0x7ffd0000 0x7f160000\n"), blocked_by::memory_map);
}

constexpr std::uint64_t look_ns = 10'000'000;

// A thread that is blocked for `blocked_ns` of the time between two looks, for the reasons that come in turn.
void watch(blocked_threads& threads, std::uint32_t tid, int looks, std::uint64_t blocked_ns,
           std::initializer_list<blocked_by> reasons) {
  for (int i = 0; i < looks; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    threads.add(tid, (number + 1) * look_ns, number * (look_ns - blocked_ns), reasons.begin()[number % reasons.size()]);
    threads.end_look();
  }
}

TEST(allocator_probe, blocked_time_counts_by_the_share_of_looks) {
  blocked_threads threads;
  // Blocked for 4 of 10 ms; of the looks that saw it blocked, half saw it wait for an arena, whatever the share of looks
  // was.
  watch(threads, 7, 101, 4'000'000,
        {blocked_by::arena_lock, blocked_by::others, blocked_by::arena_lock, blocked_by::others, blocked_by::nothing});
  const double blocked = 100 * 4e6;
  EXPECT_NEAR(threads.total().arena_ns, blocked / 2, 0.02 * blocked);
  EXPECT_EQ(threads.total().map_ns, 0);
  EXPECT_EQ(threads.total().threads, 1u);
}

TEST(allocator_probe, threads_with_many_short_waits_are_looked_at_again) {
  blocked_threads threads;
  // Both are blocked for 4 of 10 ms. The looks see one of them; the third sleeps.
  for (std::uint64_t i = 0; i < 11; ++i) {
    threads.add(1, (i + 1) * look_ns, i * 6'000'000, blocked_by::nothing);
    threads.add(2, (i + 1) * look_ns, i * 6'000'000, i % 2 == 0 ? blocked_by::others : blocked_by::nothing);
    threads.add(3, (i + 1) * look_ns, 5, blocked_by::others);
    if (i < 10) threads.end_look();
  }
  EXPECT_EQ(threads.next_rarely_seen(), 1u);
  EXPECT_EQ(threads.next_rarely_seen(), 1u);
  for (int looks = 0; looks < 3; ++looks) {
    EXPECT_EQ(threads.next_rarely_seen(), 1u);
    threads.count_again(1, blocked_by::arena_lock);
  }
  EXPECT_EQ(threads.next_rarely_seen(), 0u);
  threads.count_again(1, blocked_by::others);
  threads.end_look();
  EXPECT_NEAR(threads.total().arena_ns, 10 * 4e6 * 3 / 4, 1);
  EXPECT_EQ(threads.total().threads, 1u);
}

TEST(allocator_probe, a_thread_that_sleeps_all_the_time_takes_no_part) {
  blocked_threads threads;
  for (std::uint64_t i = 0; i < 101; ++i) {
    threads.add(1, (i + 1) * look_ns, 5, blocked_by::others);
    threads.add(2, (i + 1) * look_ns, i * 7'000'000, i % 3 == 0 ? blocked_by::arena_lock : blocked_by::nothing);
    threads.add(3, (i + 1) * look_ns, i * 8'000'000, i % 5 == 0 ? blocked_by::memory_map : blocked_by::nothing);
    threads.end_look();
  }
  EXPECT_NEAR(threads.total().arena_ns, 100 * 3e6, 1);
  EXPECT_NEAR(threads.total().map_ns, 100 * 2e6, 1);
  EXPECT_EQ(threads.total().threads, 1u);
}

TEST(allocator_probe, what_was_seen_counts_after_the_thread_and_pauses) {
  blocked_threads threads;
  watch(threads, 7, 11, 4'000'000, {blocked_by::arena_lock});
  threads.end_look();  // it has gone
  EXPECT_NEAR(threads.total().arena_ns, 10 * 4e6, 1);
  watch(threads, 8, 11, 2'000'000, {blocked_by::arena_lock});
  threads.pause();
  // Nobody looked for a long time.
  threads.add(8, 1'000'000 * look_ns, 0, blocked_by::arena_lock);
  threads.end_look();
  EXPECT_NEAR(threads.total().arena_ns, 10 * 4e6 + 10 * 2e6, 1);
  EXPECT_EQ(threads.total().threads, 1u);
}

TEST(allocator_probe, more_threads_than_there_are_places_are_left_out) {
  blocked_threads threads;
  for (std::uint64_t i = 0; i < 3; ++i) {
    for (std::uint32_t tid = 1; tid <= 2 * blocked_threads::most_threads; ++tid)
      threads.add(tid, (i + 1) * look_ns, 0, blocked_by::arena_lock);
    threads.end_look();
  }
  EXPECT_EQ(threads.total().threads, blocked_threads::most_threads);
}

}  // namespace
}  // namespace trimtab::observe::testing
