// Offering subjects, and withdrawing them.
#include "trimtab/steer/knob_source.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace trimtab::steer {
namespace {

// One knob, whose owner takes values up to 5.
class small_source final : public knob_source {
 public:
  explicit small_source(knob_registry& registry) : m_registry(registry) {}
  void add_to(snapshot& now) override {
    if (is_over) return m_registry.withdraw(now, 7);
    const auto apply = [this](std::uint32_t, knob_value to) { return to <= 5 && (value = to, true); };
    const auto confirm = [this](decision_number number) { under = number; };
    m_registry.offer(
        now,
        {{7, "loop", {{"chunk", *domain::range(1, 9), 1, 0, consent::safe, 0, {}}}, 0}, "app/loop", 70, apply, confirm});
  }
  bool is_over = false;
  knob_value value = 1;
  decision_number under = 0;

 private:
  knob_registry& m_registry;
};

class sources : public ::testing::Test {
 protected:
  bool turn(knob_value to) {
    decision decision_made;
    decision_made.number = ++number;
    decision_made.subject = 7;
    decision_made.what = outcome::set;
    decision_made.changes = {{0, 1, to}};
    return knobs.apply(decision_made);
  }
  board knobs;
  std::vector<std::pair<std::string, std::uint32_t>> recorded;
  knob_registry registry{knobs, [this](const knob_offer& offered) {
                           EXPECT_TRUE(knobs.values(offered.info.id).empty()) << "recorded before it can be turned";
                           recorded.emplace_back(offered.key, offered.recorded);
                         }};
  small_source source{registry};
  decision_number number = 0;
  snapshot now;
};

TEST_F(sources, offer_subjects_to_engine_board_and_record) {
  source.add_to(now);
  ASSERT_EQ(now.appeared.size(), 1u);
  EXPECT_EQ(now.appeared[0].name, "loop");
  EXPECT_EQ(recorded, (std::vector<std::pair<std::string, std::uint32_t>>{{"app/loop", 70}}));
  EXPECT_EQ(registry.key_of(7), "app/loop");
  EXPECT_EQ(registry.key_of(8), "");
  EXPECT_EQ(registry.knobs().values(7), std::vector<knob_value>{1});
}

TEST_F(sources, apply_values_and_say_whether_they_took_effect) {
  source.add_to(now);
  EXPECT_TRUE(turn(4));
  EXPECT_EQ(source.value, 4);
  EXPECT_EQ(source.under, 1u);
  EXPECT_FALSE(turn(6));
  EXPECT_EQ(source.value, 4);
  EXPECT_EQ(registry.knobs().accepted(7), std::vector<knob_value>{4});
}

TEST_F(sources, are_left_alone_once_they_have_withdrawn) {
  source.add_to(now);
  source.is_over = true;
  source.add_to(now);
  EXPECT_EQ(now.gone, std::vector<subject_id>{7});
  EXPECT_FALSE(turn(3));
  EXPECT_EQ(source.value, 1);
}

TEST_F(sources, have_nothing_to_wait_for_unless_they_say_so) { EXPECT_TRUE(source.is_at_rest(1)); }

}  // namespace
}  // namespace trimtab::steer
