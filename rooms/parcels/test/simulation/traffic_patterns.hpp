// Programs of two simulated localities: kinds of traffic that differ in what coalescing does to them. Each returns simulated
// ns a step, or a negative figure if the job did not come to its end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulation/simulated_job.hpp"

namespace trimtab::parcels::simulation {

struct traffic_result {
  double ns = -1;              // of a step
  double longest_ns = 0;       // paced: from sending to handling
  std::string sent_because;    // the sender's messages by reason
  std::uint64_t messages = 0;  // all of them, acknowledgements included
};

struct traffic_pattern {
  const char* name;
  const char* unit;
  traffic_result (*run)(const job_parameters& parameters);
};

// Calls that each need the result of the one before.
traffic_result run_ping(const job_parameters& parameters);
// 10,000 parcels, as fast as possible, until all are handled.
traffic_result run_burst(const job_parameters& parameters);
// Calls, 32 of which are under way.
traffic_result run_window(const job_parameters& parameters);
// Rounds of 32 parcels without results and one call, which the next round needs.
traffic_result run_stream(const job_parameters& parameters);
// A parcel every 20 us, of a worker that computes in between: mean time from sending to handling.
traffic_result run_paced(const job_parameters& parameters);
// Ping, burst and window, a little of each in turn.
traffic_result run_changing(const job_parameters& parameters);

const std::vector<traffic_pattern>& traffic_patterns();

}  // namespace trimtab::parcels::simulation
