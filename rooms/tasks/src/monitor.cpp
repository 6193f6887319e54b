#include "monitor.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::tasks {

namespace {

// What a watched run keeps: all of the total, and of each worker what shows who does what.
constexpr const char* recorded_paths[] = {"/threads{locality#0/total}/*", "/threadqueue{locality#0/total}/length",
                                          "/threads{locality#0/worker-thread#*}/idle-rate",
                                          "/threadqueue{locality#0/worker-thread#*}/length"};
constexpr std::uint32_t record_ms = 50;

}  // namespace

monitor::monitor(const runtime& owner, const std::vector<std::string>& print, std::uint32_t print_ms, bool is_recorded)
    : m_runtime(owner), m_print_ms(print.empty() ? 0 : print_ms), m_begin(base::now()) {
  for (const std::string& path : print)
    for (const counter& item : find_counters(owner, path)) m_printed.push_back(item);
  if (is_recorded)
    for (const char* path : recorded_paths)
      for (const counter& item : find_counters(owner, path))
        // Rates and means are of the whole run so far.
        if (const std::uint32_t number = recording::counter(item.path().c_str(), item.type().unit, false))
          m_recorded.push_back({item, number});
  if (m_print_ms == 0 && m_recorded.empty()) return;
  m_thread = std::thread([this] { watch(); });
  pthread_setname_np(m_thread.native_handle(), "trimtab-monitor");
}

monitor::~monitor() {
  {
    const std::lock_guard guard(m_lock);
    m_is_ending = true;
  }
  m_ends.notify_all();
  if (m_thread.joinable()) m_thread.join();
  const snapshot last(m_runtime);
  record(last);
  print(last);
}

void monitor::watch() {
  using clock = std::chrono::steady_clock;
  // More workers, fewer samples: what it costs stays.
  const auto record_period = std::chrono::milliseconds(record_ms * (1 + m_runtime.workers() / 32));
  const auto print_period = std::chrono::milliseconds(m_print_ms);
  auto next_record = m_recorded.empty() ? clock::time_point::max() : clock::now() + record_period;
  auto next_print = m_print_ms == 0 ? clock::time_point::max() : clock::now() + print_period;
  std::unique_lock guard(m_lock);
  while (!m_is_ending) {
    m_ends.wait_until(guard, std::min(next_record, next_print));
    if (m_is_ending) break;
    const auto current_time = clock::now();
    const snapshot counts(m_runtime);
    if (current_time >= next_record) {
      record(counts);
      next_record = current_time + record_period;
    }
    if (current_time >= next_print) {
      print(counts);
      next_print += print_period;
    }
  }
}

// path,seconds since the runtime began,value,unit. A figure that is not there is "not available".
void monitor::print(const snapshot& counts) const {
  const double seconds = static_cast<double>(counts.at - m_begin) * counts.ns_per_tick * 1e-9;
  for (const counter& item : m_printed) {
    const double value = item.value(counts);
    if (std::isnan(value))
      std::fprintf(stderr, "%s,%.6f,not available,%s\n", item.path().c_str(), seconds, item.type().unit);
    else
      std::fprintf(stderr, "%s,%.6f,%.9g,%s\n", item.path().c_str(), seconds, value, item.type().unit);
  }
}

void monitor::record(const snapshot& counts) const {
  for (const recorded& item : m_recorded)
    if (const double value = item.item.value(counts); !std::isnan(value)) recording::set(item.number, value);
}

}  // namespace trimtab::tasks
