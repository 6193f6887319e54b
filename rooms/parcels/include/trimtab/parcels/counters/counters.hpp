// The counters of a job's messages, by path, as those of the task runtime (tasks/core/counters.hpp):
//
//   /parcels{locality#0/total}/count/sent                    /parcels/count/sent: the same
//   /parcels{locality#0/to#1}/count/sent                     to#*: each other locality
//   /parcels{locality#0/action#solve}/count/sent             action#*: each action that has been sent or received
//   /parcels{locality#0/to#1/action#solve}/count/sent
//   /servers{locality#0/server#1}/busy-share                 server#*: each communication server
//
//   const traffic_snapshot before(job);  ...
//   for (const traffic_counter& counter : find_counters(job, "/messages/*")) ... counter.value(traffic_snapshot(job),
//   before)
//
// A locality has its own counters only: to know those of another, call a function there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/parcels/counters/traffic.hpp"

namespace trimtab::parcels {

enum class counter_scope : std::uint8_t { locality, destination, action, server };

struct traffic_counter_type {
  const char* path;  // without instance: "/parcels/count/sent"
  const char* unit;
  bool is_exact;
  const char* meaning;
  // The finest: destination: also of the locality; action: also of a destination, and of both; server: also of the locality.
  counter_scope scope;
};

const std::vector<traffic_counter_type>& traffic_counter_types();

// What of a locality is counted. `all` and "": everything.
struct traffic_part {
  std::int64_t to = traffic_snapshot::all;
  std::string action = {};
  std::int64_t server = traffic_snapshot::all;  // with it, no locality and no action
};

class traffic_counter {
 public:
  traffic_counter(std::size_t type, locality_number locality, traffic_part part)
      : m_type(type), m_locality(locality), m_part(std::move(part)) {}

  const traffic_counter_type& type() const noexcept { return traffic_counter_types()[m_type]; }
  // With instance.
  std::string path() const;
  // In type().unit, over the time from `first` (if empty: the job's start) to `last`. NaN: the divisor is 0.
  double value(const traffic_snapshot& last, const traffic_snapshot& first = {}) const;

 private:
  std::size_t m_type;
  locality_number m_locality;
  traffic_part m_part;
};

// The counters that `path` names; "*" at its end stands for the rest. Actions are those of `known`. Throws
// std::invalid_argument, which names the part that is wrong.
std::vector<traffic_counter> find_counters(const traffic_snapshot& known, std::string_view path);
std::vector<traffic_counter> find_counters(job& owner, std::string_view path);

}  // namespace trimtab::parcels
