// Functions that compute their block as GCC's do, run by virtual threads: with a runtime of our own, whose teams are threads
// that are made for each.
#include "steering/virtual_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <numeric>
#include <thread>

#include "steering/steered_loops.hpp"
#include "trimtab/openmp/steering.hpp"

extern "C" int omp_get_thread_num();
extern "C" int omp_get_num_threads();

namespace trimtab::openmp {
namespace {

using block_list = std::vector<std::pair<int, int>>;  // number, of how many

// What the runtime itself knows.
thread_local int t_number_here = 0, t_threads_here = 1, t_level_here = 0;
int runtimes_number() { return t_number_here; }
int runtimes_threads() { return t_threads_here; }
int runtimes_most() { return 2; }
int runtimes_level() { return t_level_here; }

void fork_threads(gomp_function function, void* data, unsigned threads, unsigned) {
  const auto member = [=](int number) {
    t_number_here = number;
    t_threads_here = static_cast<int>(threads);
    t_level_here = 1;
    function(data);
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(member, static_cast<int>(i));
  member(0);
  for (std::thread& each : others) each.join();
  t_threads_here = 1;
  t_level_here = 0;
}

runtime& forking_runtime() {
  static runtime* const created = [] {
    auto* const fresh = new runtime;
    const auto set = [&](symbol symbol_set, auto* function) {
      fresh->functions[static_cast<unsigned>(symbol_set)] = reinterpret_cast<void*>(function);
    };
    set(symbol::GOMP_parallel, fork_threads);
    set(symbol::omp_get_thread_num, runtimes_number);
    set(symbol::omp_get_num_threads, runtimes_threads);
    set(symbol::omp_get_max_threads, runtimes_most);
    set(symbol::omp_get_level, runtimes_level);
    return fresh;
  }();
  return *created;
}

// What a region works on: it counts its iterations, and notes as whom it was called.
struct work {
  explicit work(int trip) : hits(static_cast<std::size_t>(trip)) {}
  std::vector<int> hits;
  std::mutex lock;
  block_list called_as;
};

void run_block(work& function, int number, int threads) {
  const int trip = static_cast<int>(function.hits.size()), share = trip / threads, rest = trip % threads;
  const int begin = number * share + std::min(number, rest);
  for (int i = begin, end = begin + share + (number < rest); i < end; ++i) ++function.hits[static_cast<std::size_t>(i)];
  const std::lock_guard guard(function.lock);
  function.called_as.emplace_back(number, threads);
}
// Each test has a function of its own, since what is known of one stays.
template <int>
void region_function(void* data) {
  const int threads = omp_get_num_threads();
  run_block(*static_cast<work*>(data), omp_get_thread_num(), threads);
}
// As one whose other question is bound to somebody else.
void asks_half(void* data) { run_block(*static_cast<work*>(data), omp_get_thread_num(), t_threads_here); }

enum : int { blocks_of_it, trips_of_it, epochs_of_it, alone_of_it, inside_of_it, left_of_it };

class virtual_threads : public ::testing::Test {
 protected:
  static std::string place(gomp_function function) {
    char text[160];
    EXPECT_TRUE(observe::the_recorder.place_of(reinterpret_cast<const void*>(function), text, sizeof text));
    return text;
  }
  static void SetUpTestSuite() {
    ASSERT_TRUE(prepare_sites());
    allow_virtual_threads({place(region_function<blocks_of_it>), place(region_function<trips_of_it>),
                           place(region_function<epochs_of_it>), place(region_function<alone_of_it>),
                           place(region_function<inside_of_it>), place(asks_half)});
  }
  static void TearDownTestSuite() { virtual_threads_after_fork(); }
  void SetUp() override {
    is_steering.store(true);
    thread_uses(&forking_runtime());
  }
  void TearDown() override {
    is_steering.store(false);
    thread_uses(nullptr);
    t_level_here = 0;
  }

  // How the function was called, in order of the numbers; empty: not at all. Each iteration was executed once.
  static block_list calls(gomp_function function, int trip = 100, unsigned threads = 2) {
    work work_done(trip);
    if (!run_virtually(nullptr, function, &work_done, threads, 0)) {
      EXPECT_TRUE(work_done.called_as.empty());
      return {};
    }
    EXPECT_EQ(work_done.hits, std::vector<int>(static_cast<std::size_t>(trip), 1));
    EXPECT_FALSE(t_virtual.is_in);
    std::sort(work_done.called_as.begin(), work_done.called_as.end());
    return work_done.called_as;
  }
  static void put_in_force(gomp_function function, std::uint64_t blocks) {
    static auto& plans = *new std::deque<loop_plan>;  // sites point to them
    loop_site* const site =
        site_of({reinterpret_cast<const void*>(function), any_trip, 0, observe::schedule::static_inferred});
    ASSERT_NE(site, nullptr);
    publish(*site, plans.emplace_back(loop_plan{0, nullptr, 1, sharing::as_written, false, blocks, {}}));
  }
  static block_list all_of(int threads) {
    block_list blocks;
    for (int number = 0; number < threads; ++number) blocks.emplace_back(number, threads);
    return blocks;
  }
};

TEST_F(virtual_threads, each_block_is_run_once_as_soon_as_both_questions_were_seen) {
  put_in_force(region_function<blocks_of_it>, 4);
  EXPECT_EQ(calls(region_function<blocks_of_it>), all_of(2)) << "as written: it has not asked yet";
  EXPECT_EQ(calls(region_function<blocks_of_it>), all_of(8));
  EXPECT_EQ(calls(region_function<blocks_of_it>, 100, 3), all_of(12));
}

TEST_F(virtual_threads, blocks_may_be_empty) {
  put_in_force(region_function<trips_of_it>, 16);
  calls(region_function<trips_of_it>);
  for (const int trip : {0, 1, 3, 31, 32, 33}) EXPECT_EQ(calls(region_function<trips_of_it>, trip), all_of(32)) << trip;
}

TEST_F(virtual_threads, a_change_holds_from_the_next_fork_on) {
  calls(region_function<epochs_of_it>);
  EXPECT_EQ(calls(region_function<epochs_of_it>), all_of(2));
  for (const std::uint64_t blocks : {2, 32, 0, 4}) {
    put_in_force(region_function<epochs_of_it>, blocks);
    EXPECT_EQ(calls(region_function<epochs_of_it>), all_of(blocks == 0 ? 2 : 2 * static_cast<int>(blocks)));
  }
}

TEST_F(virtual_threads, a_team_of_one_is_as_written) {
  put_in_force(region_function<alone_of_it>, 8);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(calls(region_function<alone_of_it>, 100, 1), all_of(1));
  EXPECT_EQ(calls(region_function<alone_of_it>, 100, 2), all_of(16));
}

TEST_F(virtual_threads, only_outermost_regions_and_only_while_steered) {
  put_in_force(region_function<inside_of_it>, 8);
  calls(region_function<inside_of_it>);
  t_level_here = 1;
  EXPECT_EQ(calls(region_function<inside_of_it>), block_list{});
  t_level_here = 0;
  is_steering.store(false);
  EXPECT_EQ(calls(region_function<inside_of_it>), block_list{});
  is_steering.store(true);
  EXPECT_EQ(calls(region_function<inside_of_it>), all_of(16));
}

TEST_F(virtual_threads, what_is_not_fit_is_left_alone) {
  put_in_force(region_function<left_of_it>, 8);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(calls(region_function<left_of_it>), block_list{});
}

TEST_F(virtual_threads, a_function_with_a_question_that_is_not_seen_is_as_written) {
  put_in_force(asks_half, 8);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(calls(asks_half), all_of(2));
}

}  // namespace
}  // namespace trimtab::openmp
