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

void merge(range a, range b, value* target) {
  if (a.size() < b.size()) std::swap(a, b);
  if (a.size() + b.size() <= grain) {
    std::merge(a.first, a.last, b.first, b.last, target);
    return;
  }
  value* const middle = a.first + a.size() / 2;
  value* const second = std::lower_bound(b.first, b.last, *middle);
  const range left_a{a.first, middle}, left_b{b.first, second};
  auto left = trimtab::async([=] { merge(left_a, left_b, target); });
  merge({middle, a.last}, {second, b.last}, target + left_a.size() + left_b.size());
  left.get();
}

// The numbers end up in `in`; `spare` has room for as many.
void sorted(range input, value* spare) {
  if (input.size() <= grain) return std::sort(input.first, input.last);
  const std::int64_t half = input.size() / 2;
  const range left{input.first, input.first + half}, right{input.first + half, input.last};
  auto second = trimtab::async([=] { sorted(left, spare); });
  sorted(right, spare + half);
  second.get();
  merge(left, right, spare);
  std::copy(spare, spare + input.size(), input.first);
}

std::vector<value> numbers(std::int64_t count) {
  random_numbers random(13);
  std::vector<value> created(index(count));
  for (value& each : created) each = static_cast<value>(random.next());
  return created;
}

std::int64_t digest_of(const std::vector<value>& values) noexcept {
  std::uint64_t sum = 0;
  for (const value element : values) sum = sum * 31 + element;
  return static_cast<std::int64_t>(sum);
}

std::int64_t answer(std::int64_t count) {
  std::vector<value> values = numbers(count), spare(values.size());
  sorted({values.data(), values.data() + values.size()}, spare.data());
  return digest_of(values);
}

std::int64_t expected_answer(std::int64_t count) {
  std::vector<value> values = numbers(count);
  std::sort(values.begin(), values.end());
  return digest_of(values);
}

}  // namespace programs::sort

const programs::program programs::sort_program = {"sort", "numbers", 3'000'000, sort::answer, sort::expected_answer};
