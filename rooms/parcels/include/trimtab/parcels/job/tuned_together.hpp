// Knobs of a program that all localities of a job search together: each measures other candidates at the same time, and what
// all together prove to be faster is kept by all.
//
//   trimtab::tuned_together blocks(job, "stencil", {{"block", {8, 16, 32, 64, 128}, 8}});
//   for (...) {
//     blocks.begin();
//     step(blocks.value());
//     blocks.end(points);      // measures the time of a point; may give another value to the next step
//   }
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trimtab/parcels/job/job.hpp"
#include "trimtab/steer/shared_search.hpp"

namespace trimtab::parcels {

struct tuned_knob {
  std::string name;                  // without spaces
  std::vector<std::int64_t> values;  // any of which gives a right answer
  std::int64_t initial;              // one of them
};

struct tuned_together_options {
  // Puts values in force; called between two measurements, by the thread that reports one. False, or an exception: they
  // cannot be used. Not set: the program asks for the values.
  std::function<bool(std::span<const std::int64_t> values)> apply = {};
  steer::shared_search_options search = {};  // those of locality 0 count
};

class tuned_together {
 public:
  // Localities that give the same name and the same knobs search together, as soon as locality 0 is among them. It must be
  // destroyed before the job. Throws std::invalid_argument if the knobs make no sense, or the name is in use here.
  tuned_together(job& owner, const std::string& name, const std::vector<tuned_knob>& knobs,
                 const tuned_together_options& options = {});
  // Back to what is accepted, if a candidate is in force. The others go on.
  ~tuned_together();
  tuned_together(const tuned_together&) = delete;
  tuned_together& operator=(const tuned_together&) = delete;

  // Constant until the next measurement is reported.
  std::int64_t value(std::size_t knob = 0) const { return values()[knob]; }
  std::span<const std::int64_t> values() const noexcept;

  // What was measured of the work since the call before, all under values(): less is better; infinity: it failed. It must
  // be this locality's own cost: time in which it has waited for others says nothing of its candidate. One thread at a time.
  void sample(double value);
  // The same, of the time from begin to end for each unit of work.
  void begin() noexcept { m_began = std::chrono::steady_clock::now(); }
  void end(double units = 1);

  // The latest search is over, and its result is in force here.
  bool is_settled() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> m_state;
  std::chrono::steady_clock::time_point m_began{};
};

}  // namespace trimtab::parcels
