// Numbers of members of one region each, and what is measured of them, without a runtime.
#include "steering/region_sizes.hpp"

#include <gtest/gtest.h>

#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {
namespace {

constexpr std::uint32_t programs_own = 4;
constexpr char the_runtime = 0, asking_place = 0;
constexpr team_sizes::who first_thread{1, &the_runtime}, second_thread{2, &the_runtime};

class region_sizes : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(prepare_regions(nullptr));
    t_forked = {};
    m_first = used += 2;
    m_regions = region_count();
    m_enough = static_cast<base::ticks>(observe::the_recorder.ticks_of_ns(1e6));
    EXPECT_EQ(members(nullptr), programs_own) << "the first that forks";
  }
  void TearDown() override { regions_after_fork(); }

  // Each test has functions of its own: what is known of one stays.
  const void* function(int index) const { return &all_functions[m_first + index]; }
  std::uint32_t members(const void* outlined, const team_sizes::who& forker = first_thread) {
    const std::uint32_t requested = fork_fitted(m_rules, forker, outlined, programs_own);
    return requested == team_sizes::as_it_is ? programs_own : requested;
  }
  region_site& site(const void* outlined) {
    members(outlined);
    region_site& site_found = *t_forked.site;
    t_forked.site = nullptr;
    return site_found;
  }
  // One region, as long as a measurement: its start, and from fork to join.
  void run(const void* outlined, base::ticks start) {
    members(outlined);
    if (start != 0) region_started(t_forked.forked_at + start);
    region_ended(outlined, 7, m_enough);
  }

  team_sizes m_rules;
  base::ticks m_enough = 0;
  std::uint32_t m_regions = 0;  // that there were before

 private:
  static inline char all_functions[64];
  static inline int used = 0;
  int m_first = 0;
};

TEST_F(region_sizes, are_each_regions_own) {
  region_site &first = site(function(0)), &other = site(function(1));
  request_members(first, {2, 11});
  EXPECT_EQ(members(function(0)), 2u);
  EXPECT_EQ(t_forked.under, 11u);
  EXPECT_EQ(members(function(1)), programs_own);
  request_members(other, {1, 12});
  request_members(first, {programs_own + 3, 13});
  EXPECT_EQ(members(function(0)), programs_own) << "never more";
  EXPECT_EQ(members(function(1)), 1u);
  EXPECT_EQ(fork_fitted(m_rules, first_thread, function(1), 1), team_sizes::as_it_is) << "it would have one now";
  EXPECT_EQ(first.own.load(), programs_own);
  EXPECT_EQ(other.own.load(), programs_own) << "the most that it has had";
}

void region_of_earlier_runs() {}
TEST_F(region_sizes, are_what_earlier_runs_found_from_the_first_one_on) {
  const auto* const outlined = reinterpret_cast<const void*>(&region_of_earlier_runs);
  char key[256];
  ASSERT_TRUE(write_region_key(outlined, key, sizeof key));
  static std::vector<known_size> sizes_saved;
  sizes_saved = {{"another", 3}, {key, 2}};
  ASSERT_TRUE(prepare_regions(&sizes_saved));
  EXPECT_EQ(members(outlined), 2u);
  EXPECT_EQ(t_forked.under, under_known_size);
  EXPECT_EQ(members(function(0)), programs_own);
}

TEST_F(region_sizes, are_what_the_program_was_told) {
  request_members(site(function(0)), {2, 11});
  EXPECT_EQ(members(function(0)), 2u);
  EXPECT_EQ(m_rules.ask(first_thread, &asking_place, programs_own, false), programs_own);
  EXPECT_EQ(members(function(0)), programs_own);
  EXPECT_EQ(t_forked.site, nullptr) << "what is measured now is under no request";
  EXPECT_EQ(m_rules.ask(first_thread, &asking_place, programs_own, false), programs_own) << "nor is it told of another";
}

TEST_F(region_sizes, stay_where_several_threads_fork) {
  request_members(site(function(0)), {2, 11});
  EXPECT_EQ(members(function(0), second_thread), programs_own);
  EXPECT_EQ(members(function(0)), programs_own);
  EXPECT_EQ(t_forked.site, nullptr);
}

TEST_F(region_sizes, stay_after_omp_set_num_threads) {
  request_members(site(function(0)), {2, 11});
  m_rules.set();
  EXPECT_EQ(members(function(0)), programs_own);
}

TEST_F(region_sizes, what_a_smaller_team_costs_the_next_region_is_its_own) {
  region_site &small = site(function(0)), &large = site(function(1));
  site_measurement measured{};
  run(function(1), 100);
  run(function(1), 100);
  ASSERT_TRUE(large.measured.take(measured)) << "known when the next one begins";
  EXPECT_EQ(measured.took, m_enough);
  request_members(small, {2, 11});
  run(function(0), 50);
  EXPECT_TRUE(large.measured.take(measured));
  members(function(1));
  EXPECT_TRUE(is_start_timed());
  EXPECT_FALSE(small.measured.take(measured)) << "not known yet";
  region_started(t_forked.forked_at + 5100);
  EXPECT_FALSE(is_start_timed());
  ASSERT_TRUE(small.measured.take(measured));
  EXPECT_EQ(measured.took, m_enough + 5000);
  EXPECT_EQ(measured.under, 11u);
  region_ended(function(1), 7, m_enough);
  run(function(1), 100);
  ASSERT_TRUE(large.measured.take(measured));
  EXPECT_EQ(measured.took, m_enough) << "and of nobody else";
}

TEST_F(region_sizes, a_start_is_late_by_what_it_takes_longer_than_usual) {
  region_site &small = site(function(0)), &large = site(function(1));
  site_measurement measured{};
  run(function(1), 800);
  run(function(1), 1600);
  EXPECT_EQ(large.usual_start, 900u) << "an eighth of the way to the latest";
  for (const base::ticks start : {1000, 500}) {
    request_members(small, {2, 11});
    run(function(0), 50);
    run(function(1), start);
    ASSERT_TRUE(small.measured.take(measured));
    EXPECT_EQ(measured.took, m_enough + (start > 900 ? start - 900 : 0));
    EXPECT_EQ(large.usual_start, 900u) << "it had more members than the one before";
  }
}

TEST_F(region_sizes, another_regions_end_is_not_its_own) {
  region_site& site_of_region = site(function(0));
  site_measurement measured{};
  members(function(0));
  region_ended(function(1), 7, m_enough);
  EXPECT_EQ(t_forked.site, &site_of_region) << "still under way";
  run(function(0), 0);
  members(function(0));
  ASSERT_TRUE(site_of_region.measured.take(measured));
  EXPECT_EQ(measured.instances, 1u);
}

TEST_F(region_sizes, overhead_is_what_the_longest_part_leaves) {
  const region_site& site_of_region = site(function(0));
  note_longest_part(function(0), 1000, 200, 4);
  EXPECT_EQ(site_of_region.overhead.load(), 800u);
  note_longest_part(function(0), 1000, 1200, 4);
  EXPECT_EQ(site_of_region.overhead.load(), 700u) << "none, and an eighth of the way to that";
  note_longest_part(function(0), 1000, 200, 1);
  EXPECT_EQ(site_of_region.overhead.load(), 700u - 700 / 8) << "one member waits for nobody";
  note_longest_part(function(1), 1000, 200, 4);
  EXPECT_EQ(region_count(), m_regions + 1) << "only of those that were forked";
}

TEST_F(region_sizes, a_start_that_nobody_saw_costs_nothing) {
  region_site& small = site(function(0));
  site_measurement measured{};
  request_members(small, {1, 11});
  run(function(0), 0);
  run(function(1), 0);
  ASSERT_TRUE(small.measured.take(measured));
  EXPECT_EQ(measured.took, m_enough);
  run(function(0), 0);
  fork_fixed(m_rules, first_thread, 3);
  EXPECT_TRUE(small.measured.take(measured)) << "a clause says how many the next one has";
  region_ended(function(0), 7, m_enough);
  EXPECT_EQ(t_forked.ended, nullptr) << "and it is not measured";
}

TEST_F(region_sizes, a_region_is_measured_beside_its_loops) {
  region_site& site_of_region = site(function(0));
  site_measurement measured{};
  for (const std::uint64_t loops : {0, 21, 0}) {
    members(function(0));
    if (loops != 0) {
      region_has_loop(loops);
      region_has_loop(loops - 5);
    }
    region_ended(function(0), 7, m_enough);
    members(function(0));
    ASSERT_TRUE(site_of_region.measured.take(measured));
    EXPECT_EQ(measured.beside, loops) << "the latest decision";
  }
}

TEST(measurement_ring, puts_together_only_what_is_alike) {
  static measurement_ring ring{};
  site_measurement measured{};
  ring.add({1, 0, 60, 10, 1, 1}, 100);
  ring.add({1, 2, 60, 10, 1, 2}, 100);
  EXPECT_FALSE(ring.take(measured)) << "begun anew";
  ring.add({1, 2, 60, 10, 1, 5}, 100);
  ASSERT_TRUE(ring.take(measured));
  EXPECT_EQ(measured.beside, 2u);
  EXPECT_EQ(measured.took, 120u);
  EXPECT_EQ(measured.iterations, 20u);
  EXPECT_EQ(measured.instances, 2u);
  EXPECT_EQ(measured.unwatched, 7u);
  EXPECT_FALSE(ring.take(measured));
}

}  // namespace
}  // namespace trimtab::openmp
