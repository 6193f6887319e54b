// On which node of memory the process's pages lie, and on which nodes its threads run: on machines with several nodes. A
// page is taken from the node of the thread that first writes to it. Nothing allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace trimtab::observe {

// Fills `nodes` with the node of each page; negative: the page has none yet. False: the kernel does not say.
using locate_pages = bool (*)(void* const* pages, std::size_t count, int* nodes);
bool locate_pages_by_kernel(void* const* pages, std::size_t count, int* nodes) noexcept;

struct page_nodes {
  std::uint32_t pages = 0;  // that were looked up, evenly over large mappings
  int fullest = 0;          // the node that has most of them
  double fullest_share = 0;
  double remote_share = 0;  // of the pages, as threads see them: those that are not on the thread's node, mean over threads
  double distance = 1;      // from other nodes with threads to the fullest, over that within a node, as the firmware says
};

// `cpus`: where threads run, one entry each. Nothing: one node, fewer than two threads, little memory, or the kernel does
// not say.
std::optional<page_nodes> read_page_nodes(const char* root, const std::uint32_t* cpus, std::size_t threads,
                                          locate_pages locate = locate_pages_by_kernel) noexcept;

}  // namespace trimtab::observe
