// The best local alignment of each pair of sequences (Smith and Waterman 1981, affine gaps by Gotoh 1982), a task for each
// pair.
#include <algorithm>

#include "program.hpp"

namespace programs::alignment {

constexpr int length = 160, letters = 20, open_gap = 11, extend_gap = 1;
using sequence = std::vector<std::int8_t>;

std::vector<sequence> sequences(std::int64_t count) {
  random_numbers random(7);
  std::vector<sequence> created(index(count), sequence(length));
  for (sequence& each : created)
    for (std::int8_t& letter : each) letter = static_cast<std::int8_t>(random.random_below(letters));
  return created;
}

int score(std::int8_t a, std::int8_t b) noexcept { return a == b ? 5 : (a ^ b) % 4 - 3; }

int best(const sequence& a, const sequence& b) {
  std::vector<int> row(length + 1), gap_in_a(length + 1, -open_gap);
  int result = 0;
  for (int i = 0; i < length; ++i) {
    int diagonal = 0, gap_in_b = -open_gap;
    for (int j = 1; j <= length; ++j) {
      const std::size_t position = index(j);
      gap_in_a[position] = std::max(gap_in_a[position] - extend_gap, row[position] - open_gap);
      gap_in_b = std::max(gap_in_b - extend_gap, row[position - 1] - open_gap);
      const int match = std::max({0, diagonal + score(a[index(i)], b[position - 1]), gap_in_a[position], gap_in_b});
      diagonal = std::exchange(row[position], match);
      result = std::max(result, match);
    }
  }
  return result;
}

template <class how>
std::int64_t answer(std::int64_t count) {
  const std::vector<sequence> inputs = sequences(count);
  std::int64_t sum = 0;
  const auto deferred = [&](std::size_t i, std::size_t j) { return [&inputs, i, j] { return best(inputs[i], inputs[j]); }; };
  using future = decltype(how::async(deferred(0, 0)));
  std::vector<future> result;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t j = i + 1; j < inputs.size(); ++j) result.push_back(how::async(deferred(i, j)));
  for (future& each : result) sum += each.get();
  return sum;
}

}  // namespace programs::alignment

const programs::program programs::alignment_program = {"alignment", "sequences", 80, alignment::answer<by_tasks>,
                                                       alignment::answer<serially>};
