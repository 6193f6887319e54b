// What every policy that fits threads keeps to; and the published ones.
#include <cmath>
#include <limits>

#include "thread_fitting_harness.hpp"
#include "trimtab/steer/history_policy.hpp"
#include "trimtab/steer/random.hpp"

namespace trimtab::steer::testing {
namespace {

struct kind {
  const char* name;
  std::function<std::unique_ptr<policy>()> make;
};

class every_fitting_policy : public ::testing::TestWithParam<kind> {
 protected:
  // Figures that each of them takes for too many threads, or for too few.
  static knob_value look(fitted_process& process_run, bool is_bad) {
    static double evaluation = 0;
    evaluation += 1;
    return process_run.look({{figures::evaluations, evaluation},
                             {figures::passage_seconds, is_bad ? 0.02 : 1e-6},
                             {figures::iterations_spread, is_bad ? 900 : 70},
                             {figures::dip_seconds, is_bad ? 0.02 : 1e-6},
                             {figures::dip_members, static_cast<double>(process_run.threads() + 1)},
                             {figures::load_readings, evaluation},
                             {figures::load_average, is_bad ? 8 : 1},
                             {figures::online_cpus, 8},
                             {figures::run_delay_share, is_bad ? 0.4 : 0},
                             {figures::idle_cpus, is_bad ? 0 : 3}});
  }
  static knob_value looks(fitted_process& process_run, int times, bool is_bad) {
    for (int i = 0; i < times; ++i) look(process_run, is_bad);
    return process_run.threads();
  }
};

TEST_P(every_fitting_policy, goes_down_to_one_and_up_again_by_rules_that_cost_nothing) {
  fitted_process process_run(GetParam().make());
  process_run.add_process(4);
  EXPECT_EQ(looks(process_run, 40, true), 1);
  EXPECT_EQ(looks(process_run, 400, false), 4);
  ASSERT_FALSE(process_run.log.empty());
  for (const decision& decision : process_run.log) {
    EXPECT_EQ(decision.what, outcome::set);
    EXPECT_FALSE(decision.reason.empty());
    EXPECT_FALSE(decision.evidence.empty());
  }
  EXPECT_EQ(process_run.steering.spent().spent_s(), 0);
  EXPECT_EQ(process_run.steering.reports().front().refused, 0u);
}

TEST_P(every_fitting_policy, does_nothing_without_figures_and_with_nonsense) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  for (const double value : {nan, infinite, -1.0, -infinite}) {
    fitted_process process_run(GetParam().make());
    process_run.add_process(4);
    process_run.looks(30, {});
    for (int i = 0; i < 30; ++i)
      process_run.look({{figures::evaluations, i},
                        {figures::passage_seconds, value},
                        {figures::iterations_spread, value},
                        {figures::dip_seconds, value},
                        {figures::dip_members, value},
                        {figures::load_readings, i},
                        {figures::load_average, value},
                        {figures::online_cpus, value},
                        {figures::run_delay_share, value},
                        {figures::idle_cpus, value},
                        {figures::skew_seconds, value},
                        {figures::others, value},
                        {figures::registry_share, value},
                        {figures::quota_cpus, value}});
    EXPECT_EQ(process_run.threads(), 4) << value;
    EXPECT_TRUE(process_run.steering.reports().front().is_enabled);
  }
}

TEST_P(every_fitting_policy, stays_within_every_domain_whatever_it_is_told) {
  random_source random(11);
  fitted_process process_run(GetParam().make());
  process_run.add({1, "a", {numbers("threads", 1, 6, 6)}});
  process_run.add({2, "b", {{"threads", *domain::powers_of_two(1, 8), 8, 0, consent::safe, 0, {}}}});
  process_run.add({3, "c", {kinds("schedule", {"static", "dynamic"}), numbers("threads", 2, 4, 4)}});
  bool is_bad = false;
  const auto maybe = [&](double good, double bad) {
    return random.share() < 0.9 ? (is_bad ? bad : good) * random.share() : -1;
  };
  for (int i = 0; i < 5000; ++i) {
    if (random.share() < 0.02) is_bad = !is_bad;
    process_run.look({{figures::evaluations, i},
                      {figures::passage_seconds, maybe(0.0011, 0.01)},
                      {figures::passage_members, maybe(9, 9)},
                      {figures::dip_seconds, maybe(0.0011, 0.01)},
                      {figures::dip_members, std::round(maybe(9, 9))},
                      {figures::load_readings, i / 10},
                      {figures::load_average, maybe(9, 12)},
                      {figures::online_cpus, 8},
                      {figures::iterations_spread, maybe(420, 1000)},
                      {figures::run_delay_share, maybe(0.02, 1)},
                      {figures::throttled_share, maybe(0.01, 0.2)},
                      {figures::idle_cpus, 4 + maybe(4, -4)},
                      {figures::skew_seconds, maybe(0.001, 0.02)},
                      {figures::others, maybe(0.9, 3)},
                      {figures::registry_share, maybe(9, 9)},
                      {figures::quota_cpus, maybe(40, 40)}});
  }
  EXPECT_GT(process_run.log.size(), 10u);
  EXPECT_TRUE(process_run.steering.reports().front().is_enabled) << process_run.steering.reports().front().why_disabled;
  EXPECT_EQ(process_run.steering.reports().front().refused, 0u);
  EXPECT_EQ(process_run.knobs.values(3)[0], 0) << "not a knob of its";
}

TEST_P(every_fitting_policy, asks_for_consent_where_a_knob_needs_it) {
  for (const bool has_consent : {false, true}) {
    engine_options options;
    options.has_consent = has_consent;
    fitted_process process_run(GetParam().make(), options);
    subject_info asking{1, "process", {numbers("threads", 1, 4, 4)}};
    asking.knobs[0].asks = consent::needed;
    process_run.add(asking);
    EXPECT_EQ(looks(process_run, 40, true), has_consent ? 1 : 4);
    EXPECT_EQ(process_run.steering.counts().consent, 0u) << "it knows";
  }
}

TEST_P(every_fitting_policy, gives_subjects_that_appear_what_there_is_room_for) {
  fitted_process process_run(GetParam().make());
  process_run.add_process(4);
  looks(process_run, 40, true);
  process_run.add({2, "later", {numbers("threads", 1, 8, 8)}});
  look(process_run, true);
  EXPECT_EQ(process_run.threads(2), 1);
  snapshot now;
  now.gone = {1, 2};
  process_run.knobs.remove(1);
  process_run.knobs.remove(2);
  process_run.look(now);
  process_run.add_process(2);
  look(process_run, true);
  EXPECT_EQ(process_run.threads(1), 1);
}

TEST_P(every_fitting_policy, never_goes_beyond_what_the_history_set) {
  engine_options options;
  fitted_process process_run(std::make_unique<history_policy>(std::vector<setting>{{"process", {{"threads", "3"}}}},
                                                              [](const subject_info& subject) { return subject.name; }));
  process_run.steering.add(GetParam().make());
  process_run.add_process(4);
  EXPECT_EQ(looks(process_run, 100, false), 3);
  EXPECT_EQ(looks(process_run, 100, true), 1);
  EXPECT_EQ(looks(process_run, 400, false), 3);
}

// Under a load that it would drop threads for.
TEST_P(every_fitting_policy, is_switched_off_and_on_while_it_runs) {
  const auto looks_while = [](fitted_process& process_run, int times, double is_enabled) {
    static double number = 1e6;
    for (int i = 0; i < times; ++i)
      process_run.look({{figures::fitting, is_enabled},
                        {figures::evaluations, ++number},
                        {figures::passage_seconds, 0.02},
                        {figures::iterations_spread, 900},
                        {figures::run_delay_share, 0.4}});
    return process_run.threads();
  };
  fitted_process process_run(GetParam().make());
  process_run.add_process(4, true);
  EXPECT_EQ(looks_while(process_run, 40, 1), 1);
  EXPECT_EQ(looks_while(process_run, 1, 0), 4) << "as many as the program asks for, at once";
  EXPECT_EQ(process_run.log.back().reason, "it was switched off: as many as the program asks for");
  EXPECT_EQ(process_run.log.back().evidence, (std::vector<figure>{{std::string(figures::fitting), 0}}));
  const std::size_t log_size = process_run.log.size();
  EXPECT_EQ(looks_while(process_run, 100, 0), 4);
  EXPECT_EQ(process_run.log.size(), log_size) << "nothing is judged meanwhile";
  process_run.add({2, "later", {numbers("threads", 1, 6, 6)}});
  looks_while(process_run, 1, 0);
  EXPECT_EQ(process_run.threads(2), 6);
  EXPECT_EQ(looks_while(process_run, 1, 1), 4) << "it begins anew";
  EXPECT_EQ(looks_while(process_run, 60, 1), 1);
  EXPECT_EQ(process_run.threads(2), 1);
  EXPECT_EQ(process_run.steering.reports().front().refused, 0u);
}

template <class policy_kind, class options>
knob_value threads_of_one_begun_off(double threads_reported) {
  fitted_process process_run(std::make_unique<policy_kind>(options{.flag = false}));
  process_run.add_process(4);
  for (int i = 0; i < 60; ++i) {
    snapshot now;
    if (threads_reported >= 0) now.figures.push_back({std::string(figures::fitting), threads_reported});
    now.figures.push_back({std::string(figures::evaluations), static_cast<double>(i + 1)});
    now.figures.push_back({std::string(figures::passage_seconds), 0.02});
    now.figures.push_back({std::string(figures::iterations_spread), 900});
    now.figures.push_back({std::string(figures::run_delay_share), 0.4});
    process_run.look(std::move(now));
  }
  return process_run.threads();
}

TEST(fitting_flag, begins_off_where_its_user_says_so_until_the_program_says_otherwise) {
  for (const double told : {-1.0, 0.0, 1.0}) {
    const knob_value expected = told > 0 ? 1 : 4;
    EXPECT_EQ((threads_of_one_begun_off<asat_v1, asat_v1_options>(told)), expected) << told;
    EXPECT_EQ((threads_of_one_begun_off<asat_v2, asat_v2_options>(told)), expected) << told;
    EXPECT_EQ((threads_of_one_begun_off<asat_v1_timed, asat_v1_timed_options>(told)), expected) << told;
    EXPECT_EQ((threads_of_one_begun_off<asat_v2_reset, asat_v2_reset_options>(told)), expected) << told;
    EXPECT_EQ((threads_of_one_begun_off<fit, fit_options>(told)), expected) << told;
  }
}

INSTANTIATE_TEST_SUITE_P(thread_fitting, every_fitting_policy,
                         ::testing::Values(kind{"asat_v1", [] { return std::make_unique<asat_v1>(); }},
                                           kind{"asat_v2", [] { return std::make_unique<asat_v2>(); }},
                                           kind{"asat_v1_timed", [] { return std::make_unique<asat_v1_timed>(); }},
                                           kind{"asat_v2_reset", [] { return std::make_unique<asat_v2_reset>(); }},
                                           kind{"fit", [] { return std::make_unique<fit>(); }}),
                         [](const auto& of) { return of.param.name; });

struct evaluated : fitted_process {
  using fitted_process::fitted_process;
  double evaluation = 0;
  knob_value passes(int times, double passage, double members = 0) {
    for (int i = 0; i < times; ++i)
      look({{figures::evaluations, ++evaluation}, {figures::passage_seconds, passage}, {figures::passage_members, members}});
    return threads();
  }
};

TEST(asat_v1_timed, goes_by_the_spread_of_empty_iterations) {
  fitted_process process_run(std::make_unique<asat_v1_timed>());
  process_run.add_process(4);
  process_run.look({{figures::evaluations, 1}, {figures::iterations_spread, 401}});
  EXPECT_EQ(process_run.look({{figures::evaluations, 2}, {figures::iterations_spread, 401}}), 3);
  for (int i = 3; i < 17; ++i) process_run.look({{figures::evaluations, i}, {figures::iterations_spread, 399}});
  EXPECT_EQ(process_run.threads(), 3);
  EXPECT_EQ(process_run.look({{figures::evaluations, 17}, {figures::iterations_spread, 399}}), 4);
}

TEST(asat_v2_reset, drops_one_after_bad_trig_passages_in_a_row) {
  evaluated evaluated_run(std::make_unique<asat_v2_reset>());
  evaluated_run.add_process(4);
  EXPECT_EQ(evaluated_run.passes(1, 0.0011), 4);
  EXPECT_EQ(evaluated_run.passes(1, 0.0009), 4);
  EXPECT_EQ(evaluated_run.passes(1, 0.0011), 4) << "a good one lies between";
  EXPECT_EQ(evaluated_run.passes(1, 0.0011), 3);
  EXPECT_EQ(evaluated_run.passes(2, 0.0011), 2);
  evaluated_run.evaluation -= 1;
  EXPECT_EQ(evaluated_run.passes(1, 0.0011), 2);
  evaluated_run.evaluation -= 1;
  EXPECT_EQ(evaluated_run.passes(1, 0.0011), 2) << "the same evaluation, seen again";
}

TEST(asat_v2_reset, dips_a_toe_in_before_it_adds) {
  evaluated evaluated_run(std::make_unique<asat_v2_reset>());
  evaluated_run.add_process(4, true);
  EXPECT_EQ(evaluated_run.passes(4, 0.02), 2);
  evaluated_run.passes(14, 1e-6);
  EXPECT_EQ(evaluated_run.knobs.values(1)[1], 0);
  evaluated_run.passes(1, 1e-6);
  EXPECT_EQ(evaluated_run.knobs.values(1), (std::vector<knob_value>{2, 3})) << "a barrier of three";
  EXPECT_EQ(evaluated_run.passes(1, 1e-6, 2), 2) << "one of two was under way";
  evaluated_run.passes(1, 0.02, 3);
  EXPECT_EQ(evaluated_run.knobs.values(1), (std::vector<knob_value>{2, 0}));
  evaluated_run.passes(15, 1e-6);
  EXPECT_EQ(evaluated_run.knobs.values(1), (std::vector<knob_value>{2, 3}));
  evaluated_run.passes(1, 1e-6, 3);
  EXPECT_EQ(evaluated_run.knobs.values(1), (std::vector<knob_value>{3, 0}));
}

TEST(asat_v2_reset, has_one_more_for_one_evaluation_where_there_is_no_such_barrier) {
  evaluated evaluated_run(std::make_unique<asat_v2_reset>());
  evaluated_run.add_process(4);
  EXPECT_EQ(evaluated_run.passes(4, 0.02), 2);
  EXPECT_EQ(evaluated_run.passes(15, 1e-6), 3);
  EXPECT_EQ(evaluated_run.passes(1, 0.02), 2) << "at once";
  EXPECT_EQ(evaluated_run.passes(15, 1e-6), 3);
  EXPECT_EQ(evaluated_run.passes(1, 1e-6), 3);
  EXPECT_EQ(evaluated_run.passes(1, 0.02), 3) << "one bad passage later on";
}

TEST(asat_v2_reset, takes_the_tunables_of_the_compilers_version) {
  evaluated evaluated_run(
      std::make_unique<asat_v2_reset>(asat_v2_reset_options{.eval_time_s = 1, .bad_trig = 1, .good_trig = 10}));
  evaluated_run.add_process(4);
  EXPECT_EQ(evaluated_run.passes(1, 0.02), 3);
  EXPECT_EQ(evaluated_run.passes(9, 1e-6), 3);
  EXPECT_EQ(evaluated_run.passes(1, 1e-6), 4);
}

}  // namespace
}  // namespace trimtab::steer::testing
