#include "trimtab/steer/shuffle.hpp"

#include <set>

#include "scenario.hpp"

namespace trimtab::steer::testing {
namespace {

subject_info shuffled_loop() {
  subject_info subject{1, "loop", {kinds("schedule", {"static", "dynamic", "guided"}), numbers("threads", 1, 4, 4)}};
  subject.knobs[1].asks = consent::needed;
  return subject;
}

std::set<knob_value> values_of(std::uint32_t knob, bool has_consent) {
  engine_options options;
  options.has_consent = has_consent;
  scenario simulation(options);
  simulation.steering.add(std::make_unique<shuffle>(7));
  simulation.add(shuffled_loop(), [](const std::vector<knob_value>&, double) { return 0.01; });
  simulation.run_until(3);
  std::set<knob_value> values_seen;
  for (const decision& decision : simulation.log)
    for (const change& change : decision.changes)
      if (change.knob == knob) values_seen.insert(change.to);
  EXPECT_EQ(simulation.steering.reports()[0].refused, 0u);
  EXPECT_TRUE(simulation.steering.reports()[0].is_enabled);
  return values_seen;
}

TEST(shuffle, turns_every_knob_to_every_value) { EXPECT_EQ(values_of(0, false), (std::set<knob_value>{0, 1, 2})); }

TEST(shuffle, asks_for_consent) {
  EXPECT_TRUE(values_of(1, false).empty());
  EXPECT_EQ(values_of(1, true), (std::set<knob_value>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace trimtab::steer::testing
