#include "trimtab/observe/page_cost.hpp"

#include <sys/mman.h>

#include <cstdint>

#include "trimtab/base/clock.hpp"

namespace trimtab::observe {

std::optional<page_cost> measured_page_cost(std::size_t page_bytes) noexcept {
  constexpr std::size_t pages = 32;
  void* const begin = mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) return std::nullopt;
  madvise(begin, pages * page_bytes, MADV_NOHUGEPAGE);
  std::uint64_t fault_ns = 0, release_ns = 0;
  for (int round = 0; round < 2; ++round) {
    const std::uint64_t started = base::monotonic_ns();
    for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(begin)[i * page_bytes] = 1;
    const std::uint64_t faulted = base::monotonic_ns();
    madvise(begin, pages * page_bytes, MADV_DONTNEED);
    fault_ns = faulted - started;
    release_ns = base::monotonic_ns() - faulted;
  }
  munmap(begin, pages * page_bytes);
  return page_cost{static_cast<double>(fault_ns) * 1e-9 / pages, static_cast<double>(release_ns) * 1e-9 / pages};
}

}  // namespace trimtab::observe
