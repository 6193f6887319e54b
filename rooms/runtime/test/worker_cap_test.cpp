#include "worker_cap.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "repeated_work.hpp"
#include "run_delay.hpp"
#include "scratch_folder.hpp"
#include "trimtab/steer/tasks_figures.hpp"
#include "trimtab/tasks.hpp"

namespace trimtab::task_steering {
namespace {

void this_thread_works() {
  for (int i = 0; i < 100'000; ++i) asm volatile("" : : "r"(i));
}

const cost_meter of_time;

TEST(work_share, is_of_the_time_in_which_somebody_worked) {
  EXPECT_DOUBLE_EQ(work_share({0.01, 0.04, 0.01, 100}), 1) << "four workers, all the time";
  EXPECT_DOUBLE_EQ(work_share({0.01, 0.012, 0.006, 100}), 0.6) << "two, together";
  EXPECT_DOUBLE_EQ(work_share({0.01, 0.009, 0.003, 100}), 0.9) << "three, one after the other";
  EXPECT_DOUBLE_EQ(work_share({0, 0, 0, 0}), 0);
}

TEST(work_window, leaves_idle_time_out) {
  work_window window;
  const work_done half{0.01, 0.01, 0.005, 20}, idle{0.01, 0.0001, 0.0001, 1};
  EXPECT_FALSE(window.add(half, 3, of_time));
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(window.add(idle, 3, of_time));
  const auto measurement = window.add(half, 3, of_time);
  ASSERT_TRUE(measurement);
  EXPECT_EQ(measurement->under, 3u);
  EXPECT_DOUBLE_EQ(measurement->value, 0.01 / 40);
  EXPECT_DOUBLE_EQ(measurement->seconds, 0.01);
}

TEST(work_window, has_one_setting_only) {
  work_window window;
  EXPECT_FALSE(window.add({0.01, 0.01, 0.01, 31}, 1, of_time));
  EXPECT_FALSE(window.add({0.01, 0.01, 0.01, 31}, 2, of_time)) << "31 tasks of it were of the setting before";
  const auto measurement = window.add({0.01, 0.01, 0.01, 31}, 2, of_time);
  ASSERT_TRUE(measurement);
  EXPECT_DOUBLE_EQ(measurement->value, 0.02 / 62);
}

TEST(work_window, of_long_tasks_takes_longer) {
  work_window window;
  for (int i = 0; i < 24; ++i) EXPECT_FALSE(window.add({0.01, 0.02, 0.01, i % 8 == 0 ? 1u : 0u}, 1, of_time)) << i;
  std::optional<steer::measurement> measurement;
  for (int i = 0; i < 2 && !measurement; ++i) measurement = window.add({0.01, 0.02, 0.01, 0}, 1, of_time);
  ASSERT_TRUE(measurement);
  EXPECT_NEAR(measurement->value, 0.25 / 3, 0.01);
}

TEST(worker_cap, is_the_programs_once_the_program_sets_it) {
  tasks::runtime rt({.workers = 4});
  worker_cap cap(rt, 1, "runtime");
  EXPECT_TRUE(cap.turn(2));
  EXPECT_EQ(rt.active_workers(), 2u);
  EXPECT_FALSE(cap.is_taken_over());
  EXPECT_FALSE(cap.turn(5));
  rt.set_active_workers(3);
  EXPECT_TRUE(cap.is_taken_over());
  EXPECT_FALSE(cap.turn(1));
  EXPECT_EQ(rt.active_workers(), 3u);
}

TEST(worker_cap, tells_how_long_tasks_are_and_what_managing_one_costs) {
  tasks::runtime rt({.workers = 1});
  worker_cap cap(rt, 1, "runtime");
  rt.run([] {
    std::vector<future<void>> futures(10'000);
    for (auto& task : futures) task = async([] {});
    // Now the worker's loop runs them: who waits would run them in its own place, untimed.
    for (auto& task : futures)
      while (!task.ready()) this_task::yield();
  });
  const steer::subject_state state = cap.look();
  EXPECT_GT(steer::figure_or(state.figures, steer::figures::instance_seconds, 0), 0);
  EXPECT_GT(steer::figure_or(state.figures, steer::figures::overhead_seconds, 0), 0);
}

TEST(worker_cap, tells_the_run_delay_of_one_cap_only) {
  tasks::runtime rt({.workers = 4});
  worker_cap cap(rt, 1, "runtime");
  const auto has_reported = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const steer::subject_state state = cap.look();
    return steer::find_figure(state.figures, steer::figures::run_delay_share) != nullptr;
  };
  const auto is_told_in_time = [&] {
    for (int i = 0; i < 1000; ++i)
      if (has_reported()) return true;
    return false;
  };
  EXPECT_TRUE(is_told_in_time());
  EXPECT_TRUE(cap.turn(2));
  EXPECT_FALSE(has_reported()) << "what the four have waited";
  EXPECT_FALSE(has_reported()) << "those who are parked may still have been counted";
  EXPECT_TRUE(is_told_in_time());
}

// The share on a CPU, and without a task, when each of four tasks has called `work` for some time.
std::pair<double, double> shares_of(void (*work)(), int tasks) {
  tasks::runtime rt({.workers = 4});
  worker_cap cap(rt, 1, "runtime");
  std::atomic<bool> is_finished = false;
  std::thread watcher;
  std::pair<double, double> figures{-1, -1};
  rt.run([&] {
    std::vector<future<void>> all;
    for (int i = 0; i < tasks; ++i)
      all.push_back(async([&] {
        while (!is_finished) work();
      }));
    watcher = std::thread([&] {
      for (int i = 0; i < 1000 && figures.first < 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const steer::subject_state state = cap.look();
        figures = {steer::figure_or(state.figures, steer::figures::cpu_share, -1),
                   steer::figure_or(state.figures, steer::figures::workless_share, -1)};
      }
      is_finished = true;
    });
    for (auto& task : all) task.get();
  });
  watcher.join();
  return figures;
}

TEST(worker_cap, tells_workers_that_sleep_in_their_tasks_from_those_that_have_none) {
  // On a busy machine a window may lie where a worker had not got its CPU yet.
  double asleep_on_cpu = 1, asleep_workless = 1;
  for (int i = 0; i < 20 && !(asleep_on_cpu < 0.5 && asleep_workless < 0.5); ++i)
    std::tie(asleep_on_cpu, asleep_workless) =
        shares_of([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }, 4);
  EXPECT_GE(asleep_on_cpu, 0);
  EXPECT_LT(asleep_on_cpu, 0.5);
  EXPECT_GE(asleep_workless, 0);
  EXPECT_LT(asleep_workless, 0.5);
  // On a busy machine a window may lie before the three workers that have no task came to look for one.
  double alone_on_cpu = 0, alone_workless = 0;
  for (int i = 0; i < 20 && !(alone_on_cpu > asleep_on_cpu && alone_workless > 0.5); ++i)
    std::tie(alone_on_cpu, alone_workless) = shares_of([] { this_thread_works(); }, 1);
  EXPECT_GT(alone_on_cpu, asleep_on_cpu);
  EXPECT_GT(alone_workless, 0.5) << "three of four";
}

TEST(worker_cap, measures_by_loops_and_steps_where_these_are_the_work) {
  tasks::runtime rt({.workers = 2});
  worker_cap cap(rt, 1, "runtime");
  repeated_work steps(cap, 0);
  // Each takes 2 ms for 10 units, then, under another decision, 4 ms.
  for (int i = 0; i < 20; ++i) steps.end(steps.begin(), 0.002, 10);
  const repeated_work::begun before = steps.begin();
  cap.in_force(7);
  steps.end(before, 100, 10);  // began under the other
  for (int i = 0; i < 20; ++i) steps.end(steps.begin(), 0.004, 10);
  const steer::subject_state state = cap.look();
  ASSERT_GE(state.measured.size(), 4u);
  for (const steer::measurement& measurement : state.measured) {
    EXPECT_DOUBLE_EQ(measurement.value, measurement.under == 7 ? 2 : 1);
    EXPECT_GE(measurement.seconds, 0.01);
  }
  EXPECT_EQ(state.measured.back().under, 7u);
}

TEST(repeated_work, is_measured_by_unit_and_under_what_was_in_force_when_it_began) {
  tasks::runtime rt({.workers = 2});
  worker_cap cap(rt, 1, "runtime");
  repeated_work loop(cap, 8);
  const repeated_work::begun old = loop.begin();
  EXPECT_EQ(old.size, 8);
  loop.turn(16);
  loop.in_force(5);
  EXPECT_EQ(loop.begin().size, 16);
  loop.end(old, 1, 1);
  for (int i = 0; i < 10; ++i) loop.end(loop.begin(), 2e-5, 100);
  const std::vector<steer::measurement> measured = loop.take();
  ASSERT_EQ(measured.size(), 2u) << "short ones are joined";
  for (const steer::measurement& measurement : measured) {
    EXPECT_EQ(measurement.under, 5u);
    EXPECT_DOUBLE_EQ(measurement.value, 2e-7);
  }
  EXPECT_TRUE(loop.take().empty());
}

// A meter that has counted what it was told, once the last reading is too old to be given again.
class told_meter {
 public:
  energy_source source() {
    return [this] { return std::optional(m_joules); };
  }
  void take(double joules) {
    m_joules += joules;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

 private:
  double m_joules = 1000;
};

TEST(cost_meter, counts_time_unless_energy_is_wanted_and_there_is_a_meter) {
  told_meter meter;
  const resources used{4, 30};
  EXPECT_DOUBLE_EQ(cost_meter().cost_of_unit(used, 2), 2);
  EXPECT_DOUBLE_EQ(cost_meter(tuning_objective::time, meter.source()).cost_of_unit(used, 2), 2);
  EXPECT_DOUBLE_EQ(cost_meter(tuning_objective::energy, meter.source()).cost_of_unit(used, 2), 15);
  EXPECT_DOUBLE_EQ(cost_meter(tuning_objective::energy_time, meter.source()).cost_of_unit(used, 2), 30);
  for (const energy_source& none : {energy_source{}, energy_source([] { return std::optional<double>(); })}) {
    cost_meter without(tuning_objective::energy, none);
    EXPECT_EQ(without.objective(), tuning_objective::time);
    EXPECT_EQ(without.joules(), 0);
  }
}

TEST(cost_meter, keeps_its_reading_where_the_meter_cannot_be_read_any_more) {
  bool is_there = true;
  cost_meter meter(tuning_objective::energy, [&] { return is_there ? std::optional(7.0) : std::nullopt; });
  is_there = false;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_DOUBLE_EQ(meter.joules(), 7);
}

TEST(repeated_work, has_the_energy_of_its_own_time_as_cost) {
  told_meter meter;
  tasks::runtime rt({.workers = 2});
  worker_cap cap(rt, 1, "runtime", meter.source(), tuning_objective::energy);
  repeated_work steps(cap, 8);
  for (int i = 0; i < 8; ++i) {
    const repeated_work::begun begun = steps.begin();
    meter.take(6);
    steps.end(begun, 0.025, 2);
    meter.take(50);  // between two steps
  }
  const std::vector<steer::measurement> measured = steps.take();
  ASSERT_EQ(measured.size(), 2u) << "shorter ones than 0.1 s are measured together";
  for (const steer::measurement& measurement : measured) {
    EXPECT_DOUBLE_EQ(measurement.value, 3);
    EXPECT_DOUBLE_EQ(measurement.seconds, 0.1);
  }
  const steer::subject_state state = cap.look();
  ASSERT_FALSE(state.measured.empty());
  EXPECT_DOUBLE_EQ(state.measured.front().value, 1) << "of what the first steps took";
}

class files : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const { scratch.put(path, text); }
  scratch_folder scratch;
  const std::string& root = scratch.path();
};

using package_energy_test = files;
using run_delay_test = files;

TEST_F(package_energy_test, is_the_sum_of_packages_and_goes_on_where_a_meter_begins_anew) {
  const std::string zone = "/sys/class/powercap/intel-rapl:";
  write(zone + "0/energy_uj", "1000000\n");
  write(zone + "0/max_energy_range_uj", "5000000\n");
  write(zone + "1/energy_uj", "0\n");
  write(zone + "0:0/energy_uj", "7\n");  // a part of package 0
  package_energy energy(root);
  EXPECT_DOUBLE_EQ(energy().value(), 0);
  write(zone + "0/energy_uj", "4000000\n");
  write(zone + "1/energy_uj", "2000000\n");
  EXPECT_DOUBLE_EQ(energy().value(), 5);
  write(zone + "0/energy_uj", "1000000\n");
  EXPECT_DOUBLE_EQ(energy().value(), 7);
}

TEST(simulated_power, says_what_it_is) {
  EXPECT_EQ(simulated_power_from("").text(), "simulated: 20 W, and 10 W for each busy CPU");
  EXPECT_EQ(simulated_power_from("cpu_w=45,idle_w=2.5").text(), "simulated: 2.5 W, and 45 W for each busy CPU");
}

TEST(simulated_power, refuses_what_is_no_power) {
  for (const char* const wrong : {"idle_w", "idle_w=", "idle_w=x", "idle_w=-1", "cpu_w=1e9", "watts=1", "idle_w=1,,"}) {
    try {
      simulated_power_from(wrong);
      ADD_FAILURE() << wrong;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("expected idle_w=WATTS or cpu_w=WATTS"), std::string::npos) << wrong;
    }
  }
}

TEST(simulated_energy, grows_with_time_and_with_what_the_process_computes) {
  const auto energy_of_busy_time = [](simulated_power power) {
    const simulated_energy energy(power);
    const std::clock_t begin = std::clock();
    while (std::clock() - begin < CLOCKS_PER_SEC / 50) {
    }
    return energy().value();
  };
  // 2 J for 20 ms; the two clocks differ a little, and threads of a sanitizer count, too.
  EXPECT_GE(energy_of_busy_time({.idle_w = 0, .cpu_w = 100}), 1.9);
  EXPECT_GE(energy_of_busy_time({.idle_w = 100, .cpu_w = 0}), 1.5);
  EXPECT_EQ(energy_of_busy_time({.idle_w = 0, .cpu_w = 0}), 0.0);
}

TEST_F(package_energy_test, is_none_without_a_meter) {
  EXPECT_FALSE(package_energy(root)());
  EXPECT_FALSE(power_meter(package_energy(root)).is_there());
  EXPECT_FALSE(power_meter(package_energy(root)).watts());
}

TEST_F(run_delay_test, is_that_of_all_threads) {
  for (const std::string thread : {"1", "2"}) std::filesystem::create_directories(root + "/proc/self/task/" + thread);
  write("/proc/1/schedstat", "10 200 3\n");
  write("/proc/2/schedstat", "10 30 3\n");
  EXPECT_EQ(read_run_delay(root.c_str()), 230u);
  EXPECT_EQ(read_run_delay("/nowhere"), 0u);
}

}  // namespace
}  // namespace trimtab::task_steering
