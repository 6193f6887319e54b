// Every policy decides again what it decided in a run, from what the run has written down.
#include "trimtab/steer/replay.hpp"

#include <algorithm>

#include "scenario.hpp"
#include "trimtab/steer/conductor.hpp"
#include "trimtab/steer/diagnosis.hpp"
#include "trimtab/steer/memory_policy.hpp"
#include "trimtab/steer/placement.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/recording_writer.hpp"
#include "trimtab/steer/tasks_figures.hpp"
#include "trimtab/steer/tasks_priority.hpp"
#include "trimtab/steer/tasks_scheduler.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"
#include "trimtab/steer/wait_policy.hpp"

namespace trimtab::steer::testing {
namespace {

const std::vector<setting> earlier_runs{{"key of a loop", {{"schedule", "dynamic"}, {"chunk", "8"}}}};

point same_when_static(point at) {
  if (at[0] == 0) at[1] = 1;
  return at;
}

// An engine as a description says, or as a recording does: policies are told of subjects by what was written down of them.
struct described_engine {
  explicit described_engine(const recording_head& head, std::function<double()> clock = {})
      : steering([&] {
          engine_options options = options_of(head);
          options.clock = std::move(clock);
          return options;
        }()) {
    const policy_context context{head.settings, [this](const subject_info& of) { return keys[of.id]; },
                                 [](const subject_info& of) -> std::function<point(point)> {
                                   if (!of.place_of("schedule")) return {};
                                   return same_when_static;
                                 }};
    for (const policy_description& policy : head.policies) {
      made_policy fresh = make_policy(policy, context);
      EXPECT_EQ(fresh.mistake, "");
      if (fresh.made) steering.add(std::move(fresh.made));
    }
  }
  std::map<subject_id, std::string> keys;
  engine steering;
};

// A program and a machine made up by lot, with all that any policy wants to know: others come and go, owners refuse,
// subjects appear and go.
class made_up_run {
 public:
  explicit made_up_run(const recording_head& head, std::function<double()> clock = {})
      : m_engine(head, std::move(clock)),
        m_has_kinds(std::any_of(head.policies.begin(), head.policies.end(),
                                [](const policy_description& each) { return each.kind == "initiating-priority"; })),
        m_has_memory(std::any_of(head.policies.begin(), head.policies.end(),
                                 [](const policy_description& each) { return each.kind == "memory"; })) {
    writer = std::make_unique<recording_writer>(head, recording_writer::into{[this](std::string_view text_more) {
                                                                               text += text_more;
                                                                               return 0;
                                                                             },
                                                                             {}});
  }

  void run(double end_s) {
    while (m_time_s < end_s) step(false);
    step(true);
  }
  std::vector<policy_report> reports() const { return m_engine.steering.reports(); }

  std::string text;
  std::vector<decision> decisions;
  std::size_t refused = 0;
  std::unique_ptr<recording_writer> writer;

 private:
  struct its {
    std::vector<knob_value> values;
    decision_number under = 0;
  };
  static subject_info info_of(subject_id id) {
    if (id == 9) return {9, "runtime 1", {numbers("workers", 1, 8, 8)}};
    knob trials = numbers(std::string(knobs::trial_members), 0, 16, 0);
    knob dips = numbers(std::string(knobs::barrier_members), 0, 16, 0);
    if (id == 8) return {8, "teams", {numbers("threads", 1, 8, 8), trials, dips}};
    if (id == 10) return {10, "waits", {numbers("blocktime", 0, 200, 200)}};
    if (id == 11) return {11, "places", {numbers("moved", 0, 1000, 0)}};
    if (id == 12)
      return {12, "runtime 1", {kinds(std::string(scheduler_choice::knob), {"static-priority", "local-priority"})}};
    if (id == 13)
      return {13, "tasks", {kinds("priority:a", {"low", "normal", "high"}), kinds("priority:b", {"low", "normal", "high"})}};
    if (id == 14)
      return {
          14,
          "memory",
          {kinds(std::string(knobs::keep_memory), {"as-is", "keep"}), kinds(std::string(knobs::huge_pages), {"off", "on"})}};
    knob schedule = kinds("schedule", {"static", "dynamic", "guided"});
    schedule.remedies = {{std::string(causes::imbalance), {1, 2}}};
    return {id, "loop " + std::to_string(id), {schedule, numbers("chunk", 1, 64, 1)}};
  }

  void appear(subject_id id, snapshot& now) {
    const subject_info info = info_of(id);
    its& fresh = m_subjects[id];
    fresh = {};
    for (const knob& knob : info.knobs) fresh.values.push_back(knob.initial);
    m_knobs.add(
        info,
        [this, &fresh](std::uint32_t knob, knob_value to) {
          if (m_lots.below(40) == 0) return false;
          fresh.values[knob] = to;
          return true;
        },
        [&fresh](decision_number number) { fresh.under = number; });
    now.appeared.push_back(info);
    m_engine.keys[id] = id % 2 == 1 ? "key of a loop" : "";
    writer->about({id, m_engine.keys[id], id + 100});
  }

  double seconds_of(const its& times) {
    const double poor =
        times.values.size() == 2 ? (times.values[0] == 0 ? 1.6 : 1 + 1.0 / static_cast<double>(times.values[1])) : 1;
    return 0.002 * poor * (1 + 0.05 * m_lots.share()) * (m_is_crowded ? 1.5 : 1);
  }

  std::vector<figure> figures_now() {
    const auto figure_of = [](std::string_view name, double value) { return figure{std::string(name), value}; };
    const double crowd = m_is_crowded ? 0.4 + 0.3 * m_lots.share() : 0.004 * m_lots.share();
    return {figure_of(figures::windows, static_cast<double>(m_step / 8)),
            figure_of(figures::evaluations, static_cast<double>(m_step / 3)),
            figure_of(figures::run_delay_share, crowd),
            figure_of(figures::wait_seconds, m_is_crowded ? 0.4e-3 : 0.05e-3),
            figure_of(figures::sharing_threads, m_is_crowded ? 2 : 0),
            figure_of(figures::idle_cpus, m_is_crowded ? 0 : 3),
            figure_of(figures::allowed_cpus, 8),
            figure_of(figures::passage_seconds, m_is_crowded ? 4e-3 : 1e-6),
            figure_of(figures::iterations_spread, m_is_crowded ? 900 : 40),
            figure_of(figures::dip_seconds, 1e-6),
            figure_of(figures::dip_members, 4),
            figure_of(figures::load_readings, static_cast<double>(m_step / 12)),
            figure_of(figures::load_average, m_is_crowded ? 9 : 2),
            figure_of(figures::online_cpus, 8),
            figure_of(figures::region_seconds, 40e-6),
            figure_of(figures::team_trials, static_cast<double>(m_step / 50)),
            figure_of(figures::trial_ratio, 0.8),
            figure_of(figures::imbalance, 1.8),
            figure_of(figures::queue_length, m_lots.share() * (m_is_crowded ? 40 : 4)),
            figure_of(figures::work_share, 0.9),
            figure_of("delayed_share:a", m_is_crowded ? 0.2 : 0.01),
            figure_of("chain_share:b", m_is_crowded ? 0.2 : 0.01),
            figure_of(figures::refault_share, m_is_crowded ? 0.2 : 0.01),
            figure_of(figures::kernel_share, 0.3 * m_lots.share()),
            figure_of(figures::memory_rise, 0.05),
            figure_of(figures::watts, m_is_crowded ? 140 : 60),
            figure_of(figures::cpus, 4),
            figure_of(figures::workers, 4),
            figure_of(figures::idle_share, 0.5),
            figure_of(figures::workless_share, m_is_crowded ? 0.5 : 0.1),
            figure_of(figures::cpu_share, 0.99)};
  }

  void step(bool is_last) {
    snapshot now;
    m_is_crowded = (m_step / 200) % 2 == 1;
    if (m_step == 0)
      for (const subject_id id : {1u, 2u, 8u, 9u, 10u, 11u, 12u}) appear(id, now);
    if (m_step == 0 && m_has_kinds) appear(13, now);
    if (m_step == 0 && m_has_memory) appear(14, now);
    if (m_step % 500 == 499) {
      m_knobs.remove(1);
      m_subjects.erase(1);
      now.gone.push_back(1);
    }
    if (m_step % 500 == 0 && m_step > 0) appear(1, now);  // the number comes to stand for another
    for (auto& [id, each] : m_subjects) {
      subject_state state{id, {}, figures_now()};
      for (int i = 0; i < 3 && id != 11; ++i) {  // nobody measures that one
        const double took = seconds_of(each);
        state.measured.push_back({each.under, took, took});
        m_time_s += took;
      }
      now.subjects.push_back(std::move(state));
    }
    now.figures = figures_now();
    now.time_s = m_time_s;
    now.is_last = is_last;
    m_step += 1;
    m_steers.advance(std::move(now));
  }

  described_engine m_engine;
  bool m_has_kinds, m_has_memory;  // only for whom it concerns: each subject more changes what the others do
  board m_knobs;
  conductor m_steers{m_engine.steering, m_knobs, [] { return 0.0; },
                     [this](const decision& made, bool is_applied) {
                       decisions.push_back(made);
                       refused += !is_applied;
                       if (!is_applied) writer->unapplied(made.number);
                     },
                     [this](const snapshot& told, decision_number decided) { writer->step(told, decided); }};
  std::map<subject_id, its> m_subjects;
  random_source m_lots{17};
  double m_time_s = 0;
  std::uint64_t m_step = 0;
  bool m_is_crowded = false;
};

struct replayed_run {
  std::vector<decision> decisions;
  std::size_t unapplied = 0;
  std::optional<replay_difference> difference;
  std::vector<policy_report> reports;
};
replayed_run replay_of(const recording& recorded) {
  described_engine engine_again(recorded.head);
  replayed_run replayed;
  replayed.difference = replay(recorded, engine_again.steering,
                               {[&](const recorded_step& next) {
                                  for (const recorded_subject& subject : next.about)
                                    engine_again.keys[subject.id] = subject.key;
                                },
                                [&](const decision& decision_made, const recorded_step&, bool is_applied) {
                                  replayed.decisions.push_back(decision_made);
                                  replayed.unapplied += !is_applied;
                                }});
  replayed.reports = engine_again.steering.reports();
  return replayed;
}

recording_head head_with(std::vector<policy_description> policies) {
  engine_options options;
  options.budget_share = 0.2;
  recording_head head = head_of(options);
  head.policies = std::move(policies);
  head.settings = earlier_runs;
  return head;
}

using policies = std::vector<policy_description>;
class replayed_policies : public ::testing::TestWithParam<policies> {};

TEST_P(replayed_policies, decide_what_they_decided) {
  made_up_run made_up(head_with(GetParam()));
  made_up.run(40);
  for (const policy_description& description : GetParam())
    EXPECT_TRUE(std::any_of(made_up.decisions.begin(), made_up.decisions.end(),
                            [&](const decision& made) { return made.policy == description.kind; }))
        << description.kind << " decides something";
  const recording read = recording_from_text(made_up.text);
  ASSERT_EQ(read.error, "");
  const replayed_run replayed = replay_of(read);
  EXPECT_EQ(replayed.difference, std::nullopt);
  EXPECT_EQ(replayed.decisions, made_up.decisions);
  EXPECT_EQ(replayed.unapplied, made_up.refused);
}

INSTANTIATE_TEST_SUITE_P(
    all, replayed_policies,
    ::testing::Values(policies{{"history"}}, policies{{"tuner", {{"seed", "7"}, {"same-points", "loops"}}}},
                      policies{{"history"},
                               {"fit", {{"tunables", "calm_s=0.3"}}},
                               {"placement"},
                               {"tuner", {{"search", "hill-climbing"}, {"leaves", "blocktime"}}},
                               {"wait-policy"}},
                      policies{{"asat-v1", {{"tunables", "bad_trig=1"}}}},
                      policies{{"asat-v2", {{"tunables", "good_trig=4"}}}},
                      policies{{"asat-v1-timed", {{"tunables", "good_trig=4"}}}}, policies{{"asat-v2-reset"}},
                      policies{{"wait-policy"}}, policies{{"placement"}}, policies{{"queue-length"}},
                      policies{{"tuner", {{"leaves", "blocktime,keep"}}}, {"memory"}},
                      policies{{"power-limit", {{"watts", "100"}}}}, policies{{"oversubscription"}, {"tuner"}},
                      policies{{"fit", {{"knob", "workers"}}}}, policies{{"arcs-online"}},
                      policies{{"arcs-offline", {{"seed", "3"}}}}, policies{{"shuffle", {{"seed", "5"}}}},
                      policies{{"scheduler", {{"seed", "9"}}}}, policies{{"initiating-priority", {{"seed", "4"}}}}),
    [](const auto& of) {
      std::string name;
      for (const policy_description& each : of.param) name += (name.empty() ? "" : "_") + each.kind;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

// What a clock said of a policy is written down.
TEST(replayed_runs, know_which_policies_were_slow) {
  double clock = 0;
  made_up_run made_up(head_with({{"shuffle"}, {"tuner"}}), [&clock] { return clock += clock > 60 ? 1.0 : 0.09; });
  made_up.run(40);
  ASSERT_FALSE(made_up.reports().front().is_enabled);
  const replayed_run replayed = replay_of(recording_from_text(made_up.text));
  EXPECT_EQ(replayed.difference, std::nullopt);
  EXPECT_EQ(replayed.decisions, made_up.decisions);
  EXPECT_FALSE(replayed.reports.front().is_enabled);
}

TEST(replayed_runs, that_were_cut_off_go_as_far) {
  made_up_run made_up(head_with({{"tuner"}, {"placement"}}));
  made_up.run(20);
  random_source lots(5);
  for (int i = 0; i < 20; ++i) {
    const recording read = recording_from_text(std::string_view(made_up.text).substr(0, lots.below(made_up.text.size())));
    ASSERT_EQ(read.error, "");
    const replayed_run replayed = replay_of(read);
    EXPECT_EQ(replayed.difference, std::nullopt);
    ASSERT_LE(replayed.decisions.size(), made_up.decisions.size());
    EXPECT_TRUE(std::equal(replayed.decisions.begin(), replayed.decisions.end(), made_up.decisions.begin()));
  }
}

TEST(replayed_runs, show_what_is_another) {
  made_up_run made_up(head_with({{"tuner"}}));
  made_up.run(20);
  recording read = recording_from_text(made_up.text);
  ASSERT_EQ(replay_of(read).difference, std::nullopt);
  read.head.policies.clear();
  const auto difference = replay_of(read).difference;
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->found, 0u);
  EXPECT_GT(difference->recorded, 0u);
  EXPECT_EQ(difference->time_s, read.steps[difference->step].told.time_s);
  recording other = recording_from_text(made_up.text);
  for (recorded_step& step : other.steps)
    for (subject_state& its : step.told.subjects)
      for (measurement& taken : its.measured) taken.value = 1;
  EXPECT_NE(replay_of(other).decisions, made_up.decisions) << "nothing is better than anything";
}

// What stands behind a kind reaches the policy: others decide otherwise on the same snapshots.
TEST(replayed_runs, are_by_the_options_that_were_written_down) {
  const std::vector<std::pair<policy_description, policy_description>> pairs{
      {{"shuffle", {{"seed", "5"}}}, {"shuffle", {{"seed", "6"}}}},
      {{"tuner", {{"seed", "5"}, {"search", "random"}}}, {"tuner", {{"seed", "6"}, {"search", "random"}}}},
      {{"tuner", {{"search", "exhaustive"}, {"same-points", "loops"}}}, {"tuner", {{"search", "exhaustive"}}}},
      {{"tuner", {{"leaves", "schedule"}}}, {"tuner"}},
      {{"tuner", {{"search", "hill-climbing"}}}, {"tuner"}},
      {{"fit", {{"knob", "workers"}}}, {"fit"}},
      {{"fit", {{"tunables", "calm_s=1.5"}}}, {"fit"}},
      {{"asat-v1", {{"tunables", "bad_trig=4"}}}, {"asat-v1"}},
      {{"asat-v2", {{"tunables", "bad_trig=1"}}}, {"asat-v2"}},
      {{"asat-v1-timed", {{"tunables", "bad_trig=4"}}}, {"asat-v1-timed"}},
      {{"asat-v2-reset", {{"tunables", "bad_trig=1"}}}, {"asat-v2-reset"}},
      {{"power-limit", {{"watts", "100"}}}, {"power-limit", {{"watts", "120"}}}},
      {{"history"}, {"placement"}},
  };
  for (const auto& [own, other] : pairs) {
    made_up_run made_up(head_with({own}));
    made_up.run(40);
    recording read = recording_from_text(made_up.text);
    ASSERT_EQ(replay_of(read).difference, std::nullopt) << to_line(own);
    read.head.policies = {other};
    EXPECT_NE(replay_of(read).decisions, made_up.decisions) << to_line(own) << " and " << to_line(other);
  }
}

}  // namespace
}  // namespace trimtab::steer::testing
