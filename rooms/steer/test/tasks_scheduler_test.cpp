// The choice of a scheduling policy, for runtimes that exist only as figures: how long the same work takes under each policy
// is a table. Seeded.
#include "trimtab/steer/tasks_scheduler.hpp"

#include <gtest/gtest.h>

#include <map>

#include "trimtab/steer/board.hpp"
#include "trimtab/steer/engine.hpp"
#include "trimtab/steer/tasks_figures.hpp"

namespace trimtab::steer::testing {
namespace {

constexpr subject_id place = 1;

// Runtimes that follow one another, each a measurement: so many seconds under each policy.
class successors {
 public:
  using table = std::map<std::string, double>;

  successors(const std::string& first, table seconds, double noise = 0.02, std::uint64_t seed = 1)
      : m_seconds(std::move(seconds)), m_noise(noise), m_random(seed) {
    const std::vector<std::string> names{"local",     "local-priority",  "abp-priority",
                                         "hierarchy", "static-priority", "periodic-priority"};
    const domain all = certain(domain::categories(names));
    m_info = {place, "runtime 1", {{"scheduler", all, all.value_of(first).value_or(0), 0, consent::safe, 0, {}}}};
    m_in_force = m_info.knobs[0].initial;
    m_steering.add(std::make_unique<scheduler_choice>(scheduler_options{.seed = seed}));
    m_knobs.add(
        m_info,
        [this](std::uint32_t, knob_value to) {
          m_in_force = to;
          return true;
        },
        [this](decision_number number) { m_under = number; });
    snapshot now;
    now.appeared = {m_info};
    step(now);
  }

  // What each runtime shows: by default what speaks against static-priority.
  std::vector<figure> figures{
      {std::string(figures::idle_share), 0.5}, {std::string(figures::imbalance), 1.9}, {std::string(figures::workers), 2}};
  bool is_measured = true;

  void run(int runtimes) {
    while (runtimes-- > 0) {
      const double seconds = m_seconds.at(in_force()) * (1 + m_noise * (2 * m_random.share() - 1));
      ran.push_back(in_force());
      m_time_s += seconds;
      snapshot now;
      now.subjects.push_back({place, {}, figures});
      if (is_measured) now.subjects[0].measured.push_back({m_under, seconds, seconds});
      step(now);
    }
  }
  void end() {
    snapshot last;
    last.is_last = true;
    step(last);
  }
  std::string in_force() const { return m_info.knobs[0].values.text_of(m_in_force); }
  std::string accepted() const { return m_info.knobs[0].values.text_of(m_knobs.accepted(place)[0]); }
  bool is_enabled() const { return m_steering.reports()[0].is_enabled; }
  const decision* last(outcome result_kind) const {
    const decision* last_found = nullptr;
    for (const decision& decision : log)
      if (decision.what == result_kind) last_found = &decision;
    return last_found;
  }

  std::vector<std::string> ran;
  std::vector<decision> log;

 private:
  void step(snapshot now) {
    now.time_s = m_time_s;
    for (const decision& decision_made : m_steering.step(now)) {
      EXPECT_TRUE(m_knobs.apply(decision_made));
      log.push_back(decision_made);
    }
  }

  table m_seconds;
  double m_noise;
  random_source m_random;
  subject_info m_info;
  engine m_steering;
  board m_knobs;
  knob_value m_in_force = 0;
  decision_number m_under = 0;
  double m_time_s = 0;
};

TEST(tasks_scheduler, what_measurements_speak_for_is_tried_proved_and_kept) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    successors runtimes("static-priority", {{"static-priority", 2}, {"local-priority", 1}}, 0.1, seed);
    runtimes.run(60);
    EXPECT_TRUE(runtimes.is_enabled());
    EXPECT_EQ(runtimes.accepted(), "local-priority");
    const decision* const kept = runtimes.last(outcome::kept);
    ASSERT_NE(kept, nullptr);
    EXPECT_NEAR(kept->gain.gain, 0.5, 0.06);
    EXPECT_GE(kept->gain.pairs, 5u);
    EXPECT_NE(kept->reason.find("static-priority lets nobody take over"), std::string::npos) << kept->reason;
    EXPECT_EQ(kept->evidence, runtimes.figures);
    // And it stays, without further trials.
    const std::size_t log_size = runtimes.log.size();
    runtimes.run(60);
    EXPECT_EQ(runtimes.log.size(), log_size);
    EXPECT_EQ(runtimes.ran.back(), "local-priority");
  }
}

TEST(tasks_scheduler, what_is_no_better_is_undone_and_not_tried_again) {
  int kept = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    successors runtimes("static-priority", {{"static-priority", 1}, {"local-priority", 1}}, 0.2, seed);
    runtimes.run(400);
    kept += runtimes.last(outcome::kept) != nullptr;
    if (runtimes.last(outcome::kept) != nullptr) continue;
    EXPECT_EQ(runtimes.in_force(), "static-priority");
    const std::size_t log_size = runtimes.log.size();
    runtimes.run(200);
    EXPECT_EQ(runtimes.log.size(), log_size);
  }
  // Of equals 5 % would be too many by chance; of 40 more than 6 hardly come by it.
  EXPECT_LE(kept, 6);
}

TEST(tasks_scheduler, what_is_far_worse_is_given_up_after_two_pairs) {
  successors runtimes("static-priority", {{"static-priority", 1}, {"local-priority", 3}});
  runtimes.run(400);
  EXPECT_EQ(runtimes.accepted(), "static-priority");
  EXPECT_EQ(runtimes.in_force(), "static-priority");
  EXPECT_LE(std::count(runtimes.ran.begin(), runtimes.ran.end(), "local-priority"), 2);
}

TEST(tasks_scheduler, nothing_is_tried_that_nothing_speaks_for_or_that_nobody_measures) {
  successors even("static-priority", {{"static-priority", 2}, {"local-priority", 1}});
  even.figures = {{std::string(figures::idle_share), 0.1}, {std::string(figures::workers), 2}};
  even.run(100);
  EXPECT_TRUE(even.log.empty());

  successors unmeasured("static-priority", {{"static-priority", 2}, {"local-priority", 1}});
  unmeasured.is_measured = false;
  unmeasured.run(100);
  EXPECT_TRUE(unmeasured.log.empty());
}

TEST(tasks_scheduler, an_order_that_suits_caches_is_tried_where_tasks_come_out_of_queues) {
  successors runtimes("local-priority", {{"local-priority", 1.3}, {"abp-priority", 1}});
  runtimes.figures = {{std::string(figures::queued_share), 0.95},
                      {std::string(figures::task_seconds), 5e-5},
                      {std::string(figures::workers), 1}};
  runtimes.run(80);
  EXPECT_EQ(runtimes.accepted(), "abp-priority");
}

TEST(tasks_scheduler, what_is_on_trial_when_the_process_ends_is_undone) {
  successors runtimes("static-priority", {{"static-priority", 2}, {"local-priority", 1}});
  while (runtimes.in_force() == "static-priority" && runtimes.ran.size() < 100) runtimes.run(1);
  ASSERT_EQ(runtimes.in_force(), "local-priority");
  runtimes.end();
  EXPECT_EQ(runtimes.in_force(), "static-priority");
  EXPECT_EQ(runtimes.log.back().what, outcome::undone);
}

}  // namespace
}  // namespace trimtab::steer::testing
