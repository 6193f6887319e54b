#include "counters/counter_printer.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "trimtab/parcels/counters/counters.hpp"
#include "trimtab/parcels/job/job.hpp"

namespace trimtab::parcels {

namespace {

bool is_of_messages(const std::string& path) noexcept {
  constexpr std::string_view objects[] = {"/parcels", "/messages", "/servers"};
  return std::ranges::any_of(objects, [&](std::string_view object) {
    return path.starts_with(object) &&
           (path.size() == object.size() || path[object.size()] == '/' || path[object.size()] == '{');
  });
}

}  // namespace

std::vector<std::string> counter_printer::take_paths(std::vector<std::string>& paths) {
  std::vector<std::string> taken;
  std::ranges::copy_if(paths, std::back_inserter(taken), is_of_messages);
  std::erase_if(paths, is_of_messages);
  return taken;
}

void counter_printer::check(const std::vector<std::string>& paths, locality_number number, std::uint32_t size,
                            std::size_t servers) {
  traffic_snapshot known;
  known.number = number;
  known.size = size;
  known.servers.resize(servers);
  for (const std::string& path : paths) find_counters(known, path);
}

counter_printer::counter_printer(job& owner, std::vector<std::string> paths, std::uint32_t period_ms)
    : m_job(owner), m_paths(std::move(paths)), m_begin(base::now()) {
  if (period_ms == 0) return;
  m_thread = std::thread([this, period_ms] { watch(period_ms); });
  pthread_setname_np(m_thread.native_handle(), "trimtab-counters");
}

counter_printer::~counter_printer() {
  {
    const std::lock_guard guard(m_lock);
    m_is_ending = true;
  }
  m_ends.notify_all();
  if (m_thread.joinable()) m_thread.join();
  print();
}

void counter_printer::watch(std::uint32_t period_ms) {
  const std::chrono::milliseconds period(period_ms);
  auto next = std::chrono::steady_clock::now() + period;
  std::unique_lock guard(m_lock);
  while (!m_ends.wait_until(guard, next, [this] { return m_is_ending; })) {
    print();
    next += period;
  }
}

// path,seconds since the job began,value,unit. A figure that is not there is "not available". Actions may be new each time.
void counter_printer::print() const {
  const traffic_snapshot counts(m_job);
  const double seconds = static_cast<double>(counts.at - m_begin) * counts.ns_per_tick * 1e-9;
  for (const std::string& path : m_paths)
    for (const traffic_counter& counter : find_counters(counts, path)) {
      const double value = counter.value(counts);
      if (std::isnan(value))
        std::fprintf(stderr, "%s,%.6f,not available,%s\n", counter.path().c_str(), seconds, counter.type().unit);
      else
        std::fprintf(stderr, "%s,%.6f,%.9g,%s\n", counter.path().c_str(), seconds, value, counter.type().unit);
    }
}

}  // namespace trimtab::parcels
