// A program of one or more subjects that exists only in memory: each step of it runs every subject for a while under the
// values that are in force, and tells the engine. Seeded.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "trimtab/steer/board.hpp"
#include "trimtab/steer/engine.hpp"

namespace trimtab::steer::testing {

inline knob numbers(std::string name, knob_value low, knob_value high, knob_value initial, double cost_s = 0) {
  return {std::move(name), *domain::range(low, high), initial, cost_s, consent::safe, 0, {}};
}
inline knob kinds(std::string name, std::vector<std::string> names, double cost_s = 0) {
  return {std::move(name), *domain::categories(std::move(names)), 0, cost_s, consent::safe, 0, {}};
}

// Seconds of one instance under these values.
using time_of = std::function<double(const std::vector<knob_value>&, double now_s)>;

// Proposes what a test says.
class scripted : public policy {
 public:
  using script = std::function<void(const view&, std::vector<proposal>&)>;
  explicit scripted(script script_run, std::string name = "scripted", cadence policy_cadence = {})
      : m_what(std::move(script_run)), m_name(std::move(name)), m_when(std::move(policy_cadence)) {}
  std::string_view name() const noexcept override { return m_name; }
  cadence when() const override { return m_when; }
  void observe(const view& now, std::vector<proposal>& out) override { m_what(now, out); }

 private:
  script m_what;
  std::string m_name;
  cadence m_when;
};

// As scripted, but no search.
class scripted_rule : public scripted {
 public:
  using scripted::scripted;
  bool is_search() const noexcept override { return false; }
};

inline proposal trial_of(subject_id subject, std::vector<proposed_change> changes) {
  proposal proposed;
  proposed.subject = subject;
  proposed.changes = std::move(changes);
  return proposed;
}
inline proposal setting_of(subject_id subject, std::vector<proposed_change> changes) {
  proposal proposed = trial_of(subject, std::move(changes));
  proposed.what = outcome::set;
  return proposed;
}
inline proposal ending(subject_id subject, outcome result_kind) {
  proposal proposed;
  proposed.subject = subject;
  proposed.what = result_kind;
  return proposed;
}

class scenario {
 public:
  explicit scenario(engine_options options = {}) : steering(std::move(options)) {}

  void add(const subject_info& info, time_of seconds, std::vector<figure> figures = {}) {
    program& fresh = m_programs[info.id];
    fresh.seconds = std::move(seconds);
    fresh.figures = std::move(figures);
    for (const knob& knob : info.knobs) fresh.values.push_back(knob.initial);
    knobs.add(
        info,
        [&fresh](std::uint32_t knob, knob_value to) {
          fresh.values[knob] = to;
          return true;
        },
        [&fresh](decision_number number) { fresh.under = number; });
    m_appeared.push_back(info);
  }

  // One instance of every subject, then a snapshot.
  const std::vector<decision>& run(bool is_last = false) {
    snapshot now;
    now.appeared = std::exchange(m_appeared, {});
    for (auto& [id, each] : m_programs) {
      const double took = each.seconds(each.values, time_s);
      time_s += took;
      in_subject_s[id] += took;
      now.subjects.push_back({id, {{each.under, took, took}}, each.figures});
    }
    now.time_s = time_s;
    now.is_last = is_last;
    return tell(now);
  }
  const std::vector<decision>& tell(const snapshot& now) {
    seen.push_back(now);
    const std::vector<decision>& decisions_made = steering.step(now);
    for (const decision& decision : decisions_made) {
      EXPECT_TRUE(knobs.apply(decision));
      log.push_back(decision);
    }
    return decisions_made;
  }
  void run_until(double end_s) {
    while (time_s < end_s) run();
    run(true);
  }
  const std::vector<knob_value>& values(subject_id id) { return m_programs.at(id).values; }

  engine steering;
  board knobs;
  double time_s = 0;
  std::vector<snapshot> seen;
  std::vector<decision> log;
  std::map<subject_id, double> in_subject_s;

 private:
  struct program {
    time_of seconds;
    std::vector<figure> figures;
    std::vector<knob_value> values;
    decision_number under = 0;
  };
  std::map<subject_id, program> m_programs;
  std::vector<subject_info> m_appeared;
};

}  // namespace trimtab::steer::testing
