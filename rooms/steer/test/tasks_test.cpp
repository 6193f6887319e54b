// Policies of the task runtime, on a runtime that exists only as figures: what a cap does to queues, power and time is a
// function. Seeded.
#include <algorithm>
#include <cmath>
#include <functional>

#include "scenario.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/tasks_advice.hpp"
#include "trimtab/steer/tasks_figures.hpp"
#include "trimtab/steer/tasks_oversubscription.hpp"
#include "trimtab/steer/tasks_power_limit.hpp"
#include "trimtab/steer/tasks_queue_length.hpp"
#include "trimtab/steer/tuner.hpp"

namespace trimtab::steer::testing {
namespace {

constexpr subject_id cap = 1;
constexpr double period_s = 0.01;

// A runtime with so many workers, looked at every 10 ms.
class simulated {
 public:
  using figure_of = std::function<double(knob_value cap)>;

  simulated(knob_value workers, std::unique_ptr<policy> rule, std::unique_ptr<policy> search = nullptr)
      : simulated(workers, workers, std::move(rule), std::move(search)) {}
  simulated(knob_value workers, knob_value active, std::unique_ptr<policy> rule, std::unique_ptr<policy> search = nullptr)
      : m_info{cap, "runtime 1", {numbers("workers", 1, workers, active)}} {
    m_steering.add(std::move(rule));
    if (search) m_steering.add(std::move(search));
    m_value = active;
    m_knobs.add(
        m_info,
        [this](std::uint32_t, knob_value to) {
          m_value = to;
          return true;
        },
        [this](decision_number number) { m_under = number; });
  }

  figure_of queue_length, watts, run_delay, task_s = [](knob_value) { return 1e-4; };
  double work_share = 1, cpu_share = 1, workless_share = 0.3, cpus = 2;
  bool tells_cpus = false;

  void run(double seconds) {
    for (const double end_s = m_time_s + seconds; m_time_s < end_s;) {
      snapshot now;
      m_time_s += period_s;
      now.time_s = m_time_s;
      if (!m_has_appeared) now.appeared = {m_info};
      m_has_appeared = true;
      subject_state state{cap, {}, {{std::string(figures::work_share), work_share}}};
      if (work_share > 0) state.measured.push_back({m_under, task_s(m_value), period_s});
      if (queue_length) state.figures.push_back({std::string(figures::queue_length), queue_length(m_value)});
      if (run_delay) state.figures.push_back({std::string(figures::run_delay_share), run_delay(m_value)});
      if (run_delay) state.figures.push_back({std::string(figures::cpu_share), cpu_share});
      if (run_delay) state.figures.push_back({std::string(figures::workless_share), workless_share});
      if (run_delay || tells_cpus) state.figures.push_back({std::string(figures::cpus), cpus});
      if (watts) state.figures.push_back({std::string(figures::watts), watts(m_value)});
      now.subjects.push_back(std::move(state));
      for (const decision& decision_made : m_steering.step(now)) {
        EXPECT_TRUE(m_knobs.apply(decision_made));
        log.push_back(decision_made);
      }
    }
  }
  knob_value value() const noexcept { return m_value; }
  const engine& steering() const noexcept { return m_steering; }

  std::vector<decision> log;

 private:
  subject_info m_info;
  engine m_steering;
  board m_knobs;
  knob_value m_value = 0;
  decision_number m_under = 0;
  double m_time_s = 0;
  bool m_has_appeared = false;
};

// Shortest at `best` of 48, as measured of the stencil: long where few work, and where many are in each other's way.
simulated::figure_of valley(double best, random_source& noise) {
  return [best, &noise](knob_value workers) {
    return (20 + 3 * std::abs(static_cast<double>(workers) - best)) * (0.97 + 0.06 * noise.share());
  };
}

TEST(tasks, queue_length_settles_near_the_shortest_queues) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    random_source noise(seed);
    auto rule = std::make_unique<queue_length_climb>();
    const queue_length_climb& climbs = *rule;
    simulated runtime(48, std::move(rule));
    runtime.queue_length = valley(12, noise);
    runtime.run(10);
    EXPECT_TRUE(climbs.is_settled()) << "seed " << seed;
    EXPECT_NEAR(static_cast<double>(runtime.value()), 12, 2) << "seed " << seed;
    const std::size_t settled = runtime.log.size();
    runtime.run(10);
    EXPECT_EQ(runtime.log.size(), settled) << "seed " << seed;
  }
}

TEST(tasks, queue_length_takes_fewer_workers_where_queues_are_as_long) {
  simulated runtime(16, std::make_unique<queue_length_climb>());
  runtime.queue_length = [](knob_value workers) { return workers < 3 ? 40.0 : 5.0; };
  runtime.run(10);
  EXPECT_EQ(runtime.value(), 3);
}

// As measured on two CPUs (docs/studies/queue-length.md): the more workers there are, the shorter are the queues, while
// the program is slower and slower from two on.
TEST(tasks, queue_length_has_no_more_workers_than_cpus_whose_queues_say_nothing) {
  const double measured[] = {0, 196, 123, 77, 45, 38, 31, 22, 15};
  for (const knob_value workers : {1, 2, 3, 4, 8})
    for (const bool tells_cpus : {false, true}) {
      simulated runtime(workers, std::make_unique<queue_length_climb>());
      runtime.tells_cpus = tells_cpus;
      runtime.queue_length = [&](knob_value count) { return measured[count]; };
      runtime.run(10);
      EXPECT_EQ(runtime.value(), tells_cpus ? std::min<knob_value>(workers, 2) : workers) << workers;
      if (tells_cpus && workers > 2) {
        EXPECT_EQ(runtime.log.front().reason, "queues say nothing with more workers than CPUs");
      }
      const std::size_t settled = runtime.log.size();
      runtime.run(10);
      EXPECT_EQ(runtime.log.size(), settled);
    }
}

TEST(tasks, queue_length_begins_anew_when_the_program_has_changed) {
  random_source noise(1);
  simulated runtime(16, std::make_unique<queue_length_climb>());
  runtime.queue_length = valley(4, noise);
  runtime.run(10);
  EXPECT_NEAR(static_cast<double>(runtime.value()), 4, 1);
  runtime.queue_length = valley(13, noise);
  runtime.run(20);
  EXPECT_NEAR(static_cast<double>(runtime.value()), 13, 1);
}

TEST(tasks, queue_length_does_nothing_while_nobody_works) {
  simulated runtime(16, std::make_unique<queue_length_climb>());
  runtime.queue_length = [](knob_value) { return 0.0; };
  runtime.work_share = 0;
  runtime.run(10);
  EXPECT_TRUE(runtime.log.empty());
}

// 60 W without work and 6 W a worker: 200 W are 23 workers.
double power_of(knob_value workers) { return 60 + 6 * static_cast<double>(workers); }

TEST(tasks, power_stays_below_the_limit_and_close_to_it) {
  simulated runtime(48, std::make_unique<power_limit>(power_limit_options{.limit_w = 200}));
  runtime.watts = power_of;
  runtime.run(15);
  EXPECT_GE(runtime.value(), 21);
  EXPECT_LE(runtime.value(), 23);
  const std::size_t settled = runtime.log.size();
  runtime.run(10);
  EXPECT_EQ(runtime.log.size(), settled) << "to and fro between two caps";
  // The machine has become colder, or the program lighter.
  runtime.watts = [](knob_value workers) { return power_of(workers) - 60; };
  runtime.run(15);
  EXPECT_GE(runtime.value(), 30);
  EXPECT_LE(runtime.value() * 6, 200);
}

// The published bar: within one worker of what is best by the model, after 20 periods, and from then on.
TEST(tasks, power_settles_within_one_worker_of_the_best_within_20_periods) {
  constexpr double period = power_limit_options{}.period_s;
  for (const knob_value workers : {1, 2, 4, 8, 16, 48, 64, 200})
    for (const double idle_w : {0.0, 20.0, 60.0, 200.0})
      for (const double worker_w : {0.5, 3.0, 6.0, 45.0})
        for (const double share : {0.2, 0.5, 0.8, 1.5})
          for (const double noise : {0.0, 0.005}) {
            random_source chance(static_cast<std::uint64_t>(workers));
            const auto power = [&](knob_value count) { return idle_w + worker_w * static_cast<double>(count); };
            // So that a part of the workers fits, or all of them.
            const double limit = idle_w + share * worker_w * static_cast<double>(workers);
            simulated runtime(workers, std::make_unique<power_limit>(power_limit_options{.limit_w = limit}));
            runtime.watts = [&](knob_value count) { return power(count) * (1 + noise * (2 * chance.share() - 1)); };
            const std::string title = std::to_string(workers) + " workers, " + std::to_string(idle_w) + " + " +
                                      std::to_string(worker_w) + " W each, limit " + std::to_string(limit);
            // The policy keeps a fiftieth of the limit free: best is what fits below that.
            const double usable = limit * (1 - power_limit_options{}.room);
            const double fits = std::clamp(std::floor((usable - idle_w) / worker_w), 1.0, static_cast<double>(workers));
            const double at_most =
                std::clamp(std::floor((limit - idle_w) / worker_w + 1e-9), 1.0, static_cast<double>(workers));
            runtime.run(20 * period);
            for (int later = 0; later < 20; ++later) {
              const auto now = static_cast<double>(runtime.value());
              EXPECT_GE(now, fits - 1) << title;
              EXPECT_LE(now, at_most + (noise > 0 ? 1 : 0)) << title;
              runtime.run(period);
            }
          }
}

TEST(tasks, power_below_any_cap_leaves_one_worker) {
  simulated runtime(8, std::make_unique<power_limit>(power_limit_options{.limit_w = 10}));
  runtime.watts = power_of;
  runtime.run(5);
  EXPECT_EQ(runtime.value(), 1);
}

TEST(tasks, without_a_meter_nothing_is_limited) {
  simulated runtime(8, std::make_unique<power_limit>(power_limit_options{.limit_w = 10}));
  runtime.run(5);
  EXPECT_TRUE(runtime.log.empty());
  EXPECT_TRUE(runtime.steering().reports().front().is_enabled);
}

// Of those who work all the time, on 2 CPUs.
double delay_of(knob_value workers) { return std::max(0.0, 1 - 2 / static_cast<double>(workers)); }

TEST(tasks, workers_that_wait_for_each_others_cpus_become_as_many_as_these) {
  simulated runtime(8, std::make_unique<oversubscription>());
  runtime.run_delay = delay_of;
  runtime.run(0.02);
  ASSERT_EQ(runtime.log.size(), 1u) << "at once";
  EXPECT_EQ(runtime.value(), 2);
  EXPECT_EQ(runtime.log[0].reason,
            "more workers than the 2 CPUs: they wait for one 75 % of the time and have no task 30 % of it");
  runtime.run_delay = [](knob_value) { return 0.6; };  // beside others
  runtime.run(5);
  EXPECT_EQ(runtime.log.size(), 1u) << "there are no more workers than CPUs";
}

// Eight of them that wait for CPUs and for work, but for what `how` makes different.
bool are_too_many(const std::function<void(simulated&)>& alter) {
  simulated runtime(8, std::make_unique<oversubscription>());
  runtime.run_delay = delay_of;
  alter(runtime);
  runtime.run(5);
  return !runtime.log.empty();
}

TEST(tasks, workers_are_too_many_only_where_they_are_in_each_others_way) {
  EXPECT_TRUE(are_too_many([](simulated&) {}));
  EXPECT_FALSE(are_too_many([](simulated& they) { they.run_delay = [](knob_value) { return 0.05; }; })) << "hardly wait";
  EXPECT_FALSE(are_too_many([](simulated& they) { they.workless_share = 0.05; })) << "all have work";
  EXPECT_FALSE(are_too_many([](simulated& they) { they.cpus = 0; })) << "nobody knows of CPUs";
  // They wait for CPUs when they wake, and two of them alone would leave the CPUs idle.
  EXPECT_FALSE(are_too_many([](simulated& they) {
    they.run_delay = [](knob_value) { return 0.3; };
    they.cpu_share = 0.6;
  })) << "sleep in their tasks";
}

TEST(tasks, fewer_workers_than_cpus_are_not_made_more_by_what_others_take) {
  simulated runtime(8, 1, std::make_unique<oversubscription>());
  runtime.run_delay = [](knob_value) { return 0.6; };
  runtime.run(5);
  EXPECT_TRUE(runtime.log.empty());
}

TEST(tasks, the_tuner_goes_on_from_as_many_workers_as_cpus) {
  tuner_options options;
  options.kind = search_kind::hill_climbing;
  options.baseline = 50;
  simulated runtime(8, std::make_unique<oversubscription>(), std::make_unique<tuner>(options));
  random_source noise(1);
  // They wait for CPUs, and yet more of them are better.
  runtime.task_s = [&](knob_value workers) {
    return 1e-4 * (1.2 - 0.1 * static_cast<double>(workers)) * (0.99 + 0.02 * noise.share());
  };
  runtime.run(0.2);
  runtime.run_delay = delay_of;
  runtime.run(60);
  EXPECT_GT(runtime.value(), 2) << "a search has the last word";
  ASSERT_GE(runtime.log.size(), 2u);
  EXPECT_EQ(runtime.log[0].what, outcome::set);
  EXPECT_EQ(runtime.log[1].what, outcome::trial);
  EXPECT_GE(runtime.log[1].time_s - runtime.log[0].time_s, options.baseline * period_s - 1e-9)
      << "what was set has a level of its own";
  const auto is_set = [](const decision& decision) { return decision.what == outcome::set; };
  EXPECT_EQ(std::count_if(runtime.log.begin(), runtime.log.end(), is_set), 1);
}

// 48 workers at the bandwidth of 12: the published stencil.
TEST(tasks, the_tuner_finds_a_cap_within_5_percent_of_the_best) {
  const auto task_s = [](double workers) { return 1 / std::min(workers, 12.0) + 0.002 * workers; };
  int advice_count = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    random_source noise(seed);
    tuner_options options;
    options.kind = search_kind::hill_climbing;
    options.seed = seed;
    simulated runtime(48, std::make_unique<tuner>(options));
    runtime.task_s = [&](knob_value workers) {
      return task_s(static_cast<double>(workers)) * (0.98 + 0.04 * noise.share());
    };
    runtime.run(30);
    advice_count += task_s(static_cast<double>(runtime.value())) <= 1.05 * task_s(12);
  }
  EXPECT_GE(advice_count, 9);
}

TEST(tasks, advice_follows_from_what_was_measured) {
  const auto figures_of = [](double idle, double imbalance, double steals, double task_s) {
    return std::vector<figure>{{std::string(figures::idle_share), idle},
                               {std::string(figures::imbalance), imbalance},
                               {std::string(figures::steal_share), steals},
                               {std::string(figures::task_seconds), task_s}};
  };
  const auto advised = [](std::string_view policy, std::uint32_t workers, const std::vector<figure>& figures) {
    const std::optional<advice> advice_list = advise_policy(policy, workers, figures);
    return advice_list ? advice_list->policy : "";
  };
  EXPECT_EQ(advised("static-priority", 4, figures_of(0.4, 1.8, 0, 1e-3)), "local-priority");
  EXPECT_EQ(advised("static-priority", 4, figures_of(0.4, 1.0, 0, 1e-3)), "") << "idle, but evenly";
  EXPECT_EQ(advised("periodic-priority", 4, figures_of(0.4, 1.0, 0.01, 1e-3)), "local-priority");
  EXPECT_EQ(advised("local-priority", 4, figures_of(0.1, 1.0, 0.3, 2e-6)), "abp-priority");
  EXPECT_EQ(advised("local-priority", 4, figures_of(0.1, 1.0, 0.3, 1e-3)), "") << "long tasks may be stolen";
  EXPECT_EQ(advised("abp-priority", 4, figures_of(0.1, 1.0, 0.3, 2e-6)), "");
  EXPECT_EQ(advised("static-priority", 1, figures_of(0.4, 1.8, 0, 1e-3)), "") << "one worker";
  EXPECT_EQ(advised("local-priority", 4, {}), "") << "nothing measured";
  const auto queued = [](double share, double task_s) {
    return std::vector<figure>{{std::string(figures::queued_share), share}, {std::string(figures::task_seconds), task_s}};
  };
  EXPECT_EQ(advised("local-priority", 1, queued(0.9, 5e-5)), "abp-priority");
  EXPECT_EQ(advised("local-priority", 4, queued(0.9, 0.1)), "") << "tasks that fill a cache by themselves";
  EXPECT_EQ(advised("local-priority", 4, queued(0.1, 5e-5)), "") << "forks are called in place under each";
  EXPECT_EQ(advised("abp-priority", 4, queued(0.9, 5e-5)), "");
}

}  // namespace
}  // namespace trimtab::steer::testing
