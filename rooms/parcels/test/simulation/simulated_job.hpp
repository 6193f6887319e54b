// Localities that send each other parcels in simulated time.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "simulation/simulated_locality.hpp"

namespace trimtab::parcels::simulation {

struct job_parameters {
  std::uint32_t localities = 2;
  std::uint32_t workers = 1;  // of each
  network_parameters network = {};
  cpu_costs costs = {};
  coalescing settings = {};
  std::uint64_t seed = 1;
  bool keeps_trace = false;
};

class simulated_job {
 public:
  explicit simulated_job(const job_parameters& parameters)
      : m_network(std::make_shared<simulated_network>(m_events, parameters.localities, parameters.network, parameters.seed,
                                                      simulated_network::options{.keeps_trace = parameters.keeps_trace})) {
    for (locality_number number = 0; number < parameters.localities; ++number)
      m_localities.push_back(std::make_unique<simulated_locality>(m_network, number, parameters.settings, parameters.costs,
                                                                  parameters.workers));
  }

  event_queue& events() noexcept { return m_events; }
  simulated_network& network() noexcept { return *m_network; }
  simulated_locality& at(locality_number number) { return *m_localities.at(number); }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(m_localities.size()); }
  nanoseconds now() const noexcept { return m_events.now(); }

  // Until `is_over`, which is asked after each event. False: most_ns of simulated time were not enough.
  bool run_until(const std::function<bool()>& is_over, nanoseconds most_ns = 10'000'000'000) {
    const nanoseconds end = m_events.now() + most_ns;
    while (!is_over())
      if (m_events.now() > end || !m_events.run_next()) return false;
    return true;
  }

 private:
  event_queue m_events;  // the last to be destroyed
  std::shared_ptr<simulated_network> m_network;
  std::vector<std::unique_ptr<simulated_locality>> m_localities;
};

}  // namespace trimtab::parcels::simulation
