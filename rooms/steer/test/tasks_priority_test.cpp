// Priorities of kinds of task, on a simulated machine of 16 workers. Seeded.
#include "trimtab/steer/tasks_priority.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "task_graph_machine.hpp"
#include "trimtab/steer/board.hpp"
#include "trimtab/steer/engine.hpp"

namespace trimtab::steer::testing {
namespace {

constexpr std::size_t workers = 16;

// A program that runs the same graph again and again, each time a measurement of all its kinds.
class repeated_graph {
 public:
  explicit repeated_graph(std::vector<graph_task> tasks, double noise = 0.03, std::uint64_t seed = 1)
      : m_tasks(std::move(tasks)), m_noise(noise), m_random(seed) {
    const domain levels = certain(domain::categories({"low", "normal", "high"}));
    m_steering.add(std::make_unique<initiating_priority>(priority_options{.seed = seed}));
    subject_info info{subject, "tasks of a runtime", {}};
    for (std::size_t kind = 0; kind < cg_kinds; ++kind)
      info.knobs.push_back({"priority:" + std::to_string(kind), levels, 1, 0, consent::safe, 0, {}});
    m_knobs.add(
        info,
        [this](std::uint32_t kind, knob_value to) {
          m_level[kind] = to;
          return true;
        },
        [this](decision_number number) { m_under = number; });
    snapshot now;
    now.appeared.push_back(info);
    step(now);
  }

  void run(int times) {
    while (times-- > 0) {
      std::vector<int> priorities;
      for (const knob_value level : m_level) priorities.push_back(2 - static_cast<int>(level));
      const graph_result result = run_graph(m_tasks, workers, priorities);
      exact_seconds = result.seconds;
      const double seconds = result.seconds * (1 + m_noise * (2 * m_random.share() - 1));
      m_time_s += seconds;
      total_s += result.seconds;
      snapshot now;
      now.subjects.push_back({subject, {{m_under, seconds, seconds}}, {}});
      for (std::size_t kind = 0; kind < cg_kinds && has_evidence; ++kind) {
        const std::string name = std::to_string(kind);
        now.subjects[0].figures.push_back({std::string(figures::chain_share) + name, result.chain_share[kind]});
        now.subjects[0].figures.push_back({std::string(figures::delayed_share) + name, result.delayed_share[kind]});
      }
      step(now);
    }
  }
  void end() {
    snapshot last;
    last.is_last = true;
    step(last);
  }
  std::string accepted(std::size_t kind) const {
    const char* names[] = {"low", "normal", "high"};
    return names[m_knobs.accepted(subject)[kind]];
  }
  knob_value level(std::size_t kind) const { return m_level[kind]; }
  bool is_enabled() const { return m_steering.reports()[0].is_enabled; }

  bool has_evidence = true;
  double exact_seconds = 0, total_s = 0;
  std::vector<decision> log;

 private:
  static constexpr subject_id subject = 1;
  void step(snapshot now) {
    now.time_s = m_time_s;
    for (const decision& decision_made : m_steering.step(now)) {
      EXPECT_TRUE(m_knobs.apply(decision_made));
      log.push_back(decision_made);
    }
  }

  std::vector<graph_task> m_tasks;
  double m_noise;
  random_source m_random;
  engine m_steering;
  board m_knobs;
  std::vector<knob_value> m_level = std::vector<knob_value>(cg_kinds, 1);
  decision_number m_under = 0;
  double m_time_s = 0;
};

std::vector<graph_task> usual_graph() { return conjugate_gradient(20, workers, {4e-3, 2e-3, 3e-3, 3e-3}); }

TEST(tasks_priority, the_simulation_charges_what_waited_for_a_worker) {
  const graph_result result = run_graph(usual_graph(), workers, std::vector<int>(cg_kinds, 1));
  // A step: 4 for the product, 2 for its sum, 3 for each update, 2 for the sum of the second; the sums let 15 workers idle.
  EXPECT_NEAR(result.seconds, 20 * 14e-3, 1e-9);
  EXPECT_GT(result.delayed_share[update_r], 0.1);
  EXPECT_EQ(result.delayed_share[update_x], 0);
  EXPECT_EQ(result.delayed_share[product], 0);
}

TEST(tasks_priority, the_initiating_kind_is_raised_proved_and_kept) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    repeated_graph program(usual_graph(), 0.03, seed);
    program.run(1);
    const double before = program.exact_seconds;
    program.run(80);
    EXPECT_TRUE(program.is_enabled());
    EXPECT_EQ(program.accepted(update_r), "high");
    EXPECT_EQ(program.accepted(update_x), "normal");
    // The bar: a tenth shorter.
    EXPECT_LE(program.exact_seconds, 0.9 * before);
    const auto kept = std::find_if(program.log.begin(), program.log.end(),
                                   [](const decision& entry) { return entry.what == outcome::kept; });
    ASSERT_NE(kept, program.log.end());
    EXPECT_NEAR(kept->gain.gain, 1 - program.exact_seconds / before, 0.03);
    EXPECT_NE(kept->reason.find("had waited for a worker"), std::string::npos);
  }
}

TEST(tasks_priority, what_does_not_help_is_undone_and_not_tried_again) {
  // With one worker there is always a task: the order does not matter, but somebody claims that it does.
  int kept = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<graph_task> tasks;
    for (std::size_t part = 0; part < workers; ++part) tasks.push_back({update_r, 1e-3, {}});
    tasks.push_back({sum, 1e-3, {0}});
    for (std::size_t part = 0; part < workers; ++part) tasks.push_back({product, 1e-3, {workers}});
    for (std::size_t part = 0; part < 2 * workers; ++part) tasks.push_back({update_x, 1e-3, {}});
    repeated_graph program(tasks, 0.1, seed);
    program.run(300);
    EXPECT_TRUE(program.is_enabled());
    for (std::size_t kind = 0; kind < cg_kinds; ++kind)
      if (program.accepted(kind) == "normal") {
        EXPECT_EQ(program.level(kind), 1);
      }
    kept += std::any_of(program.log.begin(), program.log.end(),
                        [](const decision& entry) { return entry.what == outcome::kept; });
    const std::size_t log_size = program.log.size();
    program.run(100);
    EXPECT_EQ(program.log.size(), log_size);
  }
  EXPECT_LE(kept, 5);
}

TEST(tasks_priority, without_evidence_nothing_is_tried) {
  repeated_graph program(usual_graph());
  program.has_evidence = false;
  program.run(100);
  EXPECT_TRUE(program.log.empty());
}

TEST(tasks_priority, what_is_on_trial_when_the_program_ends_is_undone) {
  repeated_graph program(usual_graph());
  for (int times = 0; times < 100 && program.level(update_r) == 1; ++times) program.run(1);
  ASSERT_EQ(program.level(update_r), 2);
  ASSERT_EQ(program.accepted(update_r), "normal");
  program.end();
  EXPECT_EQ(program.level(update_r), 1);
  EXPECT_EQ(program.log.back().what, outcome::undone);
}

}  // namespace
}  // namespace trimtab::steer::testing
