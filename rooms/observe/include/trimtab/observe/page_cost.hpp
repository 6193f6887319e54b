// What a page of memory costs the process that uses it for the first time, and gives it back.
#pragma once

#include <cstddef>
#include <optional>

namespace trimtab::observe {

// Seconds a page: the fault that maps it at its first use, and giving it back.
struct page_cost {
  double fault_s = 0;
  double release_s = 0;
};

// Measured on pages of our own, once they have had their page table: some 0.1 ms. Nothing: there is no memory.
std::optional<page_cost> measured_page_cost(std::size_t page_bytes) noexcept;

}  // namespace trimtab::observe
