#include "trimtab/steer/event_source.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "scenario.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer::testing {
namespace {

class happenings : public ::testing::Test {
 protected:
  // As text: what a snapshot brings with so many measurements of subject 7, of this value, under this decision.
  std::string measure(double value, int count = 9, decision_number active_decision = 0) {
    snapshot now;
    now.subjects = {{7, {}, {}}};
    for (int i = 0; i < count; ++i) now.subjects[0].measured.push_back({active_decision, value, value});
    return text_of(now);
  }
  std::string figures_of(std::vector<figure> figures) {
    snapshot now;
    now.figures = std::move(figures);
    return text_of(now);
  }
  std::string text_of(const snapshot& now) {
    std::vector<event> matching;
    source.add_drifts(now, matching);
    source.add_cpus(now, matching);
    return text_of(matching);
  }
  static std::string text_of(const std::vector<event>& events) {
    std::string text;
    for (const event& event : events) {
      char line[80];
      std::snprintf(line, sizeof line, "%s %u %.3g;", event.name.c_str(), event.subject, event.value);
      text += line;
    }
    return text;
  }
  event_source source;
};

TEST_F(happenings, a_subject_drifts_when_it_takes_another_time_under_the_same_values) {
  EXPECT_EQ(measure(1), "");
  EXPECT_EQ(measure(1.2), "") << "not by a quarter";
  EXPECT_EQ(measure(2, 4), "") << "a few may be by chance";
  EXPECT_EQ(measure(2, 5), "drifted 7 2;");
  EXPECT_EQ(measure(2), "") << "told once";
  EXPECT_EQ(measure(1), "drifted 7 0.5;");
  EXPECT_EQ(measure(5, 9, 1), "") << "another decision";
  EXPECT_EQ(measure(1, 9, 1), "drifted 7 0.2;");
}

TEST_F(happenings, what_makes_no_sense_is_no_drift) {
  EXPECT_EQ(measure(1), "");
  for (const double value : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_EQ(measure(value), "");
  EXPECT_EQ(measure(1), "");
}

TEST_F(happenings, a_number_that_comes_to_stand_for_another_begins_anew) {
  EXPECT_EQ(measure(1), "");
  EXPECT_EQ(text_of({source.leave(7)}), "gone 7 0;");
  EXPECT_EQ(measure(3), "");
  EXPECT_EQ(text_of({source.appear(7)}), "appeared 7 0;");
  EXPECT_EQ(measure(1), "");
}

TEST_F(happenings, threads_lack_cpus_and_have_them_again) {
  const auto delayed = [&](double share) { return figures_of({{std::string(figures::run_delay_share), share}}); };
  EXPECT_EQ(delayed(0.05), "");
  EXPECT_EQ(delayed(0.25), "crowded 0 0.25;");
  EXPECT_EQ(delayed(0.5), "");
  EXPECT_EQ(delayed(0.05), "") << "neither";
  EXPECT_EQ(figures_of({}), "") << "not known";
  EXPECT_EQ(delayed(0.01), "calm 0 0.01;");
  EXPECT_EQ(delayed(0), "");
}

TEST_F(happenings, another_number_of_cpus) {
  const auto cpus = [&](double allowed, double quota) {
    return figures_of({{std::string(figures::allowed_cpus), allowed}, {std::string(figures::quota_cpus), quota}});
  };
  EXPECT_EQ(cpus(8, 0), "");
  EXPECT_EQ(cpus(8, 0), "");
  EXPECT_EQ(cpus(4, 0), "cpus 0 4;");
  EXPECT_EQ(cpus(4, 2.5), "cpus 0 2.5;");
  EXPECT_EQ(cpus(8, 2.5), "") << "the quota is less";
  EXPECT_EQ(cpus(8, 0), "cpus 0 8;");
}

TEST(engine_with_events, triggers_by_what_follows_from_snapshots) {
  scenario simulation;
  std::vector<std::string> called_with;
  simulation.steering.add(std::make_unique<scripted>(
      [&](const view& now, auto&) {
        for (const event& event : now.events) called_with.push_back(event.name);
      },
      "triggered", cadence{0, {"appeared"}}));
  simulation.add({7, "loop", {numbers("chunk", 1, 64, 1)}}, [](const std::vector<knob_value>&, double) { return 0.01; });
  for (int i = 0; i < 20; ++i) simulation.run();
  EXPECT_EQ(called_with, std::vector<std::string>{"appeared"});
}

TEST(engine_with_events, what_is_refused_or_never_was_neither_appears_nor_goes) {
  std::vector<std::string> names_reported;
  engine steering;
  steering.add(std::make_unique<scripted>([&](const view& now, auto&) {
    for (const event& event : now.events) names_reported.push_back(event.name + " " + std::to_string(event.subject));
  }));
  knob unsound = numbers("chunk", 1, 64, 1);
  unsound.initial = 0;
  snapshot now;
  now.appeared = {{1, "a", {numbers("chunk", 1, 64, 1)}}, {2, "b", {unsound}}, {1, "a again", {numbers("chunk", 1, 64, 1)}}};
  now.gone = {2, 3};
  steering.step(now);
  EXPECT_EQ(names_reported, std::vector<std::string>{"appeared 1"});
  names_reported.clear();
  now = {};
  now.time_s = 1;
  now.appeared = {{7, "c", {numbers("chunk", 1, 64, 1)}}, {8, "d", {numbers("chunk", 1, 64, 1)}}};
  now.gone = {1, 1};
  steering.step(now);
  EXPECT_EQ(names_reported, (std::vector<std::string>{"appeared 7", "appeared 8", "gone 1"}));
  names_reported.clear();
  now = {};
  now.time_s = 2;
  steering.step(now);
  EXPECT_EQ(names_reported, std::vector<std::string>{});
}

}  // namespace
}  // namespace trimtab::steer::testing
