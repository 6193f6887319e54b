#include "trimtab/steer/board.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace trimtab::steer {
namespace {

const subject_info loop{3,
                        "loop",
                        {{"chunk", *domain::range(1, 9), 1, 0, consent::safe, 0, {}},
                         {"split", *domain::range(1, 9), 1, 0, consent::safe, 0, {}}}};

decision made(decision_number number, outcome kind, std::vector<change> changes) {
  decision all;
  all.number = number;
  all.subject = 3;
  all.what = kind;
  all.changes = std::move(changes);
  return all;
}

struct owner {
  std::vector<knob_value> values{1, 1};
  decision_number under = 0;
  knob_value refused = 0;
  bool is_throwing = false;
  void attach(board& to) {
    to.add(
        loop,
        [this](std::uint32_t knob, knob_value value) {
          if (value == refused && is_throwing) throw std::runtime_error("no");
          if (value == refused) return false;
          values[knob] = value;
          return true;
        },
        [this](decision_number number) { under = number; });
  }
};

TEST(board, applies_and_undoes) {
  board knobs;
  owner owner_of_knobs;
  owner_of_knobs.attach(knobs);
  EXPECT_TRUE(knobs.apply(made(1, outcome::trial, {{0, 1, 5}, {1, 1, 6}})));
  EXPECT_EQ(owner_of_knobs.values, (std::vector<knob_value>{5, 6}));
  EXPECT_EQ(owner_of_knobs.under, 1u);
  EXPECT_TRUE(knobs.apply(made(2, outcome::undone, {})));
  EXPECT_EQ(owner_of_knobs.values, (std::vector<knob_value>{1, 1}));
  EXPECT_TRUE(knobs.apply(made(3, outcome::trial, {{0, 1, 5}})));
  EXPECT_TRUE(knobs.apply(made(4, outcome::kept, {})));
  EXPECT_EQ(owner_of_knobs.under, 4u);
  EXPECT_EQ(knobs.accepted(3), (std::vector<knob_value>{5, 1}));
}

TEST(board, brings_back_what_it_could_turn_when_it_cannot_turn_all) {
  for (const bool is_throwing : {false, true}) {
    board knobs;
    owner owner_of_knobs;
    owner_of_knobs.refused = 6;
    owner_of_knobs.is_throwing = is_throwing;
    owner_of_knobs.attach(knobs);
    EXPECT_FALSE(knobs.apply(made(1, outcome::set, {{0, 1, 5}, {1, 1, 6}})));
    EXPECT_EQ(owner_of_knobs.values, (std::vector<knob_value>{1, 1}));
    EXPECT_EQ(knobs.accepted(3), (std::vector<knob_value>{1, 1}));
  }
}

TEST(board, restores_for_good) {
  board knobs;
  owner owner_of_knobs;
  owner_of_knobs.attach(knobs);
  knobs.apply(made(1, outcome::trial, {{0, 1, 5}}));
  EXPECT_EQ(knobs.restore(), 1u);
  EXPECT_EQ(owner_of_knobs.values[0], 1);
  EXPECT_FALSE(knobs.apply(made(2, outcome::trial, {{0, 1, 7}})));
  EXPECT_EQ(owner_of_knobs.values[0], 1);
}

TEST(board, knows_nothing_of_those_that_are_gone) {
  board knobs;
  owner owner_of_knobs;
  owner_of_knobs.attach(knobs);
  knobs.remove(3);
  EXPECT_FALSE(knobs.apply(made(1, outcome::trial, {{0, 1, 5}})));
  EXPECT_EQ(owner_of_knobs.values[0], 1);
  EXPECT_TRUE(knobs.values(3).empty());
}

}  // namespace
}  // namespace trimtab::steer
