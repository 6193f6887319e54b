#include "option_table.hpp"

#include "power_meter.hpp"
#include "trimtab/options/run_options.hpp"

namespace trimtab::task_steering {

namespace {

using options::any_text;
using options::flag;
using options::number;
using options::row;
using options::value;
using options::word;
using options::word_of;
using options::words;

constexpr std::uint64_t most_milliseconds = ~std::uint32_t{0};
constexpr std::string_view tuned_words[] = {"workers", "grain", "scheduler", "priority"};

std::string_view policy_word(std::size_t index) noexcept {
  constexpr auto last = static_cast<std::size_t>(tasks::policy::periodic_priority);
  return index > last ? std::string_view() : tasks::name_of(static_cast<tasks::policy>(index));
}

void set_tuned(chosen_options& target, const value& to) {
  target.tuning.workers = to.has(0);
  target.tuning.grain = to.has(1);
  target.tuning.scheduler = to.has(2);
  target.tuning.priority = to.has(3);
  target.has_tune = true;
}

constexpr std::string_view meter_words[] = {"powercap", "simulated"};
constexpr std::size_t simulated_meter = 1;

constexpr std::string_view expected_watts = "watts, 0 to 1000000";
constexpr steer::tunable_info simulated_tunables[] = {
    {.name = "idle_w", .expected = expected_watts, .is_zero_allowed = true, .most = 1e6},
    {.name = "cpu_w", .expected = expected_watts, .is_zero_allowed = true, .most = 1e6},
};
constexpr meter_tunables meters[] = {{meter_words[0], {}}, {meter_words[simulated_meter], simulated_tunables}};

constexpr options::values meter() noexcept {
  options::values allowed = word(word_of<meter_words>);
  allowed.has_tunables = [](std::string_view name) { return name == meter_words[simulated_meter]; };
  return allowed;
}

void set_meter(chosen_options& target, const value& to) {
  target.tuning.energy_j = {};
  target.tuning.energy_source.clear();
  if (to.index != simulated_meter) return;
  const simulated_power power = simulated_power_from(to.tunables);
  target.tuning.energy_j = simulated_energy(power);
  target.tuning.energy_source = power.text();
}

constexpr row<chosen_options> table[] = {
    {options::workers_option,
     [](chosen_options& into, const value& to) { into.runtime.workers = static_cast<std::uint32_t>(to.number); }},
    {{"TRIMTAB_POLICY", "local-priority", word(policy_word), "how tasks are scheduled", "policy"},
     [](chosen_options& into, const value& to) { into.runtime.policy = static_cast<tasks::policy>(to.index); }},
    {{"TRIMTAB_NUMA", "0", flag(),
      "1: each worker stays on a CPU of its own, and looks for tasks in its own memory domain first", "numa"},
     [](chosen_options& into, const value& to) { into.runtime.numa = to.is_set(); }},
    {{"TRIMTAB_STACK_BYTES", "524288", number(64 << 10, 1 << 30), "size of each task's stack, in bytes", "stack-bytes"},
     [](chosen_options& into, const value& to) { into.runtime.stack_bytes = to.number; }},
    {{"TRIMTAB_DEADLOCK_MS", "3000", number(0, most_milliseconds),
      "report a deadlock when no task has been able to run for this long (ms); 0 disables the check", "deadlock-ms"},
     [](chosen_options& into, const value& to) { into.runtime.deadlock_ms = static_cast<std::uint32_t>(to.number); }},
    {{"TRIMTAB_PRINT_COUNTER", "", any_text(),
      "path of a counter that is printed when the runtime ends; as an argument it may be given several times",
      "print-counter"},
     [](chosen_options& into, const value& to) { into.runtime.print_counters.emplace_back(to.text); }},
    {{"TRIMTAB_PRINT_COUNTER_INTERVAL", "0", number(0, most_milliseconds),
      "print the counters also while the runtime runs, with this period (ms); 0: only at the end", "print-counter-interval"},
     [](chosen_options& into, const value& to) { into.runtime.print_counters_ms = static_cast<std::uint32_t>(to.number); }},
    {{"TRIMTAB_TASK_TUNE", "", words(word_of<tuned_words>),
      "what is tuned while the program runs. workers: how many of them run tasks (their cap); grain: the grain size of "
      "loops "
      "and the sizes of steps; scheduler: the policy, from one runtime to the next; priority: that of named kinds of task",
      "tune"},
     set_tuned},
    {{"TRIMTAB_TASK_TUNE_POLICY", "tuner", word(word_of<cap_policy_words>),
      "how the cap of workers is chosen. tuner: by a search that proves what it keeps; queue-length: by hill climbing, as "
      "published; power-limit: by power-limit; fit: by the CPUs that other programs leave",
      "tune-policy"},
     [](chosen_options& into, const value& to) { into.tuning.policy = static_cast<cap_policy>(to.index); }},
    {{"TRIMTAB_TASK_TUNE_OBJECTIVE", "time", word(word_of<tuning_objective_words>),
      "what tuning makes small. time; energy: what the power meter counts while the work runs; energy-time: their product",
      "tune-objective"},
     [](chosen_options& into, const value& to) { into.tuning.objective = static_cast<tuning_objective>(to.index); }},
    {{"TRIMTAB_POWER_LIMIT", "0", number(0, 1'000'000),
      "watts that all processors together may take: the cap of workers is chosen for it; 0: no limit", "power-limit"},
     [](chosen_options& into, const value& to) { into.tuning.power_limit_w = static_cast<double>(to.number); }},
    {{"TRIMTAB_POWER_METER", "powercap", meter(),
      "what tells how much power is taken. powercap: the processors' own meters; simulated: a model for machines without "
      "one, so many watts (idle_w) and so many more for each CPU that the program keeps busy (cpu_w)",
      "power-meter"},
     set_meter},
    {{"TRIMTAB_PRINT_DECISIONS", "0", flag(), "1: the decisions of tuning are printed when the runtime ends",
      "print-decisions"},
     [](chosen_options& into, const value& to) { into.tuning.print_decisions = to.is_set(); }},
};

}  // namespace

std::span<const row<chosen_options>> option_table() noexcept { return table; }
std::span<const meter_tunables> tunables_of_meters() noexcept { return meters; }

}  // namespace trimtab::task_steering
