// How much of their time the threads that regions were seen on were runnable without a CPU. By the steering thread.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "trimtab/observe/thread_times.hpp"

namespace trimtab::session {

// Of all of them together. Nothing: the kernel does not tell.
std::optional<observe::thread_times> times_of_lanes();

class run_delay_share {
 public:
  using read_times = std::function<std::optional<observe::thread_times>()>;
  explicit run_delay_share(read_times read = times_of_lanes) : m_read(std::move(read)) {}

  // Since the last call. Nothing: the first one, threads have ended meanwhile, or the kernel does not tell.
  std::optional<double> share() {
    const std::optional<observe::thread_times> now = m_read();
    const std::optional<observe::thread_times> before = std::exchange(m_before, now);
    if (!now || !before || now->run_ns <= before->run_ns || now->run_delay_ns < before->run_delay_ns) return std::nullopt;
    const auto ran = static_cast<double>(now->run_ns - before->run_ns);
    const auto delayed = static_cast<double>(now->run_delay_ns - before->run_delay_ns);
    return delayed / (ran + delayed);
  }

 private:
  read_times m_read;
  std::optional<observe::thread_times> m_before;
};

}  // namespace trimtab::session
