// The numbers of subjects, of very many too.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "scratch_run.hpp"

namespace trimtab::observe::testing {
namespace {

TEST(subject_table, agrees_with_a_map_in_random_operations) {
  const auto table = std::make_unique<subject_table>();
  std::map<std::uint64_t, std::uint32_t> expected;
  std::mt19937_64 random(24);
  for (std::uint32_t step = 0; step < 100'000; ++step) {
    const std::uint64_t key = (random() % 60'000) << 20 | 2;
    const auto known = expected.find(key);
    ASSERT_EQ(table->find(key), known == expected.end() ? subject_table::absent : known->second) << "step " << step;
    if (known != expected.end()) continue;
    ASSERT_EQ(table->reserve(1), 0);
    table->add(key, step);
    expected[key] = step;
    if (step % 30'000 == 0) {
      const std::uint64_t digit = step / 30'000;
      table->forget([=](std::uint64_t held) { return held >> 20 != 0 && (held >> 20) % 7 == digit; });
      std::erase_if(expected, [=](const auto& each) { return each.first >> 20 != 0 && (each.first >> 20) % 7 == digit; });
    }
  }
  table->clear();
  for (const auto& [key, number] : expected) ASSERT_EQ(table->find(key), subject_table::absent);
}

TEST(subject_table, says_when_it_is_full_and_keeps_what_it_has) {
  const auto table = std::make_unique<subject_table>();
  std::uint64_t added = 0;
  int error = 0;
  while ((error = table->reserve(1)) == 0) {
    added += 1;
    table->add(added << 8 | 2, static_cast<std::uint32_t>(added));
  }
  EXPECT_EQ(error, E2BIG);
  EXPECT_EQ(added, subject_table::most_keys);
  EXPECT_EQ(table->find(added << 8 | 2), added);
  EXPECT_EQ(table->find(std::uint64_t{1} << 8 | 2), 1u);
}

// A lookup beside a table that grows finds what was there before.
TEST(subject_table, lookups_go_on_while_it_grows) {
  const auto table = std::make_unique<subject_table>();
  ASSERT_EQ(table->reserve(1), 0);
  table->add(1 << 8, 77);
  std::atomic<bool> is_done{false};
  std::uint64_t missed = 0;
  std::thread reader([&] {
    while (!is_done.load(std::memory_order_relaxed)) missed += table->find(1 << 8) == 77 ? 0 : 1;
  });
  for (std::uint64_t i = 2; i < 40'000; ++i) {
    ASSERT_EQ(table->reserve(1), 0);
    table->add(i << 8, static_cast<std::uint32_t>(i));
  }
  is_done.store(true, std::memory_order_relaxed);
  reader.join();
  EXPECT_EQ(missed, 0u);
}

TEST(subjects, seventy_thousand_of_them_survive_a_kill) {
  scratch_run run;
  constexpr std::uint32_t count = 70'000;
  static char places[count];
  const pid_t child = fork();
  if (child == 0) {
    open_recorder recorder(run);
    lane* const mine = recorder->open_lane();
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t subject = recorder->subject(subject_kind::region, &places[i], false);
      if (subject != i || recorder->subject(subject_kind::region, &places[i], false) != i) _exit(1);
      lane::add(mine->row(subject, metric::wait, 0, subject), i);
    }
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  const auto rows = records_of<profile_row>(bytes_of(folder_of(run, child) + "/lane-0000.profile"));
  ASSERT_EQ(rows.size(), count);
  for (std::uint32_t i = 0; i < count; ++i) {
    ASSERT_EQ(rows[i].subject, i);
    ASSERT_EQ(rows[i].in_region, i);
    ASSERT_EQ(rows[i].sum, i);
  }
}

}  // namespace
}  // namespace trimtab::observe::testing
