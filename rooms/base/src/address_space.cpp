#include "trimtab/base/address_space.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>

namespace trimtab::base {

namespace {

constexpr std::size_t own_part = 16;   // of the limit, for all reservations together
constexpr std::size_t file_part = 8;   // of what is left of that, for one file: the later ones get something, too
std::atomic<std::size_t> reserved{0};  // bytes

}  // namespace

std::size_t affordable_reserve(std::size_t needed, std::size_t wanted) noexcept {
  std::size_t granted = std::max(needed, wanted);
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const auto own_limit = static_cast<std::size_t>(limit.rlim_cur) / own_part;
    const std::size_t used = std::min(own_limit, reserved.load(std::memory_order_relaxed));
    granted = std::max(needed, std::min(wanted, (own_limit - used) / file_part));
  }
  reserved.fetch_add(granted, std::memory_order_relaxed);
  return granted;
}

void give_back_reserve(std::size_t bytes) noexcept { reserved.fetch_sub(bytes, std::memory_order_relaxed); }

}  // namespace trimtab::base
