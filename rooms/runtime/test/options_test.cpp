#include "trimtab/runtime/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "option_table.hpp"

namespace trimtab {
namespace {

// What is left of the arguments, and what was understood.
struct parsed {
  tasks::runtime_options options;
  std::vector<std::string> left;
};

parsed read(std::vector<std::string> arguments) {
  std::vector<char*> argv{const_cast<char*>("program")};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(argv.size()) - 1;
  parsed parsed_options{options_from(argc, argv.data()), {}};
  for (int i = 1; i < argc; ++i) parsed_options.left.emplace_back(argv[static_cast<std::size_t>(i)]);
  EXPECT_EQ(argv[static_cast<std::size_t>(argc)], nullptr);
  return parsed_options;
}

std::string error_of(const std::vector<std::string>& arguments) {
  try {
    read(arguments);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

class runtime_options_test : public ::testing::Test {
 protected:
  void TearDown() override {
    unsetenv("TRIMTAB_WORKERS");
    unsetenv("TRIMTAB_POLICY");
    unsetenv("TRIMTAB_TASK_TUNE");
  }
};

TEST_F(runtime_options_test, arguments_are_taken_out_and_others_left) {
  const parsed result = read({"--points", "5", "--trimtab:workers=3", "--trimtab:policy=abp-priority", "file",
                              "--trimtab:print-counter=/threads/idle-rate", "--trimtab:print-counter=/threads/count/*"});
  EXPECT_EQ(result.options.workers, 3u);
  EXPECT_EQ(result.options.policy, tasks::policy::abp_priority);
  EXPECT_EQ(result.options.print_counters.size(), 2u);
  EXPECT_EQ(result.left, (std::vector<std::string>{"--points", "5", "file"}));
}

TEST_F(runtime_options_test, arguments_come_before_the_environment) {
  setenv("TRIMTAB_WORKERS", "7", 1);
  setenv("TRIMTAB_POLICY", "hierarchy", 1);
  const parsed result = read({"--trimtab:workers=2"});
  EXPECT_EQ(result.options.workers, 2u);
  EXPECT_EQ(result.options.policy, tasks::policy::hierarchy);
}

TEST_F(runtime_options_test, errors_name_option_value_and_what_is_allowed) {
  EXPECT_EQ(error_of({"--trimtab:workers=many"}),
            "trimtab: option --trimtab:workers is \"many\", expected a number from 0 to 4096");
  EXPECT_EQ(error_of({"--trimtab:policy=fifo"}),
            "trimtab: option --trimtab:policy is \"fifo\", expected one of local, local-priority, abp-priority, hierarchy, "
            "static-priority, periodic-priority");
  EXPECT_NE(error_of({"--trimtab:colour=red"}).find("there is no option --trimtab:colour; there are workers, policy"),
            std::string::npos);
  EXPECT_NE(error_of({"--trimtab:workers"}).find("expected a value"), std::string::npos);
  setenv("TRIMTAB_WORKERS", "5000", 1);
  EXPECT_NE(error_of({}).find("TRIMTAB_WORKERS is \"5000\""), std::string::npos);
}

TEST_F(runtime_options_test, nothing_is_tuned_unless_it_is_asked_for) {
  EXPECT_FALSE(read({}).options.companion);
  EXPECT_FALSE(
      read({"--trimtab:tune=", "--trimtab:tune-policy=queue-length", "--trimtab:print-decisions"}).options.companion);
  EXPECT_TRUE(read({"--trimtab:tune=grain,workers"}).options.companion);
  EXPECT_TRUE(read({"--trimtab:power-limit=200"}).options.companion);
  EXPECT_TRUE(read({"--trimtab:tune=workers", "--trimtab:tune-policy=fit"}).options.companion);
  const parsed open = read({"--trimtab:tune=scheduler", "--trimtab:policy=local"});
  EXPECT_TRUE(open.options.companion);
  EXPECT_TRUE(open.options.choose_policy);
  EXPECT_EQ(open.options.policy, std::nullopt) << "it is where the choice begins";
  EXPECT_FALSE(read({"--trimtab:tune=workers"}).options.choose_policy);
  setenv("TRIMTAB_TASK_TUNE", "workers", 1);
  EXPECT_TRUE(read({}).options.companion);
  EXPECT_FALSE(read({"--trimtab:tune="}).options.companion) << "arguments come first";
  EXPECT_NE(error_of({"--trimtab:tune=workers,cap"})
                .find("is \"workers,cap\", expected a comma list of workers, grain, scheduler, priority"),
            std::string::npos);
  EXPECT_TRUE(read({"--trimtab:power-limit=200", "--trimtab:power-meter=simulated:idle_w=5,cpu_w=10"}).options.companion);
  EXPECT_NE(error_of({"--trimtab:power-meter=simulated:idle=5"}).find("\"idle=5\": expected idle_w=WATTS"),
            std::string::npos);
  EXPECT_NE(error_of({"--trimtab:power-meter=rapl"}).find("expected one of powercap, simulated"), std::string::npos);
  EXPECT_NE(error_of({"--trimtab:tune-policy=power-limit"}).find("power-limit is 0"), std::string::npos);
}

TEST_F(runtime_options_test, the_programs_own_companion_is_kept) {
  int created_count = 0;
  tasks::runtime_options own_options;
  own_options.companion = [&](tasks::runtime&) {
    created_count += 1;
    return std::make_shared<int>(1);
  };
  std::string tune = "--trimtab:tune=workers";
  char* argv[] = {const_cast<char*>("program"), tune.data(), nullptr};
  int argc = 2;
  tasks::runtime_options options = options_from(argc, argv, own_options);
  options.workers = 2;
  const tasks::runtime rt(options);
  EXPECT_EQ(created_count, 1);
  EXPECT_NE(rt.grains(), nullptr);
}

// The value of `option` that is not its default.
struct set_option {
  const char* argument;
  std::function<bool(const tasks::runtime_options&)> is_set;
};

TEST_F(runtime_options_test, every_option_sets_its_own_value) {
  const set_option all[] = {
      {"--trimtab:workers=3", [](const auto& of) { return of.workers == 3; }},
      {"--trimtab:policy=hierarchy", [](const auto& of) { return of.policy == tasks::policy::hierarchy; }},
      {"--trimtab:numa", [](const auto& of) { return of.numa; }},
      {"--trimtab:stack-bytes=65536", [](const auto& of) { return of.stack_bytes == 65536; }},
      {"--trimtab:deadlock-ms=7", [](const auto& of) { return of.deadlock_ms == 7; }},
      {"--trimtab:print-counter=/a", [](const auto& of) { return of.print_counters == std::vector<std::string>{"/a"}; }},
      {"--trimtab:print-counter-interval=8", [](const auto& of) { return of.print_counters_ms == 8; }},
  };
  for (const set_option& option : all)
    for (const set_option& other : all)
      EXPECT_EQ(other.is_set(read({option.argument}).options), option.argument == other.argument)
          << option.argument << " " << other.argument;
}

TEST_F(runtime_options_test, words_are_in_the_order_of_what_they_mean) {
  for (const char* const each :
       {"local", "local-priority", "abp-priority", "hierarchy", "static-priority", "periodic-priority"})
    EXPECT_EQ(read({std::string("--trimtab:policy=") + each}).options.policy, tasks::policy_of(each)) << each;
  const std::pair<const char*, cap_policy> policies[] = {{"tuner", cap_policy::tuner},
                                                         {"queue-length", cap_policy::queue_length},
                                                         {"power-limit", cap_policy::power_limit},
                                                         {"fit", cap_policy::fit}};
  for (const auto& row : task_steering::option_table()) {
    if (row.argument != std::string("tune-policy")) continue;
    for (const auto& [word, policy] : policies) {
      task_steering::chosen_options chosen;
      row.set(chosen, options::check(row.allowed, word).value());
      EXPECT_EQ(chosen.tuning.policy, policy) << word;
    }
  }
}

TEST_F(runtime_options_test, words_of_objectives_are_in_the_order_of_what_they_mean) {
  const std::pair<const char*, tuning_objective> objectives[] = {{"time", tuning_objective::time},
                                                                 {"energy", tuning_objective::energy},
                                                                 {"energy-time", tuning_objective::energy_time}};
  for (const auto& row : task_steering::option_table()) {
    if (row.argument != std::string("tune-objective")) continue;
    for (const auto& [word, objective] : objectives) {
      task_steering::chosen_options chosen;
      row.set(chosen, options::check(row.allowed, word).value());
      EXPECT_EQ(chosen.tuning.objective, objective) << word;
    }
  }
}

TEST_F(runtime_options_test, the_table_holds_for_the_defaults) {
  for (const auto& option_row : task_steering::option_table()) {
    if (option_row.standard[0] == '\0') continue;
    const parsed result = read({std::string("--trimtab:") + option_row.argument + "=" + option_row.standard});
    EXPECT_EQ(result.options.workers, tasks::runtime_options{}.workers) << option_row.argument;
    EXPECT_EQ(result.options.policy.value_or(tasks::policy::local_priority), tasks::policy::local_priority)
        << option_row.argument;
    EXPECT_EQ(result.options.stack_bytes, tasks::runtime_options{}.stack_bytes) << option_row.argument;
    EXPECT_EQ(result.options.deadlock_ms, tasks::runtime_options{}.deadlock_ms) << option_row.argument;
  }
}

}  // namespace
}  // namespace trimtab
