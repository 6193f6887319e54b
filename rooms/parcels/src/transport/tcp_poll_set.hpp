// The descriptors that a step of the start waits for. One thread.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trimtab::parcels::tcp {

class poll_set {
 public:
  void clear() noexcept { m_polled.clear(); }
  void add(int descriptor, short events) { m_polled.push_back({descriptor, events, 0}); }

  // Until one of them is ready, `until_ns` (CLOCK_MONOTONIC) has come, or a signal did.
  void wait(std::uint64_t now_ns, std::uint64_t until_ns) noexcept {
    constexpr std::uint64_t ns_per_s = 1'000'000'000;
    const std::uint64_t ns = until_ns > now_ns ? until_ns - now_ns : 0;
    const timespec timeout{static_cast<time_t>(ns / ns_per_s), static_cast<long>(ns % ns_per_s)};
    ppoll(m_polled.data(), m_polled.size(), &timeout, nullptr);
  }

 private:
  std::vector<pollfd> m_polled;
};

}  // namespace trimtab::parcels::tcp
