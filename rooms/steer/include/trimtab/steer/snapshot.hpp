// All that the engine is ever told, since the snapshot before. Plain data; text form in log.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/steer/knob.hpp"

namespace trimtab::steer {

// Numbers of decisions, from 1 in a run; 0: before any.
using decision_number = std::uint64_t;

// One instance of a subject, or several short ones together. Finite figures, seconds >= 0; others are left out and counted.
struct measurement {
  decision_number under = 0;  // the latest decision on the subject that was in force when it began
  double value = 0;           // the objective, for one unit of work: less is better
  double seconds = 0;         // how long the program was in it
  // The latest decision on others of its group that was in force meanwhile. What is measured beside a trial is left out.
  decision_number beside = 0;
  bool operator==(const measurement&) const = default;
};

struct figure {
  std::string name;
  double value = 0;
  bool operator==(const figure&) const = default;
};

// Names of figures that several adapters tell; others are as good. Shares are of 0 to 1.
namespace figures {
inline constexpr std::string_view imbalance = "imbalance";  // slowest over mean work of the lanes: 1 is even
inline constexpr std::string_view wait_share = "wait_share";
inline constexpr std::string_view wait_seconds = "wait_seconds";  // of a thread in an instance, in the mean
inline constexpr std::string_view instance_seconds = "instance_seconds";
inline constexpr std::string_view overhead_seconds = "overhead_seconds";  // fork and join, or managing one task
inline constexpr std::string_view run_delay_share = "run_delay_share";    // runnable without a CPU, of the lanes' time
inline constexpr std::string_view idle_share = "idle_share";              // of the CPUs available
}  // namespace figures

struct subject_info {
  subject_id id = 0;
  std::string name;
  std::vector<knob> knobs;
  // What is measured of one of a group changes with the others' knobs: one of them is on trial at a time. 0: of none.
  std::uint64_t group = 0;
  std::optional<std::uint32_t> place_of(std::string_view knob_name) const noexcept;  // among its knobs
  bool operator==(const subject_info&) const = default;
};

struct subject_state {
  subject_id id = 0;
  std::vector<measurement> measured;  // oldest first
  std::vector<figure> figures;
  bool operator==(const subject_state&) const = default;
};

// Something that triggered policies wait for; what follows from the snapshot itself is not told (event_source.hpp).
struct event {
  std::string name;
  subject_id subject = 0;
  double value = 0;
  bool operator==(const event&) const = default;
};

struct snapshot {
  double time_s = 0;  // since the run began; never falls
  std::vector<subject_info> appeared;
  std::vector<subject_id> gone;
  std::vector<decision_number> not_applied;  // their owner could not, and has the values accepted before in force
  std::vector<std::string> overdue;          // policies that their caller gave up on
  std::vector<subject_state> subjects;
  std::vector<figure> figures;  // of the whole process
  std::vector<event> events;
  bool is_last = false;  // the program ends
  bool operator==(const snapshot&) const = default;
};

// The figure of that name; nullptr: there is none.
const figure* find_figure(std::span<const figure> from, std::string_view name) noexcept;
// Its value; otherwise what is given.
double figure_or(std::span<const figure> from, std::string_view name, double otherwise) noexcept;

}  // namespace trimtab::steer
