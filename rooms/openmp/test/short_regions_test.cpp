// Short regions whose members are not timed, with a runtime of our own that knows numbers and who is in a region. How
// long instances were is told by hand, so that nothing depends on the machine's speed.
#include "accounting/short_regions.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "hooks/kmpc/short_way.hpp"
#include "recorded_names.hpp"
#include "steering/steered_loops.hpp"
#include "steering/team_sizes.hpp"
#include "steering/watching.hpp"
#include "trimtab/openmp/block_time.hpp"

namespace trimtab::openmp {
namespace {

namespace region_fields = observe::region_fields;

thread_local int t_is_in_parallel = 0;
int is_thread_in_parallel() { return t_is_in_parallel; }
int number_of_thread() { return 0; }

runtime& numbering() {
  static runtime created;
  created.functions[static_cast<unsigned>(symbol::omp_get_thread_num)] = reinterpret_cast<void*>(number_of_thread);
  created.functions[static_cast<unsigned>(symbol::omp_in_parallel)] = reinterpret_cast<void*>(is_thread_in_parallel);
  return created;
}

void nothing() {}
char place;

// A region of the program: `outlined` only stands for it.
template <int>
void outlined(void*) {}
template <int which>
const void* address() {
  return reinterpret_cast<const void*>(outlined<which>);
}
template <int which>
std::uint32_t subject() {
  return the_recorder.subject(subject_kind::region, address<which>(), false);
}

// As a hook does it. True: without timing the members.
template <int which>
bool run_region(const std::function<void()>& body_inside = nothing) {
  if (open_short_region(address<which>(), &place) != nullptr) {
    body_inside();
    close_short_region();
    return true;
  }
  void* const thunk = open_outermost({&numbering(), false}, address<which>(), 0, nullptr, gomp_regions);
  EXPECT_NE(thunk, nullptr);
  if (thunk == nullptr) return false;
  reinterpret_cast<gomp_function>(thunk)(nullptr);
  body_inside();
  close_outermost();
  return false;
}

ticks ticks_of_us(double microseconds) { return static_cast<ticks>(the_recorder.ticks_of_ns(microseconds * 1e3)); }

// The region has been short for long enough.
template <int which>
known_region& make_short(std::uint32_t members = 1) {
  run_region<which>();
  account_joined(*t_state);
  known_region& region = *region_at(*t_state, &numbering(), address<which>(), observe::no_subject, nullptr);
  region.length = {};
  for (std::uint32_t i = 0; i <= short_streak_needed; ++i) learn_length(*t_state, region, 1, members, members, false);
  return region;
}

template <int which>
profile_row row(std::uint16_t flags) {
  return *observe::t_lane->own_row(subject<which>(), metric::region, no_subject, flags);
}

// Until an instance goes without, whatever the machine does.
template <int which>
void run_untimed(known_region& region, const std::function<void()>& body_inside = nothing) {
  for (int i = 0; i < 1000; ++i) {
    region.length.timed_one_in = short_timed_one_in;
    if (open_short_region(address<which>(), &place) == nullptr) continue;
    body_inside();
    close_short_region();
    return;
  }
  FAIL() << "every instance was timed in full";
}

std::uint64_t waits_in(lane& measured_lane, std::uint32_t region) {
  const std::uint32_t barrier = the_recorder.subject(subject_kind::barrier, &place, true);
  return measured_lane.own_row(barrier, metric::wait, region, static_cast<std::uint16_t>(observe::wait_kind::barrier))
      ->count;
}
void meet_barrier() { const wait waited(subject_kind::barrier, observe::wait_kind::barrier, &place); }

class short_regions : public ::testing::Test {
 protected:
  // Other tests of this process leave regions that never join.
  static void SetUpTestSuite() {
    while (the_recorder.is_parallel()) the_recorder.parallel_leave(base::now());
  }
};

TEST_F(short_regions, every_instance_counts_and_a_sample_is_timed_in_full) {
  known_region& region = make_short<0>();
  const std::uint64_t before = row<0>(0).count;
  constexpr int instances = 2000;
  int untimed_ones = 0;
  for (int i = 0; i < instances; ++i) {
    untimed_ones += run_region<0>();
    account_joined(*t_state);
    region.length.timed_one_in = short_timed_one_in;
  }
  const profile_row untimed_row = row<0>(untimed), timed = row<0>(sample);
  EXPECT_EQ(untimed_row.count, static_cast<std::uint64_t>(untimed_ones));
  EXPECT_EQ(untimed_row.timed, untimed_row.count);
  EXPECT_GT(untimed_row.sum, 0u);
  EXPECT_EQ(untimed_row.x[region_fields::threads], untimed_row.count);
  EXPECT_EQ(timed.count, static_cast<std::uint64_t>(instances - untimed_ones));
  EXPECT_EQ(row<0>(0).count, before);
  EXPECT_GT(timed.count, instances / short_timed_one_in / 2);
  EXPECT_LT(timed.count, instances / short_timed_one_in * 2);
  const auto parts = observe::t_lane->row(subject<0>(), metric::team, observe::t_lane->id(), no_subject, sample);
  EXPECT_EQ(parts->count, timed.count);
}

TEST_F(short_regions, all_are_timed_while_a_loop_may_be_shared_out_in_another_way) {
  known_region& region = make_short<17>();
  is_steering.store(true);
  watch(address<17>(), watching::always);
  for (int i = 0; i < 200; ++i) {
    region.length.timed_one_in = short_timed_one_in;
    EXPECT_FALSE(run_region<17>());
    account_joined(*t_state);
    EXPECT_EQ(t_state->outermost.further_ones, 0u);
  }
  watch(address<17>(), watching::rarely);
  run_untimed<17>(region);
  do region.length.timed_one_in = short_timed_one_in;
  while (run_region<17>());
  EXPECT_EQ(t_state->outermost.mode, region_mode::shared_out) << "one in 32 is timed: that one is watched";
  EXPECT_EQ(t_state->outermost.further_ones, short_timed_one_in - 1);
  is_steering.store(false);
  forget_watching();
}

TEST_F(short_regions, where_no_loop_could_be_changed_not_all_are_timed) {
  known_region& region = make_short<16>();
  is_steering.store(true);
  ASSERT_EQ(watching_of(address<16>()), watching::no_loop);
  run_untimed<16>(region);
  is_steering.store(false);
}

// Instances of a region of four members, without those that are timed: what the row of the others has got.
template <int which>
profile_row run_many(known_region& region, const std::function<void()>& body_inside = nothing) {
  region.length.members = 4;
  run_untimed<which>(region, body_inside);  // the first is stamped: its row is made
  const profile_row before = row<which>(untimed);
  for (int i = 0; i < 2000; ++i) {
    region.length.timed_one_in = short_timed_one_in;
    run_region<which>(body_inside);
    account_joined(*t_state);
    region.length.members = 4;
  }
  profile_row now = row<which>(untimed);
  now.count -= before.count;
  now.timed -= before.timed;
  now.x[region_fields::threads] -= before.x[region_fields::threads];
  return now;
}

TEST_F(short_regions, most_are_only_counted_where_the_program_is_steered_and_nobody_asks) {
  known_region& region = make_short<18>();
  profile_row row_found = run_many<18>(region);
  EXPECT_GT(row_found.count, 1800u);
  EXPECT_EQ(row_found.timed, row_found.count) << "not steered";
  is_steering.store(true);
  const ticks before = row<18>(untimed).sum;
  row_found = run_many<18>(region, [] {
    if (t_state->short_one.mode == region_mode::sampled) t_state->short_one.forked_at -= ticks_of_us(1);
  });
  EXPECT_GT(row_found.count, 1800u);
  EXPECT_GT(row_found.timed, row_found.count / stamped_one_in / 2);
  EXPECT_LT(row_found.timed, row_found.count / stamped_one_in * 2);
  EXPECT_EQ(row_found.x[region_fields::threads], 4 * row_found.count) << "all have members";
  EXPECT_GE(row_found.sum - before, row_found.timed * ticks_of_us(1)) << "each that was stamped";
  const auto expect_all_stamped = [&] {
    row_found = run_many<18>(region);
    EXPECT_GT(row_found.timed + 2 * stamped_one_in, row_found.count) << "but for those for which it was decided before";
    row_found = run_many<18>(region);
    EXPECT_EQ(row_found.timed, row_found.count);
  };
  is_fitting_teams.store(true);
  expect_all_stamped();
  is_fitting_teams.store(false);
  time_waits(true);
  expect_all_stamped();
  time_waits(false);
  is_steering.store(false);
}

TEST_F(short_regions, fewer_are_timed_where_the_program_is_steered_and_nothing_is_changed) {
  constexpr std::uint32_t fewest = left_alone_fewer * short_timed_one_in;
  known_region& region = make_short<20>(2);
  const auto after = [&](double microseconds, std::uint32_t instances) {
    for (std::uint32_t i = 0; i < instances; ++i)
      learn_length(*t_state, region, ticks_of_us(microseconds), ticks_of_us(microseconds), 2, false);
    return region.length.timed_one_in;
  };
  is_steering.store(true);
  EXPECT_EQ(after(1, 1), fewest);
  watch(address<20>(), watching::rarely);
  EXPECT_EQ(after(1, 1), fewest);
  watch(address<20>(), watching::always);
  EXPECT_EQ(after(1, 1), short_timed_one_in);
  forget_watching();
  for (steering_switch* const asks : {&is_fitting_teams, &are_regions_fitted}) {
    asks->store(true);
    EXPECT_EQ(after(1, 1), short_timed_one_in);
    asks->store(false);
  }
  EXPECT_EQ(after(31, 8 * mixed_streak_needed), 16u) << "and of those that are short in the mean only";
  is_steering.store(false);
  EXPECT_EQ(after(31, 1), 4u);
}

TEST_F(short_regions, a_reduction_is_left_to_the_sample) {
  known_region& region = make_short<18>();
  const auto waits = [] {
    const std::uint32_t reduction = the_recorder.subject(subject_kind::barrier, &place, true);
    return observe::t_lane
        ->own_row(reduction, metric::wait, subject<18>(), static_cast<std::uint16_t>(observe::wait_kind::reduction))
        ->count;
  };
  const auto reduce = [] { const wait waited(subject_kind::barrier, observe::wait_kind::reduction, &place); };
  run_untimed<18>(region, reduce);
  EXPECT_EQ(waits(), 0u);
  EXPECT_EQ(region.length.timed_one_in, short_timed_one_in) << "it goes on without timed members";
  // As a member of one that is timed meets it.
  member self;
  const region_binding bound{address<18>(), t_state, &numbering(), subject<18>(), 0};
  begin_part(self, bound, 0);
  reduce();
  EXPECT_FALSE(t_state->has_met_construct);
  end_part(self, bound);
  EXPECT_EQ(waits(), 1u);
}

TEST_F(short_regions, a_construct_is_seen_in_one_that_is_only_counted) {
  known_region& region = make_short<19>();
  run_untimed<19>(region);
  is_steering.store(true);
  bool is_counted_only = false;
  for (int i = 0; i < 1000 && !is_counted_only; ++i)
    run_untimed<19>(region, [&] {
      is_counted_only = t_state->short_one.mode == region_mode::counted;
      if (is_counted_only) meet_barrier();
    });
  is_steering.store(false);
  ASSERT_TRUE(is_counted_only);
  EXPECT_EQ(waits_in(*observe::t_lane, subject<19>()), 1u);
  EXPECT_TRUE(region.length.has_constructs);
}

TEST_F(short_regions, the_first_after_the_streak_is_in_the_sample) {
  known_region& region = make_short<1>();
  EXPECT_EQ(region.length.asked, 0u);
  EXPECT_FALSE(run_region<1>());
  account_joined(*t_state);
  EXPECT_EQ(row<1>(sample).count, 1u);
}

TEST_F(short_regions, a_streak_ends_with_another_number_of_members_or_a_long_instance) {
  known_region& region = make_short<2>();
  ASSERT_EQ(region.length.timed_one_in, short_timed_one_in);
  learn_length(*t_state, region, 1, 2, 2, false);
  EXPECT_EQ(region.length.timed_one_in, 1u);
  for (std::uint32_t i = 0; i < short_streak_needed; ++i) {
    EXPECT_EQ(region.length.timed_one_in, 1u);
    learn_length(*t_state, region, 1, 2, 2, false);
  }
  EXPECT_EQ(region.length.timed_one_in, short_timed_one_in);
  learn_length(*t_state, region, ticks_of_us(5), 2, 2, false);
  EXPECT_EQ(region.length.timed_one_in, 1u);
}

// Of each length as many.
void learn_lengths(known_region& region, std::initializer_list<double> lengths_us, std::uint32_t instances) {
  for (std::uint32_t i = 0; i < instances; ++i)
    for (const double length_us : lengths_us)
      learn_length(*t_state, region, ticks_of_us(length_us), ticks_of_us(length_us), 2, false);
}

TEST_F(short_regions, what_is_short_in_the_mean_is_timed_as_often_as_that_takes_little) {
  known_region& region = make_short<13>(2);
  learn_lengths(region, {1, 15}, mixed_streak_needed / 2 - short_streak_needed);
  EXPECT_EQ(region.length.timed_one_in, 1u) << "seen too seldom";
  learn_lengths(region, {1, 15}, mixed_streak_needed);
  EXPECT_EQ(region.length.timed_one_in, 16u) << "8 us";
  learn_lengths(region, {1, 55}, 4 * mixed_streak_needed);
  EXPECT_EQ(region.length.timed_one_in, 4u) << "28 us";
  learn_lengths(region, {1, 199}, 4 * mixed_streak_needed);
  EXPECT_EQ(region.length.timed_one_in, 1u) << "100 us";
}

TEST_F(short_regions, what_is_short_in_the_mean_may_be_as_long_as_those_that_were_timed) {
  known_region& region = make_short<14>(2);
  learn_lengths(region, {1, 15}, mixed_streak_needed);
  const auto run_for = [&](double microseconds) {
    run_untimed<14>(region, [microseconds] { t_state->short_one.forked_at -= ticks_of_us(microseconds); });
  };
  region.length.longest = ticks_of_us(1e6);
  run_for(100'000);
  EXPECT_EQ(region.length.timed_one_in, 16u);
  EXPECT_EQ(region.length.untold, 0u);
  region.length.longest = ticks_of_us(15);
  run_for(100'000);
  EXPECT_EQ(region.length.timed_one_in, 1u);
  EXPECT_GE(region.length.untold, ticks_of_us(100'000));
  region.row->sum += 20 * region.length.untold;
  learn_lengths(region, {1}, short_streak_needed - 1);
  EXPECT_EQ(region.length.timed_one_in, 1u);
  learn_lengths(region, {15}, 1);
  EXPECT_EQ(region.length.timed_one_in, 16u);
}

TEST_F(short_regions, of_fitted_teams_only_those_are_left_out_that_are_all_short) {
  known_region& region = make_short<15>(2);
  is_fitting_teams.store(true);
  learn_lengths(region, {1, 15}, mixed_streak_needed);
  EXPECT_EQ(region.length.timed_one_in, 1u);
  learn_lengths(region, {1}, short_streak_needed);
  EXPECT_EQ(region.length.timed_one_in, short_timed_one_in);
  is_fitting_teams.store(false);
}

TEST_F(short_regions, after_a_long_one_without_timed_members_all_are_timed_until_it_weighs_little) {
  known_region& region = make_short<3>(2);
  const auto long_ago = static_cast<ticks>(the_recorder.ticks_of_ns(20'000'000));
  run_untimed<3>(region, [] { t_state->short_one.forked_at -= static_cast<ticks>(the_recorder.ticks_of_ns(20'000'000)); });
  EXPECT_EQ(region.length.timed_one_in, 1u);
  EXPECT_GE(region.length.untold, long_ago);
  for (std::uint32_t i = 0; i < 2 * short_streak_needed; ++i) learn_length(*t_state, region, 1, 2, 2, false);
  EXPECT_EQ(region.length.timed_one_in, 1u);
  region.row->sum += 20 * long_ago;
  for (std::uint32_t i = 0; i <= short_streak_needed; ++i) learn_length(*t_state, region, 1, 2, 2, false);
  EXPECT_EQ(region.length.timed_one_in, short_timed_one_in);
}

TEST_F(short_regions, of_one_member_a_long_one_says_all_there_is) {
  known_region& region = make_short<11>(1);
  run_untimed<11>(region, [] { t_state->short_one.forked_at -= static_cast<ticks>(the_recorder.ticks_of_ns(20'000'000)); });
  EXPECT_EQ(region.length.untold, 0u);
  EXPECT_EQ(region.length.timed_one_in, short_timed_one_in);
}

TEST_F(short_regions, a_construct_of_the_forker_belongs_to_its_region_and_ends_this) {
  known_region& region = make_short<4>();
  run_untimed<4>(region, meet_barrier);
  EXPECT_EQ(waits_in(*observe::t_lane, subject<4>()), 1u);
  EXPECT_TRUE(region.length.has_constructs);
  for (std::uint32_t i = 0; i < 2 * short_streak_needed; ++i) EXPECT_FALSE(run_region<4>());
  meet_barrier();
  EXPECT_EQ(waits_in(*observe::t_lane, subject<4>()), 1u);
  EXPECT_EQ(waits_in(*observe::t_lane, no_subject), 1u);
}

TEST_F(short_regions, static_loops_are_left_to_the_sample_and_others_end_this) {
  const auto meet_loop = [](observe::schedule method) {
    lane_context context{};
    ASSERT_TRUE(lookup(context));
    if (!is_left_to_sample(*context.state, method)) begin_loop(context, {method, 0, 8, 1, &place});
    end_loop(context);
  };
  const auto loops = [](observe::schedule method, std::uint32_t region) {
    const std::uint32_t loop = the_recorder.subject(subject_kind::loop, &place, true);
    return observe::t_lane->own_row(loop, metric::loop, region, static_cast<std::uint16_t>(method))->count;
  };
  known_region& region = make_short<12>();
  run_untimed<12>(region, [&] { meet_loop(observe::schedule::static_); });
  EXPECT_EQ(loops(observe::schedule::static_, subject<12>()), 0u);
  EXPECT_FALSE(region.length.has_constructs);
  meet_loop(observe::schedule::static_);
  EXPECT_EQ(loops(observe::schedule::static_, no_subject), 1u) << "outside of all regions";
  std::thread([&] {
    thread_uses(&numbering());
    meet_loop(observe::schedule::static_);
    EXPECT_EQ(loops(observe::schedule::static_, no_subject), 1u) << "of another thread of the program's";
    t_is_in_parallel = 1;
    meet_loop(observe::schedule::static_);
    t_is_in_parallel = 0, t_is_runtimes_own = true;
    meet_loop(observe::schedule::static_);
    EXPECT_EQ(loops(observe::schedule::static_, no_subject), 1u) << "of a member";
  }).join();
  run_untimed<12>(region, [&] { meet_loop(observe::schedule::dynamic); });
  EXPECT_EQ(loops(observe::schedule::dynamic, subject<12>()), 1u);
  EXPECT_TRUE(region.length.has_constructs);
}

TEST_F(short_regions, a_construct_of_a_member_belongs_to_the_region_and_one_of_another_thread_does_not) {
  known_region& region = make_short<5>();
  const auto meet_as = [](int is_in_parallel, std::uint64_t count_inside, std::uint64_t count_outside) {
    std::thread([=] {
      thread_uses(&numbering());
      t_is_in_parallel = is_in_parallel;
      lane_context context{};
      ASSERT_TRUE(lookup(context));
      const std::uint64_t before_inside = waits_in(*context.on, subject<5>()),
                          before_outside = waits_in(*context.on, no_subject);
      meet_barrier();
      EXPECT_EQ(waits_in(*context.on, subject<5>()) - before_inside, count_inside);
      EXPECT_EQ(waits_in(*context.on, no_subject) - before_outside, count_outside);
    }).join();
  };
  run_untimed<5>(region, [&] { meet_as(0, 0, 1); });
  EXPECT_FALSE(region.length.has_constructs);
  run_untimed<5>(region, [&] { meet_as(1, 1, 0); });
  EXPECT_TRUE(region.length.has_constructs);
}

TEST_F(short_regions, a_construct_in_a_timed_instance_ends_this_too) {
  known_region& region = make_short<6>();
  void* const thunk = open_outermost({&numbering(), false}, address<6>(), 0, nullptr, gomp_regions);
  ASSERT_NE(thunk, nullptr);
  member self;
  const region_binding binding{address<6>(), t_state, &numbering(), region.subject, region.generation};
  begin_part(self, binding, 0);
  meet_barrier();
  end_part(self, binding);
  close_outermost();
  account_joined(*t_state);
  EXPECT_TRUE(region.length.has_constructs);
}

TEST_F(short_regions, a_region_inside_is_nested_in_it) {
  known_region& region = make_short<7>();
  team inner;
  run_untimed<7>(region, [&] {
    EXPECT_EQ(open_short_region(address<0>(), &place), nullptr);
    EXPECT_EQ(open_outermost({&numbering(), false}, address<0>(), 0, nullptr, gomp_regions), nullptr);
    ASSERT_TRUE(fork_team(inner, {&numbering(), false}, address<8>(), 1, nullptr));
    join_team(inner);
  });
  EXPECT_EQ(inner.level, 2u);
  EXPECT_EQ(inner.outer_region, subject<7>());
  EXPECT_TRUE(region.length.has_constructs);
}

TEST_F(short_regions, where_most_are_only_counted_as_many_are_timed) {
  known_region& region = make_short<19>();
  is_steering.store(true);
  constexpr std::uint32_t period = left_alone_fewer * short_timed_one_in;
  constexpr int instances = 200 * static_cast<int>(period);
  int timed = 0;
  for (int i = 0; i < instances; ++i) {
    region.length.timed_one_in = period;
    timed += run_region<19>() ? 0 : 1;
    account_joined(*t_state);
  }
  is_steering.store(false);
  EXPECT_GT(timed, 200 * 7 / 10);
  EXPECT_LT(timed, 200 * 13 / 10);
}

TEST_F(short_regions, two_calls_whose_places_fall_together_both_go_the_short_way) {
  static char calls[1 << 16];
  constexpr auto fini = short_call::fini;
  const char* const first = &calls[0];
  const char* second = first + 1;
  auto& table = t_known_calls.of[static_cast<unsigned>(fini)];
  while (table.first_for(second) != table.first_for(first)) ++second;
  known_region& region = make_short<22>();
  for (int time = 0; time < 2; ++time) {
    t_short_regions = {};
    run_untimed<22>(region, [&] {
      for (const char* const call : {first, second}) know_way<fini>({&numbering(), false}, call, nothing);
      for (const char* const call : {first, second}) EXPECT_EQ((short_way<fini, void()>(call)), &nothing) << time;
    });
    EXPECT_EQ((short_way<fini, void()>(first)), nullptr) << "in no region";
  }
}

TEST_F(short_regions, what_was_found_out_holds_in_an_instance_without_timed_members_only) {
  known_region& region = make_short<20>();
  EXPECT_FALSE(prove_untimed()) << "in no region";
  run_untimed<20>(region, [] {
    EXPECT_TRUE(prove_untimed());
    EXPECT_NE(t_short_regions.is_untimed, 0u);
  });
  EXPECT_EQ(t_short_regions.is_untimed, 0u);
  run_untimed<20>(region, [] { EXPECT_NE(t_short_regions.is_untimed, 0u) << "not asked again"; });
  team inner;
  run_untimed<20>(region, [&] {
    ASSERT_TRUE(fork_team(inner, {&numbering(), false}, address<8>(), 1, nullptr));
    member self;
    begin_member(self, inner, 0);
    EXPECT_EQ(t_short_regions.is_untimed, 0u);
    EXPECT_FALSE(prove_untimed()) << "a region inside";
    end_member(self, inner);
    join_team(inner);
    EXPECT_TRUE(prove_untimed());
  });
  // A member of another thread's region, whose forker it knows to leave members untimed.
  std::thread([] {
    lane_context context{};
    ASSERT_TRUE(lookup(context));
    EXPECT_FALSE(prove_untimed()) << "the program's own thread";
    t_is_runtimes_own = true;
    EXPECT_TRUE(prove_untimed());
    is_steering.store(true);
    begin_steered_part(context.state->outermost, 1);
    EXPECT_FALSE(prove_untimed()) << "its loops may be changed";
    end_steered_part();
    EXPECT_TRUE(prove_untimed());
    is_steering.store(false);
  }).join();
}

TEST_F(short_regions, that_none_is_under_way_is_asked_again_after_a_timed_one_and_for_other_code) {
  known_region& region = make_short<21>();
  is_steering.store(true);
  constexpr std::uint32_t period = left_alone_fewer * short_timed_one_in;
  const auto run = [&] {
    region.length.timed_one_in = period;
    const bool is_untimed = run_region<21>();
    account_joined(*t_state);
    return is_untimed;
  };
  while (!run()) {
  }
  EXPECT_EQ(t_short_regions.is_outside, places_generation.load());
  while (run()) {
  }
  EXPECT_EQ(t_short_regions.is_outside, 0u) << "timed";
  while (region.length.counted_next == 0 || t_short_regions.is_outside == 0) run();
  // An object was unloaded: the region's address may be another's.
  places_generation.fetch_add(1);
  EXPECT_EQ(open_short_region(address<21>(), &place), nullptr);
  is_steering.store(false);
}

TEST_F(short_regions, one_forker_at_a_time) {
  make_short<9>();
  std::thread([] {
    make_short<9>();
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(run_region<9>());
  }).join();
}

TEST_F(short_regions, the_runtime_calling_itself_is_no_case_for_this) {
  known_region& region = make_short<12>();
  runtime outer_runtime;
  outer_runtime.begin = reinterpret_cast<std::uintptr_t>(&place);
  outer_runtime.end = outer_runtime.begin + 1;
  runtime* const own_runtime = region.of;
  region.of = &outer_runtime;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(open_short_region(address<10>(), &place), nullptr);
  region.of = own_runtime;
}

}  // namespace
}  // namespace trimtab::openmp
