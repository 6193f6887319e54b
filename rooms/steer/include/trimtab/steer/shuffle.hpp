// The policy that turns every safe knob at random, 20 times a second: no tuning, but the hardest test that a program's
// answer does not depend on them. Knobs that need consent are turned where it is given.
#pragma once

#include "trimtab/steer/policy.hpp"
#include "trimtab/steer/random.hpp"

namespace trimtab::steer {

class shuffle : public policy {
 public:
  explicit shuffle(std::uint64_t seed) : m_random(seed) {}
  std::string_view name() const noexcept override { return "shuffle"; }
  cadence when() const override { return {0.05, {}}; }
  bool is_search() const noexcept override { return false; }
  void observe(const view& now, std::vector<proposal>& out) override;

 private:
  random_source m_random;
};

}  // namespace trimtab::steer
