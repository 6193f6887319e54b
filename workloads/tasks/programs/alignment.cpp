// The best local alignment of each pair of sequences (Smith and Waterman 1981, affine gaps by Gotoh 1982), a task for each
// pair.
#include <algorithm>

#include "program.hpp"

namespace programs::alignment {

constexpr int length = 160, letters = 20, open_gap = 11, extend_gap = 1;
using sequence = std::vector<std::int8_t>;

std::vector<sequence> sequences(std::int64_t count) {
  random_numbers random(7);
  std::vector<sequence> made(index(count), sequence(length));
  for (sequence& each : made)
    for (std::int8_t& letter : each) letter = static_cast<std::int8_t>(random.below(letters));
  return made;
}

int score(std::int8_t a, std::int8_t b) noexcept { return a == b ? 5 : (a ^ b) % 4 - 3; }

int best(const sequence& a, const sequence& b) {
  std::vector<int> row(length + 1), gap_in_a(length + 1, -open_gap);
  int found = 0;
  for (int i = 0; i < length; ++i) {
    int diagonal = 0, gap_in_b = -open_gap;
    for (int j = 1; j <= length; ++j) {
      const std::size_t at = index(j);
      gap_in_a[at] = std::max(gap_in_a[at] - extend_gap, row[at] - open_gap);
      gap_in_b = std::max(gap_in_b - extend_gap, row[at - 1] - open_gap);
      const int here = std::max({0, diagonal + score(a[index(i)], b[at - 1]), gap_in_a[at], gap_in_b});
      diagonal = std::exchange(row[at], here);
      found = std::max(found, here);
    }
  }
  return found;
}

template <class how>
std::int64_t answer(std::int64_t count) {
  const std::vector<sequence> all = sequences(count);
  std::int64_t sum = 0;
  const auto later = [&](std::size_t i, std::size_t j) { return [&all, i, j] { return best(all[i], all[j]); }; };
  using future = decltype(how::async(later(0, 0)));
  std::vector<future> found;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j) found.push_back(how::async(later(i, j)));
  for (future& each : found) sum += each.get();
  return sum;
}

}  // namespace programs::alignment

const programs::program programs::alignment_program = {"alignment", "sequences", 80, alignment::answer<by_tasks>,
                                                       alignment::answer<serially>};
