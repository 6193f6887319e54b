// What runtimes are asked for when a team becomes smaller; that it does what it should on real ones is for tests/e2e.
#include "steering/idle_threads.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <vector>

namespace trimtab::openmp {
namespace {

constexpr int throughput = 3, turnaround = 2;

// What a runtime has set, and the teams that were forked, each with the block time that it had.
struct {
  int block_time = 200, mode = throughput, threads = 8, pauses = 0;
  bool is_infinite = false;
  std::vector<std::pair<unsigned, int>> teams;
} fake;

// As LLVM's: nothing that is set says anything while the process's is infinite.
int fake_block_time() { return fake.is_infinite ? INT_MAX : fake.block_time; }
void fake_set_block_time(int to) { fake.block_time = to; }
int fake_library() { return fake.mode; }
void fake_set_library(int to) {
  fake.mode = to;
  if (to == throughput) fake.is_infinite = false;
  fake.threads = 8;
}
int fake_threads() { return fake.threads; }
void fake_set_threads(int to) { fake.threads = to; }
void fake_fork(void (*)(void*), void*, unsigned members, unsigned) { fake.teams.emplace_back(members, fake_block_time()); }
int fake_pause(int) { return ++fake.pauses, 0; }

struct idle_threads : ::testing::Test {
  runtime its;
  idle_threads() {
    fake = {};
    its.family = runtime_family::llvm;
    has(symbol::kmp_get_blocktime, fake_block_time);
    has(symbol::kmp_set_blocktime, fake_set_block_time);
    has(symbol::kmp_get_library, fake_library);
    has(symbol::kmp_set_library, fake_set_library);
    has(symbol::omp_get_max_threads, fake_threads);
    has(symbol::omp_set_num_threads, fake_set_threads);
    has(symbol::GOMP_parallel, fake_fork);
    has(symbol::omp_pause_resource_all, fake_pause);
    pool_has(4);
  }
  template <class function>
  void has(symbol symbol_asked, function* replacement) {
    its.functions[static_cast<unsigned>(symbol_asked)] = reinterpret_cast<void*>(replacement);
  }
  void shrink_to(std::uint32_t members) { shrink_pool({&its, false}, members, 4); }
  using teams = std::vector<std::pair<unsigned, int>>;
};

TEST_F(idle_threads, of_llvm_were_in_a_team_last_that_sleeps_at_once) {
  shrink_to(2);
  EXPECT_EQ(fake.teams, (teams{{4, 0}}));
  EXPECT_EQ(fake.block_time, 200);
  EXPECT_EQ(fake.pauses, 0);
}

TEST_F(idle_threads, that_would_spin_for_ever_sleep_too) {
  fake.is_infinite = true;
  fake.mode = turnaround;
  fake.threads = 4;
  shrink_to(1);
  EXPECT_EQ(fake.teams, (teams{{4, 0}}));
  EXPECT_GT(fake.block_time, 60'000) << "those of the next team spin as long as ever";
  EXPECT_EQ(fake.mode, turnaround);
  EXPECT_EQ(fake.threads, 4) << "which the change of library loses";
}

TEST_F(idle_threads, are_left_alone_where_there_are_none_or_where_they_sleep_anyway) {
  shrink_to(4);
  shrink_to(8);
  fake.block_time = 0;
  shrink_to(1);
  EXPECT_EQ(fake.teams, teams{});
}

TEST_F(idle_threads, are_not_made_for_a_program_that_has_forked_no_region_yet) {
  pool_has(0);
  shrink_to(2);
  EXPECT_EQ(fake.teams, teams{});
}

TEST_F(idle_threads, of_libgomp_are_ended_where_it_does_not_do_so_itself) {
  its.family = runtime_family::gomp;
  shrink_to(2);
  EXPECT_EQ(fake.pauses, 0);
  shrink_to(1);
  EXPECT_EQ(fake.pauses, 1);
  EXPECT_EQ(fake.teams, teams{});
}

}  // namespace
}  // namespace trimtab::openmp
