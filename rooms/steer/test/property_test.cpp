// Whatever policies do and programs measure: values stay in their domains, the budget is kept, and at the end every knob has
// an accepted value. Random policies, random measurements, subjects that come and go, owners that refuse; seeded.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "scenario.hpp"
#include "trimtab/steer/random.hpp"

namespace trimtab::steer::testing {
namespace {

constexpr double budget_share = 0.05;

// Proposes anything, mostly sound; now and then nonsense, when it is of that kind.
class random_policy : public policy {
 public:
  random_policy(std::uint64_t seed, int number)
      : m_random(seed), m_name("random-" + std::to_string(number)), m_nonsense(number % 2 == 0 ? 0.002 : 0) {}
  std::string_view name() const noexcept override { return m_name; }
  cadence when() const override { return {m_random.coin() ? 0.0 : 0.05, {}}; }
  void observe(const view& now, std::vector<proposal>& out) override {
    for (const subject_view& subject : now.subjects) {
      if (m_random.share() < 0.4) continue;
      proposal proposed;
      proposed.subject = subject.info.id;
      proposed.what = static_cast<outcome>(1 + m_random.below(4));
      if (proposed.what == outcome::trial || proposed.what == outcome::set)
        for (std::uint32_t i = 0; i < subject.info.knobs.size(); ++i) {
          const domain& values = subject.info.knobs[i].values;
          if (m_random.coin()) proposed.changes.push_back({i, values.at(m_random.below(values.size()))});
        }
      out.push_back(proposed);
    }
    if (!now.gone.empty()) out.push_back(trial_of(now.gone.front(), {{0, 1}}));
    if (m_random.share() >= m_nonsense || now.subjects.empty()) return;
    switch (m_random.below(3)) {
      case 0:
        throw m_random.next();
      case 1:
        out.push_back(trial_of(now.subjects.front().info.id, {{99, 0}}));
        break;
      default:
        out.push_back(trial_of(now.subjects.front().info.id, {{0, -12'345}}));
    }
  }

 private:
  mutable random_source m_random;
  std::string m_name;
  double m_nonsense;
};

struct program {
  subject_info info;
  std::vector<knob_value> values;
  decision_number under = 0;
  double level = 0;
};

class world {
 public:
  explicit world(std::uint64_t seed) : m_random(seed) {
    engine_options options;
    options.budget_share = budget_share;
    steering = std::make_unique<engine>(options);
    for (int i = 0; i < 3; ++i) steering->add(std::make_unique<random_policy>(seed * 7 + static_cast<std::uint64_t>(i), i));
  }

  void step(bool is_last) {
    snapshot now;
    m_time += 0.001 + 0.02 * m_random.share();
    now.time_s = m_random.share() < 0.01 ? std::nan("") : m_time;
    now.is_last = is_last;
    now.not_applied = std::exchange(m_refused, {});
    if (m_programs.size() < 4 && m_random.share() < 0.1) now.appeared.push_back(appear());
    for (auto& [id, each] : m_programs) now.subjects.push_back(measured(id, each));
    if (!m_programs.empty() && m_random.share() < 0.02) {
      const subject_id subject_gone = m_programs.begin()->first;
      now.gone.push_back(subject_gone);
      knobs.remove(subject_gone);
      m_programs.erase(subject_gone);
    }
    const bool was_spent = steering->spent().left_s(m_time) <= 0;
    for (const decision& decision : steering->step(now)) check(decision, was_spent);
    for (const auto& [id, each] : m_programs) {
      EXPECT_TRUE(steering->spent().left_s(m_time) > 0 || m_stuck.contains(id) || each.values == knobs.accepted(id));
    }
  }

  void check(const decision& decision_made, bool was_spent) {
    ASSERT_TRUE(m_programs.contains(decision_made.subject));
    if (was_spent) {
      EXPECT_EQ(decision_made.what != outcome::trial && decision_made.what != outcome::set, true)
          << "a search beyond its budget";
    }
    const program& owner_program = m_programs.at(decision_made.subject);
    for (const change& change : decision_made.changes)
      EXPECT_TRUE(owner_program.info.knobs.at(change.knob).values.contains(change.to));
    EXPECT_GT(decision_made.number, m_last);
    m_last = decision_made.number;
    if (!knobs.apply(decision_made)) {
      m_refused.push_back(decision_made.number);
      m_stuck.insert(decision_made.subject);
    }
  }

  void at_the_end() {
    for (const auto& [id, each] : m_programs) {
      EXPECT_TRUE(m_stuck.contains(id) || each.values == knobs.accepted(id));
      for (std::size_t i = 0; i < each.values.size(); ++i) EXPECT_TRUE(each.info.knobs[i].values.contains(each.values[i]));
    }
    // On top of the share: one step's measurements of each trial that was under way, and the way back.
    EXPECT_LT(steering->spent().spent_s(), budget_share * m_time + 4 * 4 * 2.0);
  }

  std::unique_ptr<engine> steering;
  board knobs;

 private:
  subject_info appear() {
    const subject_id id = m_next_id++;
    program& fresh = m_programs[id];
    fresh.info = {id, "subject", {numbers("a", 1, 1 + static_cast<knob_value>(m_random.below(9)), 1, 1e-5)}};
    if (m_random.coin()) fresh.info.knobs.push_back(kinds("b", {"x", "y", "z"}, 1e-4 * m_random.share()));
    for (const knob& knob : fresh.info.knobs) fresh.values.push_back(knob.initial);
    fresh.level = 0.001 + 0.01 * m_random.share();
    knobs.add(
        fresh.info,
        [this, &fresh](std::uint32_t knob, knob_value to) {
          if (m_random.share() < 0.001) return false;
          fresh.values[knob] = to;
          return true;
        },
        [&fresh](decision_number number) { fresh.under = number; });
    return fresh.info;
  }

  subject_state measured(subject_id id, const program& owner_program) {
    subject_state now{id, {}, {}};
    for (std::uint64_t n = m_random.below(4); n > 0; --n) {
      const double seconds = owner_program.level * (0.5 + m_random.share()) * static_cast<double>(owner_program.values[0]);
      now.measured.push_back({owner_program.under, seconds, seconds});
      if (m_random.share() < 0.01)
        now.measured.back().value = m_random.coin() ? -1.0 : std::numeric_limits<double>::infinity();
    }
    return now;
  }

  random_source m_random;
  double m_time = 0;
  subject_id m_next_id = 1;
  decision_number m_last = 0;
  std::map<subject_id, program> m_programs;
  std::vector<decision_number> m_refused;
  std::set<subject_id> m_stuck;
};

TEST(property, whatever_policies_do) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    world simulated(seed);
    for (int i = 0; i < 400; ++i) simulated.step(false);
    simulated.step(true);
    simulated.at_the_end();
    if (::testing::Test::HasFailure()) break;
  }
}

TEST(property, random_policies_do_something) {
  std::uint64_t decisions = 0, disabled = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    world simulated(seed);
    for (int i = 0; i < 400; ++i) simulated.step(false);
    for (const policy_report& report : simulated.steering->reports()) {
      decisions += report.decisions;
      disabled += !report.is_enabled;
    }
  }
  EXPECT_GT(decisions, 500u);
  EXPECT_GT(disabled, 5u);
}

}  // namespace
}  // namespace trimtab::steer::testing
