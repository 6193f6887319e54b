// A member of a shared search: carries out orders between two measurements of the program. Nothing happens to the program
// outside of sample(), go_on() and finish(). One thread at a time; no clock, no transport.
#pragma once

#include <functional>
#include <optional>

#include "trimtab/steer/shared_order.hpp"

namespace trimtab::steer {

class shared_search_member {
 public:
  // Puts values in force. False, or an exception: these values cannot be used, and those before are still in force.
  using apply_values = std::function<bool(const knob_values& values)>;
  // Told of each change of what is in force, and of what is accepted. Its number rises from 1.
  using listener = std::function<void(const decision& decision_made)>;

  shared_search_member(knob_values initial, apply_values apply, listener on_decision = {});

  // An older order than the latest one is ignored.
  void take(shared_order order);
  // What the program has measured since the call before, under values(): less is better; infinity: it failed. The report, if
  // an order has been carried out.
  std::optional<shared_report> sample(double value);
  // Begins an order that was taken since, without waiting for the next measurement. Between two measurements only.
  std::optional<shared_report> go_on();
  // Back to what is accepted. Orders are not carried out any more.
  void finish();

  const knob_values& values() const noexcept { return m_values; }
  const knob_values& accepted() const noexcept { return m_accepted; }
  // The latest search is over, and this member runs with its result.
  bool is_settled() const noexcept { return m_is_settled; }

 private:
  void count(double value);
  bool is_leg_over() const;
  void end_leg(double median);
  std::optional<shared_report> begin_order();
  std::optional<shared_report> begin_legs();
  shared_report end_order();
  bool put_in_force(const knob_values& values);
  void tell(outcome what, const knob_values& from, const knob_values& to);

  knob_values m_values, m_accepted;
  const apply_values m_apply;
  const listener m_listener;
  decision_number m_decisions = 0;
  std::uint64_t m_latest = 0;
  shared_order m_next, m_order;
  bool m_has_next = false, m_has_order = false;
  std::size_t m_leg = 0;
  std::uint32_t m_to_skip = 0;
  std::vector<double> m_taken;
  std::vector<double> m_idle;  // the latest measurements under m_values while there was no order
  shared_report m_report;
  bool m_is_settled = false, m_is_over = false;
};

}  // namespace trimtab::steer
