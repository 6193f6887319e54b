#include "trimtab/parcels/job/tuned_together.hpp"

#include <algorithm>
#include <stdexcept>

#include "../steering/shared_tuning.hpp"

namespace trimtab::parcels {

namespace {

std::vector<steer::knob> checked_knobs(const std::string& name, const std::vector<tuned_knob>& knobs) {
  const auto fail = [&name](const std::string& problem) {
    throw std::invalid_argument("trimtab: the knobs of '" + name + "': " + problem);
  };
  if (knobs.empty()) fail("expected at least one, found none");
  std::vector<steer::knob> checked;
  for (const tuned_knob& each : knobs) {
    if (each.values.empty()) fail("expected at least one value of " + each.name + ", found none");
    const steer::domain values = steer::certain(steer::domain::set(each.values));
    if (!values.contains(each.initial))
      fail("expected that " + each.name + " begins with one of its values, found " + std::to_string(each.initial));
    const auto is_same = [&each](const steer::knob& other) { return other.name == each.name; };
    if (std::any_of(checked.begin(), checked.end(), is_same)) fail("expected names that differ, found two of " + each.name);
    checked.push_back({each.name, values, each.initial, 0, steer::consent::safe, 0, {}});
  }
  return checked;
}

}  // namespace

struct tuned_together::state {
  std::shared_ptr<shared_tuning> tuning;
  std::shared_ptr<shared_tuning_member> member;
};

tuned_together::tuned_together(job& owner, const std::string& name, const std::vector<tuned_knob>& knobs,
                               const tuned_together_options& options) {
  steer::shared_search_member::apply_values apply = [](const steer::knob_values&) { return true; };
  if (options.apply) apply = [own = options.apply](const steer::knob_values& values) { return own(values); };
  auto member = std::make_shared<shared_tuning_member>(name, checked_knobs(name, knobs), std::move(apply), options.search);
  owner.tuning()->add(member);
  m_state = std::make_unique<state>(state{owner.tuning(), std::move(member)});
}

tuned_together::~tuned_together() { m_state->tuning->remove(m_state->member); }

std::span<const std::int64_t> tuned_together::values() const noexcept { return m_state->member->member().values(); }

void tuned_together::sample(double value) { m_state->tuning->sample(*m_state->member, value); }

void tuned_together::end(double units) {
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - m_began;
  sample(units > 0 ? took.count() / units : 0);
}

bool tuned_together::is_settled() const noexcept { return m_state->member->member().is_settled(); }

}  // namespace trimtab::parcels
