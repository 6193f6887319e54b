#include "page_nodes.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "trimtab/base/read_file.hpp"
#include "trimtab/base/topology.hpp"

namespace trimtab::observe {

namespace {

constexpr std::size_t most_pages = 512;
constexpr std::size_t most_nodes = 64;
constexpr std::uint64_t least_mapping = std::uint64_t{4} << 20, least_memory = std::uint64_t{64} << 20;

// Calls visit(begin, end) for each large mapping of anonymous memory that can be written: heaps, arrays, variables of the
// program.
template <class function>
void for_each_mapping(const char* root, function&& visit) noexcept {
  char path[320];
  std::snprintf(path, sizeof path, "%s/proc/self/maps", root);
  const base::owned_descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  char text[8192];
  std::size_t kept = 0;
  for (long got; file.get() >= 0 && (got = read(file.get(), text + kept, sizeof text - 1 - kept)) > 0;) {
    text[kept + static_cast<std::size_t>(got)] = '\0';
    char* line = text;
    for (char* end; (end = std::strchr(line, '\n')) != nullptr; line = end + 1) {
      *end = '\0';
      unsigned long long first = 0, last = 0, file_number = 0;
      char rights[8] = {};
      if (std::sscanf(line, "%llx-%llx %7s %*s %*s %llu", &first, &last, rights, &file_number) != 4) continue;
      if (file_number == 0 && std::strncmp(rights, "rw-p", 4) == 0 && last - first >= least_mapping) visit(first, last);
    }
    kept = std::strlen(line);
    if (kept >= sizeof text - 1) return;  // no line is so long
    std::memmove(text, line, kept);
  }
}

std::size_t pick_pages(const char* root, void** pages) noexcept {
  std::uint64_t bytes = 0;
  for_each_mapping(root, [&](std::uint64_t begin, std::uint64_t end) { bytes += end - begin; });
  if (bytes < least_memory) return 0;
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t step = bytes / most_pages / page_bytes * page_bytes + page_bytes;
  std::size_t count = 0;
  std::uint64_t next = step / 2;  // within the mappings, one behind the other
  std::uint64_t before = 0;
  for_each_mapping(root, [&](std::uint64_t begin, std::uint64_t end) {
    for (; next < before + (end - begin) && count < most_pages; next += step)
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel tells addresses as numbers.
      pages[count++] = reinterpret_cast<void*>((begin + (next - before)) / page_bytes * page_bytes);
    before += end - begin;
  });
  return count;
}

// Of the node's line, the number at the place of another node. The lines have a number for each node that is online.
double distance_between(const char* root, int from, int to) noexcept {
  char path[320], text[4096];
  std::snprintf(path, sizeof path, "%s/sys/devices/system/node/node%d/distance", root, from);
  if (from == to || base::read_file(path, text, sizeof text) <= 0) return 1;
  double own = 0, other = 0;
  const char* at = text;
  for (int node = 0; node <= (from > to ? from : to); ++node) {
    char* end = nullptr;
    const double number = std::strtod(at, &end);
    if (end == at) return 1;
    if (node == from) own = number;
    if (node == to) other = number;
    at = end;
  }
  return own > 0 && other > own ? other / own : 1;
}

struct counts {
  std::size_t of_node[most_nodes] = {};
  std::size_t all = 0;

  void add(int node) noexcept {
    if (node < 0 || static_cast<std::size_t>(node) >= most_nodes) return;
    of_node[node] += 1;
    all += 1;
  }
  double share(int node) const noexcept { return static_cast<double>(of_node[node]) / static_cast<double>(all); }
};

}  // namespace

bool locate_pages_by_kernel(void* const* pages, std::size_t count, int* nodes) noexcept {
  const int saved = errno;
  const bool is_told = syscall(SYS_move_pages, 0L, count, pages, nullptr, nodes, 0L) == 0;
  errno = saved;
  return is_told;
}

std::optional<page_nodes> read_page_nodes(const char* root, const std::uint32_t* cpus, std::size_t threads,
                                          locate_pages locate) noexcept {
  static std::int16_t node_of_cpu[base::cpu_mask::most];  // too large for any stack; one thread at a time is here
  if (threads < 2 || base::read_nodes_of_cpus(node_of_cpu, base::cpu_mask::most, root) < 2) return std::nullopt;
  void* pages[most_pages];
  int nodes[most_pages];
  const std::size_t count = pick_pages(root, pages);
  if (count == 0 || !locate(pages, count, nodes)) return std::nullopt;
  counts of_pages, of_threads;
  for (std::size_t i = 0; i < count; ++i) of_pages.add(nodes[i]);
  for (std::size_t i = 0; i < threads; ++i)
    if (cpus[i] < base::cpu_mask::most) of_threads.add(node_of_cpu[cpus[i]]);
  if (of_pages.all == 0 || of_threads.all == 0) return std::nullopt;
  page_nodes result;
  result.pages = static_cast<std::uint32_t>(of_pages.all);
  for (int node = 0; node < static_cast<int>(most_nodes); ++node) {
    if (of_pages.of_node[node] > of_pages.of_node[result.fullest]) result.fullest = node;
    result.remote_share += of_threads.share(node) * (1 - of_pages.share(node));
  }
  result.fullest_share = of_pages.share(result.fullest);
  double sum = 0, others = 0;
  for (int node = 0; node < static_cast<int>(most_nodes); ++node) {
    if (node == result.fullest || of_threads.of_node[node] == 0) continue;
    sum += of_threads.share(node) * distance_between(root, node, result.fullest);
    others += of_threads.share(node);
  }
  result.distance = others > 0 ? sum / others : 1;
  return result;
}

}  // namespace trimtab::observe
