// Chooses the locality of a task that has become runnable: at random, in inverse proportion to the load. Pure: no thread, no
// clock. One thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trimtab/parcels/transport/transport.hpp"
#include "trimtab/steer/random.hpp"

namespace trimtab::parcels {

struct placement_options {
  std::uint64_t seed = 1;
  // By this the weight of the own locality is multiplied: from 1 on fewer tasks move. At least 0.
  double local_preference = 1;
};

// What is known about a locality when a task is placed.
struct placement_load {
  double tasks = 0;        // running and eligible
  double workers = 1;      // where it is unknown: 1
  std::uint32_t age = 0;   // periods ago
  bool is_known = true;    // false: nothing has been heard of it, and its load counts as 0
  bool is_present = true;  // false: it has left or is lost, and gets nothing
};

class placement {
 public:
  placement(std::uint32_t localities, locality_number self, const placement_options& settings);

  // A locality is drawn with the weight workers / (tasks + 1). tasks includes what was sent from here to that locality in or
  // after the period in which its load was read: without this, all tasks of a period go where the load was least.
  // senders: how many times as many tasks all localities place together as this one does, 1 or more. Others see the same
  // loads: what was sent from here counts so many times.
  locality_number choose(std::span<const placement_load> loads, double senders = 1);
  // Tasks that were sent to others in the last periods, as far as they are remembered.
  std::uint64_t sent() const noexcept;
  void pass_periods(std::uint64_t count) noexcept;
  void pass_period() noexcept { pass_periods(1); }
  double weight_of(locality_number which, const placement_load& load, double senders = 1) const;

 private:
  // Tasks that were sent longer ago count as ended.
  static constexpr std::uint32_t remembered_periods = 16;
  struct sent_tasks {
    std::uint32_t by_period[remembered_periods] = {};
  };
  double sent_since(locality_number which, const placement_load& load) const;

  locality_number m_self;
  placement_options m_settings;
  steer::random_source m_random;
  std::uint64_t m_period = 0;
  std::vector<sent_tasks> m_sent;
  std::vector<double> m_sums;  // of weights, for one choice
};

}  // namespace trimtab::parcels
