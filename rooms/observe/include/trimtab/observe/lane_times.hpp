// What the threads that have a lane did from one look to the next. For one thread; allocates.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "trimtab/observe/thread_times.hpp"

namespace trimtab::observe {

using times_of_threads = std::map<std::uint32_t, thread_times>;  // by number of the thread

// Of the recorder's open lanes. Empty: there are none, or the kernel does not tell.
times_of_threads read_lane_times(const char* root);

class lane_times {
 public:
  using reader = std::function<times_of_threads()>;
  explicit lane_times(const char* root = "") : lane_times([root] { return read_lane_times(root); }) {}
  explicit lane_times(reader read) : m_read(std::move(read)) {}

  // Of all of them together since the last call, of those that there were then. Nothing: the kernel does not tell.
  std::optional<thread_times> since_last();
  // The same, as the part of the time for which they wanted a CPU that they had none. Nothing: nobody has run, either.
  std::optional<double> delay_share();

 private:
  reader m_read;
  times_of_threads m_before;
};

}  // namespace trimtab::observe
