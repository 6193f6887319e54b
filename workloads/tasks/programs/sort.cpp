// Merge sort, which divides the merges as well: both halves of each are tasks.
#include <algorithm>

#include "program.hpp"

namespace programs::sort {

constexpr std::int64_t grain = 2048;
using value = std::uint32_t;
struct range {
  value *first, *last;
  std::int64_t size() const noexcept { return last - first; }
};

void merge(range a, range b, value* into) {
  if (a.size() < b.size()) std::swap(a, b);
  if (a.size() + b.size() <= grain) {
    std::merge(a.first, a.last, b.first, b.last, into);
    return;
  }
  value* const middle = a.first + a.size() / 2;
  value* const other = std::lower_bound(b.first, b.last, *middle);
  const range left_a{a.first, middle}, left_b{b.first, other};
  auto left = trimtab::async([=] { merge(left_a, left_b, into); });
  merge({middle, a.last}, {other, b.last}, into + left_a.size() + left_b.size());
  left.get();
}

// The numbers end up in `in`; `spare` has room for as many.
void sorted(range in, value* spare) {
  if (in.size() <= grain) return std::sort(in.first, in.last);
  const std::int64_t half = in.size() / 2;
  const range left{in.first, in.first + half}, right{in.first + half, in.last};
  auto other = trimtab::async([=] { sorted(left, spare); });
  sorted(right, spare + half);
  other.get();
  merge(left, right, spare);
  std::copy(spare, spare + in.size(), in.first);
}

std::vector<value> numbers(std::int64_t count) {
  random_numbers random(13);
  std::vector<value> made(index(count));
  for (value& each : made) each = static_cast<value>(random.next());
  return made;
}

std::int64_t digest_of(const std::vector<value>& all) noexcept {
  std::uint64_t found = 0;
  for (const value each : all) found = found * 31 + each;
  return static_cast<std::int64_t>(found);
}

std::int64_t answer(std::int64_t count) {
  std::vector<value> all = numbers(count), spare(all.size());
  sorted({all.data(), all.data() + all.size()}, spare.data());
  return digest_of(all);
}

std::int64_t known(std::int64_t count) {
  std::vector<value> all = numbers(count);
  std::sort(all.begin(), all.end());
  return digest_of(all);
}

}  // namespace programs::sort

const programs::program programs::sort_program = {"sort", "numbers", 3'000'000, sort::answer, sort::known};
