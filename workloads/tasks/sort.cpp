// Merge sort: halves at the same time, and merges of long pieces cut into two that do not touch each other.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "command_line.hpp"
#include "figures.hpp"
#include "verdict.hpp"

namespace {

using value = std::uint64_t;
using iterator = std::vector<value>::iterator;

std::vector<value> shuffled(std::int64_t count) {
  std::vector<value> values(static_cast<std::size_t>(count));
  value state = 42;
  for (value& each : values) each = (state = state * 6364136223846793005u + 1442695040888963407u) >> 33;
  return values;
}

void merge(iterator a, iterator a_end, iterator b, iterator b_end, iterator last, std::int64_t grain) {
  if (a_end - a < b_end - b) std::swap(a, b), std::swap(a_end, b_end);
  if (a_end - a + (b_end - b) <= grain || a == a_end) {
    std::merge(a, a_end, b, b_end, last);
    return;
  }
  const iterator a_cut = a + (a_end - a) / 2, b_cut = std::lower_bound(b, b_end, *a_cut);
  const iterator to_cut = last + (a_cut - a) + (b_cut - b);
  trimtab::invoke([&] { merge(a, a_cut, b, b_cut, last, grain); },
                  [&] { merge(a_cut, a_end, b_cut, b_end, to_cut, grain); });
}

// into_spare: where the sorted values are to lie, in `spare` or in place.
void sort(iterator first, iterator end, iterator spare, bool into_spare, std::int64_t grain) {
  const std::int64_t count = end - first;
  if (count <= grain) {
    std::sort(first, end);
    if (into_spare) std::copy(first, end, spare);
    return;
  }
  const iterator middle = first + count / 2, spare_middle = spare + count / 2;
  trimtab::invoke([&] { sort(first, middle, spare, !into_spare, grain); },
                  [&] { sort(middle, end, spare_middle, !into_spare, grain); });
  if (into_spare)
    merge(first, middle, middle, end, spare, grain);
  else
    merge(spare, spare_middle, spare_middle, spare + count, first, grain);
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t count = line.number("--count", 2'000'000);
  const std::int64_t grain = line.number("--grain", 4096, 2);
  line.end();

  std::vector<value> values = shuffled(count), spare(values.size());
  trimtab::runtime runtime(line.runtime);
  workload::figures figures(runtime);
  runtime.run([&] { sort(values.begin(), values.end(), spare.begin(), false, grain); });
  figures.stop();

  std::printf("count=%lld\ngrain=%lld\n", static_cast<long long>(count), static_cast<long long>(grain));
  figures.print();
  workload::difference first;
  if (line.is_checked) {
    std::vector<value> serial = shuffled(count);
    std::sort(serial.begin(), serial.end());
    for (std::size_t i = 0; i < serial.size(); ++i)
      first.look(static_cast<std::int64_t>(i), static_cast<double>(values[i]), static_cast<double>(serial[i]), 0);
  }
  return workload::conclude(line.program(), line.is_checked, static_cast<double>(values[values.size() / 2]), first);
}
