// Outermost regions through their thunks, with a runtime of our own that only knows thread numbers.
#include "accounting/outermost.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "accounting/short_regions.hpp"
#include "steering/arrival_skew.hpp"
#include "steering/team_sizes.hpp"

namespace trimtab::openmp {
namespace {

using observe::event_kind;
using observe::metric;
using observe::profile_row;
using observe::the_recorder;
namespace region_fields = observe::region_fields;

thread_local int t_number = 0;
int number_of_thread() { return t_number; }

runtime& numbering() {
  static runtime created;
  created.functions[static_cast<unsigned>(symbol::omp_get_thread_num)] = reinterpret_cast<void*>(number_of_thread);
  return created;
}

void spin(ticks length) {
  const ticks begin = base::now();
  while (base::now() - begin < length) {
  }
}
ticks long_enough() { return static_cast<ticks>(the_recorder.ticks_of_ns(50'000)); }

// The outlined functions: each spins for as long as its data say.
template <int>
void outlined(void* data) {
  spin(*static_cast<ticks*>(data));
}
template <int which>
const void* address() {
  return reinterpret_cast<const void*>(outlined<which>);
}

// The others of a team begin at once, or when the forker's part is over: a new thread may come to run early or late.
enum class others { at_once, after_the_forker };

// A region of `members` that take number * step ticks each.
template <int which>
void run_region(int members, ticks step, others begin = others::at_once) {
  void* const thunk = open_outermost({&numbering(), false}, address<which>(), 0, nullptr, gomp_regions);
  ASSERT_NE(thunk, nullptr);
  std::atomic<bool> may_begin{begin == others::at_once};
  const auto take_part = [&](int number) {
    while (number != 0 && !may_begin) std::this_thread::yield();
    t_number = number;
    ticks length = static_cast<ticks>(number) * step;
    reinterpret_cast<gomp_function>(thunk)(&length);
  };
  std::vector<std::thread> workers;
  for (int i = 1; i < members; ++i) workers.emplace_back(take_part, i);
  take_part(0);
  may_begin = true;
  for (std::thread& worker : workers) worker.join();
  close_outermost();
}

template <int which>
profile_row region_row() {
  const std::uint32_t subject = the_recorder.subject(observe::subject_kind::region, address<which>(), false);
  return *observe::t_lane->row(subject, metric::region, observe::t_lane->id(), no_subject);
}
template <int which>
std::uint64_t parts() {
  const std::uint32_t subject = the_recorder.subject(observe::subject_kind::region, address<which>(), false);
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < the_recorder.lanes(); ++i)
    count += observe::t_lane->row(subject, metric::team, i, no_subject)->count;
  return count;
}

// False: it was displaced for so long that it may count as a long one.
template <int which>
bool run_short_region() {
  const ticks begin = base::now();
  run_region<which>(1, 0);
  return base::now() - begin < static_cast<ticks>(the_recorder.ticks_of_ns(10'000));
}

// What two short regions in a row leave. None: the machine displaced one of them at each attempt.
struct two_short_ones {
  std::uint64_t before, with_first, with_second, first_members, first_members_later;
};
// A region that has run very often is only sampled (short_regions.hpp), so each `which` is tried a limited number of times.
template <int which>
std::optional<two_short_ones> run_two_short_ones() {
  constexpr int most_attempts = mixed_streak_needed / 4;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    two_short_ones seen{};
    run_short_region<which>();
    account_joined(*t_state);
    seen.before = region_row<which>().count;
    bool are_short = run_short_region<which>();
    const observe::event& end = *observe::t_lane->last_event();
    seen.with_first = region_row<which>().count;
    seen.first_members = end.b;
    are_short &= run_short_region<which>();
    seen.with_second = region_row<which>().count;
    seen.first_members_later = end.b;
    if (are_short) return seen;
  }
  return std::nullopt;
}
template <int which, int... others>
void short_ones_are_accounted_by_the_next_or_when_asked() {
  const std::optional<two_short_ones> seen = run_two_short_ones<which>();
  if (!seen) {
    if constexpr (sizeof...(others) != 0) return short_ones_are_accounted_by_the_next_or_when_asked<others...>();
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "with TSan, regions take longer than short ones may";
#else
    FAIL() << "no two regions in a row that were short: the machine is too busy";
#endif
  }
  EXPECT_EQ(seen->with_first, seen->before);
  EXPECT_EQ(seen->first_members, 0u);
  EXPECT_EQ(seen->with_second, seen->before + 1);
  EXPECT_EQ(seen->first_members_later, 1u);
  account_joined(*t_state);
  account_joined(*t_state);
  EXPECT_EQ(region_row<which>().count, seen->before + 2);
  EXPECT_EQ(region_row<which>().x[region_fields::threads], seen->before + 2);
}

TEST(outermost, short_ones_are_accounted_by_the_next_or_when_asked) {
  short_ones_are_accounted_by_the_next_or_when_asked<0, 10, 11, 12, 13, 14, 15, 16>();
}

TEST(outermost, long_ones_are_accounted_at_their_join_with_the_part_of_every_member) {
  run_region<1>(4, long_enough());
  const profile_row row = region_row<1>();
  EXPECT_EQ(observe::t_lane->last_event()->b, 4u);
  EXPECT_EQ(row.count, 1u);
  EXPECT_EQ(row.x[region_fields::most_threads], 4u);
  EXPECT_EQ(parts<1>(), 4u);
  EXPECT_GE(row.x[region_fields::slowest_work], 3 * long_enough());
  EXPECT_GE(row.x[region_fields::mean_work], 6 * long_enough() / 4);
  EXPECT_LE(row.x[region_fields::slowest_work], row.sum);
}

TEST(outermost, how_far_apart_members_end_is_noted_where_teams_are_fitted) {
  take_longest_skew();
  run_region<6>(2, long_enough(), others::after_the_forker);
  EXPECT_EQ(take_longest_skew(), 0u) << "without consent nothing is";
  is_fitting_teams.store(true);
  run_region<6>(3, long_enough(), others::after_the_forker);
  run_region<6>(1, long_enough());
  is_fitting_teams.store(false);
  EXPECT_GE(take_longest_skew(), 2 * long_enough());
  EXPECT_EQ(take_longest_skew(), 0u) << "since the last look";
}

TEST(outermost, teams_of_changing_size_count_every_part_once) {
  std::uint64_t expected = 0;
  for (int round = 0; round < 60; ++round) {
    const int members = 1 + round * 7 % 5;
    run_region<2>(members, 0);
    expected += static_cast<std::uint64_t>(members);
  }
  account_joined(*t_state);
  EXPECT_EQ(region_row<2>().count, 60u);
  EXPECT_EQ(region_row<2>().x[region_fields::threads], expected);
  EXPECT_EQ(parts<2>(), expected);
}

TEST(outermost, an_inner_region_is_none) {
  void* const thunk = open_outermost({&numbering(), false}, address<3>(), 0, nullptr, gomp_regions);
  ASSERT_NE(thunk, nullptr);
  EXPECT_EQ(open_outermost({&numbering(), false}, address<4>(), 0, nullptr, gomp_regions), nullptr);
  close_outermost();
  EXPECT_EQ(open_outermost({&numbering(), true}, address<4>(), 0, nullptr, gomp_regions), nullptr);
  EXPECT_EQ(open_outermost({&numbering(), false}, address<4>(), lane_state::max_rings + 1, nullptr, gomp_regions), nullptr);
}

TEST(outermost, two_forkers_have_a_thunk_each_and_one_forker_keeps_its_own) {
  void* thunk = nullptr;
  void* same_thunk = nullptr;
  void* others = nullptr;
  for (void** each : {&thunk, &same_thunk}) {
    *each = open_outermost({&numbering(), false}, address<5>(), 0, nullptr, gomp_regions);
    close_outermost();
  }
  std::thread([&] {
    others = open_outermost({&numbering(), false}, address<5>(), 0, nullptr, gomp_regions);
    close_outermost();
  }).join();
  EXPECT_NE(thunk, nullptr);
  EXPECT_EQ(thunk, same_thunk);
  EXPECT_NE(thunk, others);
}

TEST(outermost, the_conventions_of_clang_hand_on_every_argument) {
  static void* arguments_seen[16];
  auto* function = +[](std::int32_t*, std::int32_t*, void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h,
                       void* i, void* j, void* k, void* l, void* m, void* n, void* o, void* p) {
    void* const all[] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p};
    std::copy(std::begin(all), std::end(all), arguments_seen);
  };
  void* const thunk =
      open_outermost({&numbering(), false}, reinterpret_cast<const void*>(function), 0, nullptr, kmpc_regions_medium);
  ASSERT_NE(thunk, nullptr);
  std::int32_t thread = 7, bound = 0;
  char data[16];
  reinterpret_cast<decltype(function)>(thunk)(&thread, &bound, data, data + 1, data + 2, data + 3, data + 4, data + 5,
                                              data + 6, data + 7, data + 8, data + 9, data + 10, data + 11, data + 12,
                                              data + 13, data + 14, data + 15);
  close_outermost();
  for (int i = 0; i < 16; ++i) EXPECT_EQ(arguments_seen[i], data + i);
}

}  // namespace
}  // namespace trimtab::openmp
