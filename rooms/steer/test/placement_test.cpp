// The rule for threads that share a CPU, told figures by the test.
#include "trimtab/steer/placement.hpp"

#include "scenario.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer::testing {
namespace {

constexpr double between_looks_s = 0.05;

engine_options without_budget() {
  engine_options options;
  options.budget_share = 0;
  return options;
}

class placements : public ::testing::Test {
 protected:
  void SetUp() override { m_steering.add(std::make_unique<placement>()); }
  // Decisions of so many looks.
  std::size_t looks(int count, double sharing, bool is_new = true) {
    std::size_t decisions_count = 0;
    for (int i = 0; i < count; ++i) {
      m_looks += is_new ? 1 : 0;
      time_s += between_looks_s;
      snapshot now;
      now.time_s = time_s;
      if (std::exchange(m_is_known, true) == false) now.appeared = {{1, "threads", {numbers("moved", 0, most, 0)}}};
      now.subjects = {{1, {}, {{std::string(figures::sharing_threads), sharing}, {std::string(figures::windows), m_looks}}}};
      for (const decision& decision : m_steering.step(now)) {
        EXPECT_EQ(decision.what, outcome::set);
        moved = decision.changes.at(0).to;
        decisions_count += 1;
      }
    }
    return decisions_count;
  }

  static constexpr knob_value most = 4;
  double time_s = 0;
  knob_value moved = 0;
  engine m_steering{without_budget()};
  double m_looks = 0;
  bool m_is_known = false;
};

TEST_F(placements, threads_with_a_cpu_each_stay_where_they_are) { EXPECT_EQ(looks(1000, 0), 0u); }

TEST_F(placements, one_of_those_that_share_is_moved_once_a_look) {
  EXPECT_EQ(looks(1, 1), 1u);
  EXPECT_EQ(moved, 1);
  EXPECT_EQ(looks(10, 1, false), 0u) << "the same look";
  EXPECT_EQ(looks(1, 1), 1u);
  EXPECT_EQ(moved, 2);
}

TEST_F(placements, who_shares_again_is_moved_after_a_pause_and_not_for_ever) {
  ASSERT_EQ(looks(1, 2), 1u);
  const double begin = time_s;
  while (moved < most && time_s < begin + 100) looks(1, 2);
  EXPECT_EQ(moved, most);
  EXPECT_GE(time_s - begin, (most - 1) * placement::pause_s - 1e-9);
  EXPECT_EQ(looks(10'000, 2), 0u) << "the end of the knob's values";
  EXPECT_TRUE(m_steering.reports().front().is_enabled);
}

TEST_F(placements, what_was_known_of_those_that_are_gone_is_forgotten) {
  ASSERT_EQ(looks(1, 1), 1u);
  snapshot now;
  now.time_s = time_s;
  now.gone = {1};
  m_steering.step(now);
  m_is_known = false;
  m_looks = 0;
  EXPECT_EQ(looks(1, 1), 1u) << "no pause after it";
}

}  // namespace
}  // namespace trimtab::steer::testing
