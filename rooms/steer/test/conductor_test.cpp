#include "trimtab/steer/conductor.hpp"

#include <latch>
#include <thread>

#include "scenario.hpp"

namespace trimtab::steer::testing {
namespace {

const subject_info loop{1, "loop", {numbers("threads", 1, 4, 4)}};

snapshot at(double time_s, decision_number under) {
  snapshot now;
  now.time_s = time_s;
  now.subjects = {{1, {{under, 0.01, 0.01}}, {}}};
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
  process here;
  here.steering.add(std::make_unique<scripted>([](const view&, auto& out) { out.push_back(trial_of(1, {{0, 2}})); }));
  snapshot first = at(1, 0);
  first.appeared = {loop};
  here.steers.advance(first);
  EXPECT_EQ(here.value, 2);
  snapshot last = at(2, here.under);
  last.is_last = true;
  here.steers.advance(last);
  EXPECT_EQ(here.value, 4);
  EXPECT_EQ(here.told, (std::vector<std::pair<outcome, bool>>{{outcome::trial, true}, {outcome::undone, true}}));
}

TEST(conductor, tells_the_engine_what_could_not_be_applied) {
  process here;
  here.is_refusing = true;
  here.steering.add(std::make_unique<scripted>([](const view&, auto& out) { out.push_back(trial_of(1, {{0, 2}})); }));
  snapshot first = at(1, 0);
  first.appeared = {loop};
  here.steers.advance(first);
  here.steers.advance(at(2, 0));
  EXPECT_EQ(here.value, 4);
  EXPECT_EQ(here.steering.counts().stuck, 1u);
}

TEST(conductor, gives_up_on_a_policy_that_hangs) {
  process here;
  std::latch hangs(1), goes_on(1);
  here.steering.add(std::make_unique<scripted>([&](const view& now, auto& out) {
    if (now.time_s < 2) return out.push_back(trial_of(1, {{0, 2}}));
    hangs.count_down();
    goes_on.wait();
    out.push_back(trial_of(1, {{0, 1}}));
  }));
  snapshot first = at(1, 0);
  first.appeared = {loop};
  here.steers.advance(first);
  ASSERT_EQ(here.value, 2);
  EXPECT_EQ(here.steers.look_after(1), "");
  std::thread steering([&] {
    here.steers.advance(at(2, here.under));
    here.steers.advance(at(3, here.under));
  });
  hangs.wait();
  EXPECT_EQ(here.steers.look_after(1), "") << "not yet too long";
  here.clock = 5;
  EXPECT_EQ(here.steers.look_after(1), "scripted");
  EXPECT_EQ(here.value, 4) << "while it still hangs";
  EXPECT_TRUE(here.steers.is_given_up());
  goes_on.count_down();
  steering.join();
  EXPECT_EQ(here.value, 4);
}

}  // namespace
}  // namespace trimtab::steer::testing
