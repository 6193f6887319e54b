// An unbalanced tree: each node posts its children to localities drawn at random, and nobody knows how many there will be.
#include <atomic>
#include <cstdint>
#include <vector>

#include "job_program.hpp"

namespace {

// Nodes that this locality has visited, and the sum of what they hold.
std::atomic<std::uint64_t> visited{0}, sum{0};

struct node {
  std::uint64_t value;
  std::uint32_t depth_left;
};

// 0 to 7, mostly few; none at the bottom.
std::uint64_t children_of(const node& parent) {
  if (parent.depth_left == 0) return 0;
  const std::uint64_t draw = workload::mixed(parent.value) % 16;
  return draw < 6 ? 0 : draw < 14 ? 2 : 7;
}
node child_of(const node& parent, std::uint64_t index) {
  return {workload::mixed(parent.value + index + 1), parent.depth_left - 1};
}

void visit(node own) {
  visited.fetch_add(1, std::memory_order_relaxed);
  sum.fetch_add(own.value, std::memory_order_relaxed);
  trimtab::job& job = trimtab::job::current();
  for (std::uint64_t index = 0; index < children_of(own); ++index) {
    const node child = child_of(own, index);
    trimtab::post(job.at(static_cast<trimtab::locality_number>(child.value >> 7) % job.size()), visit, child);
  }
}

struct totals {
  std::uint64_t nodes = 0, sum = 0;
};
totals visit_serially(const node& root) {
  totals all;
  for (std::vector<node> left{root}; !left.empty();) {
    const node own = left.back();
    left.pop_back();
    ++all.nodes;
    all.sum += own.value;
    for (std::uint64_t index = 0; index < children_of(own); ++index) left.push_back(child_of(own, index));
  }
  return all;
}

constexpr std::uint64_t root_value = 3;

void grow(trimtab::job& job, std::uint64_t roots, std::uint32_t depth) {
  const auto own = workload::part_of(static_cast<std::int64_t>(roots), job.here().number(), job.size());
  for (std::int64_t root = own.first; root < own.last; ++root) visit({root_value + static_cast<std::uint64_t>(root), depth});
  job.wait_until_quiet();
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const auto roots = static_cast<std::uint64_t>(line.number("--roots", 1000, 1, 1'000'000));
  const auto depth = static_cast<std::uint32_t>(line.number("--depth", 12, 0, 60));
  line.end();
  return workload::run_in_job(line, [&](trimtab::job& job) {
    const double time_s = workload::timed(job, [&] { grow(job, roots, depth); });
    const std::uint64_t nodes = job.all_reduce(visited.load(), std::plus<>());
    const std::uint64_t all = job.all_reduce(sum.load(), std::plus<>());
    bool is_wrong = false;
    if (job.here().number() == 0) {
      std::printf("nodes=%llu\n", static_cast<unsigned long long>(nodes));
      totals serial;
      for (std::uint64_t root = 0; line.is_checked && root < roots; ++root) {
        const totals tree = visit_serially({root_value + root, depth});
        serial = {serial.nodes + tree.nodes, serial.sum + tree.sum};
      }
      is_wrong = line.is_checked && (nodes != serial.nodes || all != serial.sum);
    }
    return workload::conclude(job, time_s, is_wrong ? 1 : 0);
  });
}
