#include "trimtab/steer/conductor.hpp"

#include <latch>
#include <thread>

#include "scenario.hpp"

namespace trimtab::steer::testing {
namespace {

const subject_info loop{1, "loop", {numbers("threads", 1, 4, 4)}};

snapshot at(double time_s, decision_number active_decision) {
  snapshot now;
  now.time_s = time_s;
  now.subjects = {{1, {{active_decision, 0.01, 0.01}}, {}}};
  return now;
}

struct process {
  process() {
    knobs.add(
        loop,
        [this](std::uint32_t, knob_value to) {
          if (is_refusing) return false;
          value = to;
          return true;
        },
        [this](decision_number number) { under = number; });
  }
  engine steering;
  board knobs;
  std::atomic<knob_value> value{4};
  decision_number under = 0;
  bool is_refusing = false;
  std::atomic<double> clock{0};
  std::vector<std::pair<outcome, bool>> told;
  conductor steers{steering, knobs, [this] { return clock.load(); },
                   [this](const decision& made, bool is_applied) { told.emplace_back(made.what, is_applied); }};
};

TEST(conductor, applies_what_is_decided_and_tells) {
  process steered;
  steered.steering.add(std::make_unique<scripted>([](const view&, auto& out) { out.push_back(trial_of(1, {{0, 2}})); }));
  snapshot first = at(1, 0);
  first.appeared = {loop};
  steered.steers.advance(first);
  EXPECT_EQ(steered.value, 2);
  snapshot last = at(2, steered.under);
  last.is_last = true;
  steered.steers.advance(last);
  EXPECT_EQ(steered.value, 4);
  EXPECT_EQ(steered.told, (std::vector<std::pair<outcome, bool>>{{outcome::trial, true}, {outcome::undone, true}}));
}

TEST(conductor, tells_the_engine_what_could_not_be_applied) {
  process steered;
  steered.is_refusing = true;
  steered.steering.add(std::make_unique<scripted>([](const view&, auto& out) { out.push_back(trial_of(1, {{0, 2}})); }));
  snapshot first = at(1, 0);
  first.appeared = {loop};
  steered.steers.advance(first);
  steered.steers.advance(at(2, 0));
  EXPECT_EQ(steered.value, 4);
  EXPECT_EQ(steered.steering.counts().stuck, 1u);
}

TEST(conductor, gives_up_on_a_policy_that_hangs) {
  process steered;
  std::latch hangs(1), continues(1);
  steered.steering.add(std::make_unique<scripted>([&](const view& now, auto& out) {
    if (now.time_s < 2) return out.push_back(trial_of(1, {{0, 2}}));
    hangs.count_down();
    continues.wait();
    out.push_back(trial_of(1, {{0, 1}}));
  }));
  snapshot first = at(1, 0);
  first.appeared = {loop};
  steered.steers.advance(first);
  ASSERT_EQ(steered.value, 2);
  EXPECT_EQ(steered.steers.look_after(1), "");
  std::thread steering([&] {
    steered.steers.advance(at(2, steered.under));
    steered.steers.advance(at(3, steered.under));
  });
  hangs.wait();
  EXPECT_EQ(steered.steers.look_after(1), "") << "not yet too long";
  steered.clock = 5;
  EXPECT_EQ(steered.steers.look_after(1), "scripted");
  EXPECT_EQ(steered.value, 4) << "while it still hangs";
  EXPECT_TRUE(steered.steers.is_given_up());
  continues.count_down();
  steering.join();
  EXPECT_EQ(steered.value, 4);
}

}  // namespace
}  // namespace trimtab::steer::testing
