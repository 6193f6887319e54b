#include "trimtab/parcels/view/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace trimtab::parcels {

// Each draw is one of a period of its own, so that what was sent does not count; the known load is that of the last period.
TEST(placement, draws_in_inverse_proportion_to_the_load) {
  constexpr int draws = 40'000;
  const std::array<placement_load, 4> loads{{{.tasks = 0}, {.tasks = 1}, {.tasks = 3}, {.tasks = 7, .workers = 2}}};
  constexpr std::array<double, 4> expected{1, 1.0 / 2, 1.0 / 4, 2.0 / 8};
  std::array<int, 4> drawn{};
  placement choice(4, 0, {.seed = 3});
  for (int i = 0; i < draws; ++i) {
    drawn[choice.choose(loads)] += 1;
    choice.pass_period();
  }
  double chi_square = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const double wanted = draws * expected[k] / 2;
    chi_square += (drawn[k] - wanted) * (drawn[k] - wanted) / wanted;
  }
  EXPECT_LT(chi_square, 16.3);  // three degrees of freedom, 0.1 %
}

TEST(placement, does_not_send_a_herd_where_the_load_was_least) {
  // One locality of eight was idle when the view was made; the view stays as it is.
  std::array<placement_load, 8> loads{};
  for (placement_load& load : loads) load.tasks = 20;
  loads[5].tasks = 0;
  std::array<int, 8> drawn{};
  placement choice(8, 0, {.seed = 4});
  for (int i = 0; i < 160; ++i) drawn[choice.choose(loads)] += 1;
  // Without what was sent it would get three quarters: 120.
  EXPECT_GT(drawn[5], 20);
  EXPECT_LT(drawn[5], 60);
}

TEST(placement, forgets_what_was_sent_before_a_newer_load) {
  placement choice(2, 0, {.seed = 5, .local_preference = 0});
  placement_load other{.tasks = 2};
  const std::array<placement_load, 2> loads{{{}, other}};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(choice.choose(loads), 1u);
  EXPECT_DOUBLE_EQ(choice.weight_of(1, other), 1.0 / 8);
  choice.pass_period();
  EXPECT_DOUBLE_EQ(choice.weight_of(1, other), 1.0 / 3);
  other.age = 1;
  EXPECT_DOUBLE_EQ(choice.weight_of(1, other), 1.0 / 8);
}

TEST(placement, sends_nothing_to_who_has_gone) {
  std::array<placement_load, 3> loads{};
  loads[0].tasks = 1000;
  loads[1].is_present = false;
  placement choice(3, 0, {.seed = 6});
  for (int i = 0; i < 1000; ++i) EXPECT_NE(choice.choose(loads), 1u);
  loads[2].is_present = false;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(choice.choose(loads), 0u);
}

}  // namespace trimtab::parcels
