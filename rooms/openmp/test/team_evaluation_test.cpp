// Evaluations of the published policies, on a runtime made of plain threads: what is measured at the start of one region,
// how many members the region then has, and whose priority is lower.
#include "steering/team_evaluation.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <barrier>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "steering/team_sizes.hpp"

namespace trimtab::openmp {
namespace {

// What the fake runtime was asked for.
struct {
  std::vector<unsigned> teams;
  std::vector<int> nice_of_members, nice_of_primary;
  std::mutex lock;
  std::unique_ptr<std::barrier<>> barrier;
  int slow_barriers = 0;      // the next ones take 5 ms
  bool is_slow = false;       // this one
  std::atomic<long> next{0};  // of the loop
  long taken_by_primary = 0;  // at once, before anybody else gets any
  unsigned barriers_passed = 0;
} fake;
thread_local bool t_is_worker = false;

int own_nice() { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); }

void fake_fork(void (*work)(void*), void* data, unsigned members, unsigned) {
  fake.teams.push_back(members);
  fake.barrier = std::make_unique<std::barrier<>>(members);
  fake.is_slow = fake.slow_barriers > 0;
  fake.slow_barriers -= fake.is_slow ? 1 : 0;
  fake.next = 0;
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < members; ++i)
    workers.emplace_back([=] {
      t_is_worker = true;
      work(data);
      const std::lock_guard guard(fake.lock);
      fake.nice_of_members.push_back(own_nice());
    });
  work(data);
  fake.nice_of_primary.push_back(own_nice());
  for (std::thread& worker : workers) worker.join();
}
void fake_barrier() {
  if (fake.is_slow && !t_is_worker) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  fake.barrier->arrive_and_wait();
  const std::lock_guard guard(fake.lock);
  fake.barriers_passed += 1;
}
bool fake_next(long* begin, long* end) {
  const long largest = t_is_worker ? 1 : std::max(fake.taken_by_primary, 1L);
  *begin = fake.next.fetch_add(largest);
  *end = std::min(*begin + largest, 1000L);
  return *begin < 1000;
}
bool fake_start(long, long, long, long, long* begin, long* end) {
  fake.barrier->arrive_and_wait();
  return fake_next(begin, end);
}
void fake_end() {}

class team_evaluation : public ::testing::Test {
 protected:
  static constexpr std::uint32_t own = 4;
  team_evaluation() {
    std::construct_at(&the_team_sizes);  // other tests leave rules behind
    fake.teams.clear();
    fake.nice_of_members.clear();
    fake.nice_of_primary.clear();
    fake.slow_barriers = 0;
    fake.taken_by_primary = 0;
    fake.barriers_passed = 0;
    has(symbol::GOMP_parallel, fake_fork);
    has(symbol::GOMP_barrier, fake_barrier);
    has(symbol::GOMP_loop_dynamic_start, fake_start);
    has(symbol::GOMP_loop_dynamic_next, fake_next);
    has(symbol::GOMP_loop_end_nowait, fake_end);
    set_barrier_members(0);
    set_threads_if_bad(0);
    the_team_sizes.want(team_sizes::as_it_is);
    region();
  }
  template <class function>
  void has(symbol symbol_asked, function* replacement) {
    m_runtime.functions[static_cast<unsigned>(symbol_asked)] = reinterpret_cast<void*>(replacement);
  }
  // The program forks a region; how many members it gets.
  std::uint32_t region() {
    evaluate_if_due({&m_runtime, false}, own);
    the_team_sizes.fork({1, nullptr}, own);
    return the_team_sizes.latest();
  }
  runtime m_runtime;
};

TEST_F(team_evaluation, of_version_2_passes_a_barrier_and_the_dip_in_the_same_call) {
  set_evaluation_rules({.bad_passage_s = 1, .longest_dip_s = 1});
  the_team_sizes.want(2);
  region();
  set_barrier_members(3);
  const std::uint64_t before = latest_evaluation().number;
  ask_for_evaluation(evaluation_kind::barrier);
  EXPECT_EQ(region(), 3u) << "the very region has one more";
  EXPECT_EQ(fake.teams, (std::vector<unsigned>{2, 3}));
  const evaluation result = latest_evaluation();
  EXPECT_EQ(result.number, before + 1) << "one evaluation";
  EXPECT_EQ(result.members, 2u);
  EXPECT_EQ(result.dip_members, 3u);
  EXPECT_GT(result.dip_s, 0);
  EXPECT_EQ(evaluation_due.load(), evaluation_kind::none);
}

TEST_F(team_evaluation, of_version_2_drops_at_once_after_a_long_passage_and_does_not_dip) {
  set_evaluation_rules({.bad_passage_s = 1e-3, .longest_dip_s = 1e-3});
  set_barrier_members(4);
  set_threads_if_bad(2);
  the_team_sizes.want(3);
  region();
  fake.slow_barriers = 1;
  ask_for_evaluation(evaluation_kind::barrier);
  EXPECT_EQ(region(), 2u);
  EXPECT_EQ(fake.teams, (std::vector<unsigned>{3}));
  EXPECT_GT(latest_evaluation().passage_s, 4e-3);
  EXPECT_EQ(latest_evaluation().dip_members, 0u);
}

TEST_F(team_evaluation, of_version_2_keeps_its_size_after_a_long_dip) {
  set_evaluation_rules({.bad_passage_s = 1, .longest_dip_s = 1e-12});
  set_barrier_members(4);
  the_team_sizes.want(3);
  region();
  ask_for_evaluation(evaluation_kind::barrier);
  EXPECT_EQ(region(), 3u);
  EXPECT_EQ(latest_evaluation().dip_members, 4u);
}

TEST_F(team_evaluation, of_version_2_waits_for_its_time_at_the_regions_themselves) {
  set_evaluation_rules({.eval_time_s = 0.02, .bad_passage_s = 1});
  ask_for_evaluation(evaluation_kind::barrier);
  const std::uint64_t before = latest_evaluation().number;
  for (int i = 0; i < 3; ++i) {
    region();
    std::this_thread::sleep_for(std::chrono::milliseconds(21));
    region();
    region();
    EXPECT_EQ(latest_evaluation().number, before + 1 + static_cast<std::uint64_t>(i));
    ask_for_evaluation(evaluation_kind::barrier);
  }
  ask_for_evaluation(evaluation_kind::none);
}

TEST_F(team_evaluation, of_version_1_is_made_at_each_region_without_a_barrier_until_one_is_bad) {
  set_evaluation_rules({.bad_spread = 400});
  set_threads_if_bad(3);
  const std::uint64_t before = latest_evaluation().number;
  ask_for_evaluation(evaluation_kind::iterations);
  // How plain threads share iterations is up to chance here: only what the primary thread takes at once is certain.
  fake.taken_by_primary = 1000;
  std::uint64_t evaluations = 0;
  do {  // where another thread was first, it is not bad yet
    EXPECT_EQ(region(), 3u);
    EXPECT_EQ(latest_evaluation().number, before + ++evaluations);
  } while (latest_evaluation().spread <= 400 && evaluations < 1000);
  EXPECT_GT(latest_evaluation().spread, 400u);
  EXPECT_EQ(region(), 3u);
  EXPECT_EQ(latest_evaluation().number, before + evaluations) << "the policy is to see it first";
  set_evaluation_rules({.bad_spread = 1000});
  ask_for_evaluation(evaluation_kind::iterations);
  for (int i = 0; i < 5; ++i) region();
  EXPECT_EQ(latest_evaluation().number, before + evaluations + 5);
  EXPECT_EQ(fake.barriers_passed, 0u);
  ask_for_evaluation(evaluation_kind::none);
  region();
  EXPECT_EQ(latest_evaluation().number, before + evaluations + 5);
}

TEST_F(team_evaluation, of_version_1_takes_a_thread_only_after_enough_bad_ones_in_a_row) {
  // Every evaluation is bad by the first rule, and none by the second.
  const auto bad_region = [&](std::uint32_t bad_trig) {
    set_evaluation_rules({.bad_spread = -1, .bad_trig = bad_trig});
    ask_for_evaluation(evaluation_kind::iterations);
    return region();
  };
  const auto even_region = [&] {
    set_evaluation_rules({.bad_spread = 1000, .bad_trig = 2});
    ask_for_evaluation(evaluation_kind::iterations);
    return region();
  };
  even_region();
  bad_region(2);
  set_threads_if_bad(3);  // the policy's plan after one bad evaluation
  even_region();
  EXPECT_EQ(bad_region(2), own) << "the plan was made before an even evaluation";
  EXPECT_EQ(bad_region(2), 3u);
  even_region();
  set_threads_if_bad(2);
  EXPECT_EQ(bad_region(1), 2u) << "one is enough";
  ask_for_evaluation(evaluation_kind::none);
}

TEST_F(team_evaluation, of_the_variants_is_made_once_when_asked) {
  set_evaluation_rules({});
  the_team_sizes.want(2);
  region();
  set_barrier_members(3);
  const std::uint64_t before = latest_evaluation().number;
  for (const evaluation_kind each : {evaluation_kind::asked_barrier, evaluation_kind::iterations_after_barrier}) {
    ask_for_evaluation(each);
    region();
    region();
  }
  EXPECT_EQ(latest_evaluation().number, before + 2);
  EXPECT_EQ(fake.teams, (std::vector<unsigned>{3, 2})) << "the first with as many members as the dip has";
  EXPECT_EQ(fake.barriers_passed, 3u + 2u);
}

TEST_F(team_evaluation, lowers_the_priority_of_all_members_but_the_primary_thread) {
  const int usual = own_nice();
  const int lower = std::min(usual + 5, 19);
  set_evaluation_rules({.bad_passage_s = 1, .nice = 5});
  for (const evaluation_kind each : {evaluation_kind::priority, evaluation_kind::barrier}) {
    ask_for_evaluation(each);
    region();
  }
  EXPECT_EQ(fake.nice_of_primary, (std::vector<int>{usual, usual}));
  EXPECT_EQ(fake.nice_of_members, std::vector<int>(6, lower));
  int of_one_made_by_primary = 0;
  std::thread([&] { of_one_made_by_primary = own_nice(); }).join();
  EXPECT_EQ(of_one_made_by_primary, usual);
  int calls_made = 0;
  std::thread([&] {
    lower_priority_once(3);
    lower_priority_once(3);
    calls_made = own_nice();
  }).join();
  EXPECT_EQ(calls_made, std::min(usual + 3, 19));
}

}  // namespace
}  // namespace trimtab::openmp
