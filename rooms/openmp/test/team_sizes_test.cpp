// What programs may rely on of their number of threads, without a runtime.
#include "steering/team_sizes.hpp"

#include <gtest/gtest.h>

#include <random>

namespace trimtab::openmp {
namespace {

constexpr std::uint32_t own = 8;
constexpr char first_place = 0, second_place = 0, third_place = 0, a_runtime = 0, another_runtime = 0;
constexpr team_sizes::who main_thread{1, &a_runtime}, other_thread{2, &a_runtime}, other_runtime{1, &another_runtime};

// Members that the region gets.
std::uint32_t fork(team_sizes& rules, const team_sizes::who& forker = main_thread) {
  const std::uint32_t members = rules.fork(forker, own);
  EXPECT_LT(members, own) << "as it is, or fewer";
  return members == team_sizes::as_it_is ? own : members;
}
std::uint32_t ask(team_sizes& rules, const void* place = &first_place, const team_sizes::who& forker = main_thread,
                  bool is_in_region = false) {
  return rules.ask(forker, place, own, is_in_region);
}

TEST(team_sizes, are_the_programs_own_until_something_else_is_wanted) {
  team_sizes sizes;
  EXPECT_EQ(sizes.now(), team_sizes::state::unknown);
  EXPECT_EQ(fork(sizes), own);
  EXPECT_EQ(sizes.now(), team_sizes::state::free);
  EXPECT_EQ(sizes.own(), own);
  sizes.want(3);
  EXPECT_EQ(fork(sizes), 3u);
  EXPECT_EQ(sizes.latest(), 3u);
  sizes.want(own + 5);
  EXPECT_EQ(fork(sizes), own) << "never more";
  sizes.want(5);
  EXPECT_EQ(sizes.fork(main_thread, 4), team_sizes::as_it_is) << "nor more than it would have now";
}

TEST(team_sizes, are_what_was_told_until_it_is_asked_again) {
  team_sizes sizes;
  EXPECT_EQ(ask(sizes), own);
  fork(sizes);
  sizes.want(2);
  EXPECT_EQ(fork(sizes), own) << "it was told so";
  EXPECT_EQ(ask(sizes), 2u) << "fewer are shown before there are any";
  EXPECT_EQ(fork(sizes), 2u);
  sizes.want(4);
  EXPECT_EQ(fork(sizes), 2u);
  EXPECT_EQ(ask(sizes), 4u);
  EXPECT_EQ(fork(sizes), 4u);
}

TEST(team_sizes, may_be_told_for_a_moment_to_who_asks_anew) {
  team_sizes sizes;
  constexpr std::uint32_t tried = 1;
  EXPECT_EQ(ask(sizes), own);
  fork(sizes);
  sizes.want(4);
  EXPECT_EQ(sizes.ask(main_thread, &first_place, own, false, tried), tried);
  EXPECT_EQ(fork(sizes), tried);
  EXPECT_EQ(ask(sizes), 4u);
  const std::uint32_t tellings = sizes.tellings();
  EXPECT_EQ(sizes.ask(main_thread, &second_place, own, false, tried), 4u) << "it is told what the first one was";
  EXPECT_EQ(sizes.ask(main_thread, &first_place, own, false, tried), 4u) << "the second one may rely on it for good";
  EXPECT_EQ(fork(sizes), 4u);
  EXPECT_EQ(sizes.tellings(), tellings) << "that was nothing new";
}

TEST(team_sizes, stay_where_another_place_has_asked_only_once) {
  team_sizes sizes;
  EXPECT_EQ(ask(sizes, &first_place), own);
  fork(sizes);
  sizes.want(2);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(ask(sizes, &second_place), own) << "the first may have an array of so many";
    EXPECT_EQ(fork(sizes), own);
  }
  // It asks again, so it does not keep what it was told.
  EXPECT_EQ(ask(sizes, &first_place), 2u);
  EXPECT_EQ(fork(sizes), 2u);
  EXPECT_EQ(ask(sizes, &second_place), 2u);
  sizes.want(6);
  EXPECT_EQ(ask(sizes, &second_place), 2u) << "only where it was asked first";
  EXPECT_EQ(fork(sizes), 2u);
}

TEST(team_sizes, are_never_above_what_any_place_was_told_first) {
  team_sizes sizes;
  EXPECT_EQ(ask(sizes, &first_place), own);
  fork(sizes);
  sizes.want(3);
  EXPECT_EQ(ask(sizes, &first_place), 3u);
  EXPECT_EQ(ask(sizes, &second_place), 3u) << "it may keep an array of three for good";
  EXPECT_EQ(ask(sizes, &second_place), 3u);
  sizes.want(own);
  EXPECT_EQ(ask(sizes, &first_place), 3u);
  EXPECT_EQ(fork(sizes), 3u);
  sizes.want(2);
  EXPECT_EQ(ask(sizes, &first_place), 2u);
}

TEST(team_sizes, bind_every_thread_but_only_the_first_that_forks_has_other_ones) {
  team_sizes sizes;
  fork(sizes);
  sizes.want(2);
  EXPECT_EQ(ask(sizes), 2u);
  EXPECT_EQ(fork(sizes, other_thread), 2u) << "its arrays may be the ones that were sized so";
  EXPECT_EQ(sizes.now(), team_sizes::state::several_forkers);
  sizes.want(1);
  EXPECT_EQ(ask(sizes), 2u);
  EXPECT_EQ(fork(sizes), 2u);
  team_sizes unasked;
  fork(unasked);
  unasked.want(2);
  EXPECT_EQ(fork(unasked), 2u);
  EXPECT_EQ(fork(unasked, other_runtime), own);
  EXPECT_EQ(fork(unasked), own) << "for good";
}

TEST(team_sizes, are_told_within_regions_as_they_are) {
  team_sizes sizes;
  fork(sizes);
  sizes.want(2);
  EXPECT_EQ(ask(sizes, &first_place, main_thread, true), own) << "of a region inside";
  EXPECT_EQ(fork(sizes), own);
  EXPECT_EQ(ask(sizes, &first_place), 2u);
  EXPECT_EQ(ask(sizes, &first_place, other_thread), 2u);
  EXPECT_EQ(fork(sizes), 2u);
}

TEST(team_sizes, that_the_program_sets_are_left) {
  team_sizes sizes;
  fork(sizes);
  sizes.want(2);
  sizes.set();
  EXPECT_EQ(sizes.now(), team_sizes::state::set_by_program);
  EXPECT_EQ(fork(sizes), own);
  EXPECT_EQ(ask(sizes), own);
  team_sizes size_rules;
  size_rules.set();
  EXPECT_EQ(fork(size_rules), own);
  EXPECT_EQ(size_rules.now(), team_sizes::state::set_by_program);
}

TEST(team_sizes, that_the_program_sets_go_down_where_that_is_consented_to) {
  team_sizes sizes;
  sizes.include_fixed(3);
  EXPECT_EQ(sizes.fork(main_thread, 2), team_sizes::as_it_is) << "a clause, of two";
  EXPECT_EQ(sizes.own(), 3u) << "the most that may be wanted";
  EXPECT_EQ(sizes.latest(), 3u);
  sizes.want(2);
  sizes.set();
  EXPECT_EQ(sizes.now(), team_sizes::state::free);
  EXPECT_EQ(sizes.fork(main_thread, 8), 2u);
  EXPECT_EQ(sizes.fork(main_thread, 2), team_sizes::as_it_is) << "never more";
  EXPECT_EQ(sizes.latest(), 2u) << "in force all the same";
  EXPECT_EQ(sizes.ask(main_thread, &first_place, 8, false), 2u);
  sizes.want(1);
  EXPECT_EQ(sizes.fork(main_thread, 8), 2u) << "it was told so";
  EXPECT_EQ(sizes.latest(), 2u);
}

TEST(team_sizes, of_a_forked_child_stay_as_they_were_told) {
  team_sizes reported, untold;
  for (team_sizes* each : {&reported, &untold}) {
    fork(*each);
    each->want(2);
  }
  EXPECT_EQ(ask(reported), 2u);
  EXPECT_TRUE(reported.leave_as_told());
  EXPECT_EQ(fork(reported), 2u);
  EXPECT_EQ(ask(reported), 2u);
  EXPECT_FALSE(untold.leave_as_told());
}

TEST(team_sizes, of_places_without_number_do_not_change) {
  team_sizes sizes;
  char places[100];
  for (int turn = 0; turn < 2; ++turn)
    for (const char& place : places) EXPECT_EQ(ask(sizes, &place), own);
  fork(sizes);
  sizes.want(2);
  EXPECT_EQ(ask(sizes, &places[0]), own);
  EXPECT_EQ(fork(sizes), own);
}

// Whatever is wanted when: what was told last, anywhere, is the size of every region until the next ask; and no place is
// told more than it was told at first.
TEST(team_sizes, keep_what_they_promise_whatever_happens) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const auto random_below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const void* const places[] = {&first_place, &second_place, &third_place};
    std::uint32_t at_first[3] = {}, latest = 0;
    team_sizes sizes;
    for (int i = 0; i < 300; ++i) {
      const team_sizes::who& forker = random_below(100) == 0 ? other_thread : main_thread;
      switch (random_below(3)) {
        case 0:
          sizes.want(random_below(own + 2));
          break;
        case 1: {
          const std::uint32_t at = random_below(3);
          latest = ask(sizes, places[at], forker, random_below(10) == 0);
          if (at_first[at] == 0) at_first[at] = latest;
          EXPECT_LE(latest, at_first[at]) << seed;
          EXPECT_GE(latest, 1u);
          break;
        }
        default: {
          const std::uint32_t members = fork(sizes, forker);
          if (latest != 0) {
            EXPECT_EQ(members, latest) << seed;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace trimtab::openmp
