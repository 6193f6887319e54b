// ASAT as published, on scripted sequences of measurements: the thread count after each evaluation is compared with the
// publication's own pseudo-code, written down here once more without anything of Trimtab.
#include "thread_fitting_harness.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/thread_fitting/tunables.hpp"

namespace trimtab::steer::testing {
namespace {

constexpr double is_long = 0.02, is_short = 1e-6;

// Version 2 (Severance 1996), as printed; neither counter is reset by a drop or by a dip.
struct printed_version_2 {
  double bad_time_s, dip_limit_s;
  std::uint32_t bad_trig, good_trig;
  knob_value most;
  knob_value threads = most;
  std::uint32_t bad = 0, good = 0;
  template <class barrier>
  knob_value region(barrier&& timed_barrier) {
    const double t = timed_barrier(threads);
    if (t > bad_time_s) {
      bad += 1, good = 0;
    } else {
      good += 1, bad = 0;
    }
    if (bad >= bad_trig && threads > 1) threads -= 1;
    if (good >= good_trig && threads < most)
      if (timed_barrier(threads + 1) < dip_limit_s) threads += 1;
    return threads;
  }
};

// Version 1, what a bad or even evaluation does to the number of threads.
struct printed_version_1 {
  std::uint32_t bad_trig;
  knob_value threads;
  std::uint32_t bad = 0;
  knob_value region(bool is_bad) {
    bad = is_bad ? bad + 1 : 0;
    if (bad >= bad_trig && threads > 1) threads -= 1;
    return threads;
  }
};

// What the adapter does at the start of a region, without a runtime.
class published_process : public fitted_process {
 public:
  using fitted_process::fitted_process;
  void add_team(knob_value largest, bool has_barrier) {
    subject_info info{1, "process", {numbers("threads", 1, largest, largest)}};
    if (has_barrier) info.knobs.push_back(numbers("barrier_members", 0, largest, 0));
    info.knobs.push_back(numbers("threads_if_bad", 0, largest, 0));
    add(info);
    look(snapshot{});
  }
  knob_value knob(std::size_t place) const { return knobs.values(1)[place]; }

  // One evaluation of version 2; the number of members that its region has. Barriers are passed at once, in this order.
  template <class barrier>
  knob_value barriers(double bad_time_s, double dip_limit_s, barrier&& timed_barrier) {
    const knob_value members = knob(0), dip = knob(1), if_bad = knob(2);
    snapshot now;
    const auto report_figure = [&](std::string_view name, double value) {
      now.figures.push_back({std::string(name), value});
    };
    const double passage_s = timed_barrier(members);
    report_figure(figures::evaluations, ++m_evaluation);
    report_figure(figures::passage_seconds, passage_s);
    knob_value region = members;
    if (passage_s > bad_time_s) {
      if (if_bad != 0) region = if_bad;
    } else if (dip > members) {
      const double dip_s = timed_barrier(dip);
      report_figure(figures::dip_seconds, dip_s);
      report_figure(figures::dip_members, static_cast<double>(dip));
      if (dip_s < dip_limit_s) region = dip;
    }
    look(now);
    look(now);  // seen again, and what the next evaluation may change
    return region;
  }
  knob_value passes(double passage_s, double dip_s = is_long) {
    const knob_value members = knob(0);
    return barriers(1e-3, 1e-3, [&](knob_value tried_members) { return tried_members > members ? dip_s : passage_s; });
  }
  std::vector<knob_value> passes(int times, double passage_s, double dip_s = is_long) {
    std::vector<knob_value> counts;
    counts.reserve(static_cast<std::size_t>(times));
    for (int i = 0; i < times; ++i) counts.push_back(passes(passage_s, dip_s));
    return counts;
  }

  // One evaluation of version 1; the number of members that its region has. The team takes a thread by itself at the last of
  // bad_trig bad ones in a row. The policy sees each bad evaluation.
  knob_value iterations(double spread, std::uint32_t bad_trig = 2) {
    const knob_value region = iterations_not_seen(spread, bad_trig);
    snapshot now;
    now.figures = {{std::string(figures::evaluations), m_evaluation}, {std::string(figures::iterations_spread), spread}};
    look(now);
    look(now);
    return region;
  }
  knob_value iterations_not_seen(double spread, std::uint32_t bad_trig = 2) {
    constexpr double bad_spread = 400;
    m_evaluation += 1;
    m_bad = spread > bad_spread ? m_bad + 1 : 0;
    return m_bad >= bad_trig && knob(1) != 0 ? knob(1) : knob(0);
  }
  knob_value load(double average, double cpus) {
    snapshot now;
    now.figures = {{std::string(figures::load_readings), ++m_reading},
                   {std::string(figures::load_average), average},
                   {std::string(figures::online_cpus), cpus}};
    look(now);
    look(now);
    return threads();
  }

 private:
  double m_evaluation = 0, m_reading = 0;
  std::uint32_t m_bad = 0;  // evaluations of version 1, in a row
};

using counts = std::vector<knob_value>;

TEST(published_asat_v2, drops_a_thread_at_every_bad_evaluation_after_the_trigger) {
  published_process process_run(std::make_unique<asat_v2>());
  process_run.add_team(6, true);
  EXPECT_EQ(process_run.passes(7, is_long), (counts{6, 5, 4, 3, 2, 1, 1}));
}

TEST(published_asat_v2, begins_to_count_anew_after_a_good_evaluation) {
  published_process process_run(std::make_unique<asat_v2>());
  process_run.add_team(4, true);
  counts counts_seen;
  for (const double each : {is_long, is_short, is_long, is_long, is_short, is_long, is_long})
    counts_seen.push_back(process_run.passes(each));
  EXPECT_EQ(counts_seen, (counts{4, 4, 4, 3, 3, 3, 2}));
}

TEST(published_asat_v2, dips_at_every_good_evaluation_after_the_trigger_and_in_the_same_call) {
  published_process process_run(std::make_unique<asat_v2>());
  process_run.add_team(4, true);
  process_run.passes(5, is_long);
  EXPECT_EQ(process_run.threads(), 1);
  EXPECT_EQ(process_run.passes(14, is_short, is_short), counts(14, 1));
  EXPECT_EQ(process_run.passes(3, is_short, is_long), counts(3, 1)) << "each of them dips in vain";
  EXPECT_EQ(process_run.passes(4, is_short, is_short), (counts{2, 3, 4, 4}));
}

TEST(published_asat_v2, compares_a_dip_with_either_time) {
  asat_v2_options printed{.good_trig = 1, .dip_below = asat_v2_options::dip_limit::eval_time};
  for (const double dip_s : {0.4, 0.6}) {
    published_process process_run(std::make_unique<asat_v2>(printed));
    process_run.add_team(2, true);
    process_run.passes(2, is_long);
    process_run.barriers(1e-3, printed.longest_dip_s(),
                         [&](knob_value tried_members) { return tried_members > 1 ? dip_s : is_short; });
    EXPECT_EQ(process_run.threads(), dip_s < 0.5 ? 2 : 1);
  }
  EXPECT_EQ(asat_v2_options{}.longest_dip_s(), asat_v2_options{}.bad_time_s);
}

TEST(published_asat_v2, does_as_the_printed_pseudo_code_with_any_tunables) {
  random_source random(5);
  for (int round = 0; round < 60; ++round) {
    const auto largest = static_cast<knob_value>(2 + 6 * random.share());
    asat_v2_options options;
    options.bad_trig = static_cast<std::uint32_t>(1 + 3 * random.share());
    options.good_trig = static_cast<std::uint32_t>(1 + 15 * random.share());
    options.dip_below = random.share() < 0.5 ? asat_v2_options::dip_limit::bad_time : asat_v2_options::dip_limit::eval_time;
    printed_version_2 printed{options.bad_time_s, options.longest_dip_s(), options.bad_trig, options.good_trig, largest};
    published_process process_run(std::make_unique<asat_v2>(options));
    process_run.add_team(largest, true);
    double share_of_bad = 0.5;
    for (int i = 0; i < 200; ++i) {
      if (i % 40 == 0) share_of_bad = random.share() < 0.5 ? 0.9 : 0.03;
      std::vector<double> script(2);
      for (double& passage : script) passage = random.share() < share_of_bad ? (random.share() < 0.5 ? 0.9 : 0.02) : 1e-5;
      std::size_t printed_calls = 0, calls = 0;
      const knob_value expected = printed.region([&](knob_value) { return script[printed_calls++]; });
      const knob_value region =
          process_run.barriers(options.bad_time_s, options.longest_dip_s(), [&](knob_value) { return script[calls++]; });
      ASSERT_EQ(region, expected) << "the region that begins, round " << round << ", evaluation " << i;
      ASSERT_EQ(process_run.threads(), expected) << round << ' ' << i;
      ASSERT_EQ(calls, printed_calls) << "as many barriers, round " << round << ", evaluation " << i;
    }
  }
}

TEST(published_asat_v1, drops_a_thread_at_every_bad_evaluation_and_never_adds_one_for_good_ones) {
  published_process process_run(std::make_unique<asat_v1>());
  process_run.add_team(4, false);
  counts counts_seen;
  for (const double each : {401.0, 399.0, 401.0, 401.0, 900.0, 70.0, 900.0, 900.0, 900.0})
    counts_seen.push_back(process_run.iterations(each));
  EXPECT_EQ(counts_seen, (counts{4, 4, 4, 3, 2, 2, 2, 1, 1}));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(process_run.iterations(70), 1);
}

TEST(published_asat_v1, adds_a_thread_when_the_load_average_leaves_room) {
  published_process process_run(std::make_unique<asat_v1>());
  process_run.add_team(4, false);
  for (int i = 0; i < 4; ++i) process_run.iterations(900);
  EXPECT_EQ(process_run.threads(), 1);
  EXPECT_EQ(process_run.load(4, 4), 1);
  EXPECT_EQ(process_run.load(3.6, 4), 1) << "no whole CPU is left";
  EXPECT_EQ(process_run.load(3.2, 4), 2) << "seen twice, but one reading adds one thread";
  EXPECT_EQ(process_run.load(0, 4), 3);
  EXPECT_EQ(process_run.load(0, 4), 4);
  EXPECT_EQ(process_run.load(0, 4), 4) << "no more than the program's own";
}

TEST(published_asat_v1, takes_evaluations_that_it_has_not_seen_for_good_ones) {
  fitted_process process_run(std::make_unique<asat_v1>());
  process_run.add_process(4);
  process_run.look({{figures::evaluations, 1}, {figures::iterations_spread, 900}});
  EXPECT_EQ(process_run.look({{figures::evaluations, 3}, {figures::iterations_spread, 900}}), 4);
  EXPECT_EQ(process_run.look({{figures::evaluations, 4}, {figures::iterations_spread, 900}}), 3);
}

TEST(published_asat_v1, does_as_the_printed_pseudo_code_whatever_it_sees_of_even_evaluations) {
  random_source random(7);
  for (int round = 0; round < 100; ++round) {
    const auto largest = static_cast<knob_value>(2 + 6 * random.share());
    const auto bad_trig = static_cast<std::uint32_t>(1 + 4 * random.share());
    asat_v1_options options;
    options.bad_trig = bad_trig;
    printed_version_1 printed{bad_trig, largest};
    published_process process_run(std::make_unique<asat_v1>(options));
    process_run.add_team(largest, false);
    for (int i = 0; i < 100; ++i) {
      if (random.share() < 0.1) {
        printed.threads = std::min(printed.threads + 1, largest);
        ASSERT_EQ(process_run.load(0, 4), printed.threads) << "room for one more";
      }
      const bool is_bad = random.share() < 0.5, is_seen = is_bad || random.share() < 0.3;
      const double spread = is_bad ? 900 : 70;
      const knob_value expected = printed.region(is_bad);
      ASSERT_EQ(is_seen ? process_run.iterations(spread, bad_trig) : process_run.iterations_not_seen(spread, bad_trig),
                expected)
          << "the region that begins, round " << round << ", evaluation " << i << ", bad_trig " << bad_trig;
      ASSERT_EQ(process_run.threads(), expected) << "decided, round " << round << ", evaluation " << i;
    }
  }
}

TEST(published_asat, counts_anew_after_it_was_switched_off) {
  published_process process_run(std::make_unique<asat_v2>());
  process_run.add_team(4, true);
  process_run.passes(is_long);
  snapshot disabled, enabled;
  disabled.figures = {{std::string(figures::fitting), 0}};
  enabled.figures = {{std::string(figures::fitting), 1}};
  process_run.look(disabled);
  EXPECT_EQ(process_run.knobs.values(1), (counts{4, 0, 0}));
  process_run.look(enabled);
  EXPECT_EQ(process_run.passes(3, is_long), (counts{4, 3, 2}));
}

}  // namespace
}  // namespace trimtab::steer::testing
