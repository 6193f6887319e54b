// Work of one place in the program that comes again and again, with a size that may be another each time: the grain of a
// loop, the partition of a stencil. Begun and ended by the program's threads, turned and emptied by the steering thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "worker_cap.hpp"

namespace trimtab::task_steering {

class repeated_work {
 public:
  struct begun {
    std::int64_t size = 0;
    steer::decision_number under = 0;
    steer::decision_number workers_under = 0;
    double joules = 0;  // as cost_meter, until then
  };

  repeated_work(worker_cap& cap, std::int64_t size) noexcept : m_cap(cap), m_size(size) {}

  begun begin() noexcept;
  void end(const begun& repetition, double seconds, double units) noexcept;

  // By the board.
  void turn(std::int64_t size) noexcept;
  void in_force(steer::decision_number number) noexcept;

  // Since the call before.
  std::vector<steer::measurement> take();
  struct known {
    double unit_s = 0;      // of the first ones, by wall time
    double most_units = 0;  // of one
  };
  // Nothing (unit_s of 0) until a few have been seen.
  known so_far() noexcept;
  struct all {
    double seconds = 0, units = 0;
  };
  all total() noexcept;

 private:
  worker_cap& m_cap;
  std::mutex m_lock;  // of all that follows
  std::int64_t m_size;
  steer::decision_number m_under = 0;
  std::uint32_t m_seen = 0;
  resources m_first;
  double m_first_units = 0;
  double m_most_units = 0;
  all m_total;
  struct {
    steer::decision_number under = 0;
    resources used;
    double units = 0;
  } m_joined;
  std::vector<steer::measurement> m_measured;
};

}  // namespace trimtab::task_steering
