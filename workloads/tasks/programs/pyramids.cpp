// A heat equation on a line, by trapezoids of space and time that stay in the cache (Frigo and Strumpen 2005): two pyramids
// side by side are independent, and what lies between them follows.
#include <array>

#include "program.hpp"

namespace programs::pyramids {

constexpr std::int64_t shortest = 64, narrowest = 4096;

struct line {
  std::array<std::vector<double>, 2> values;
  void step(std::int64_t t, std::int64_t first, std::int64_t last) noexcept {
    const std::vector<double>& source = values[index(t % 2)];
    std::vector<double>& target = values[index((t + 1) % 2)];
    for (std::int64_t x = first; x < last; ++x)
      target[index(x)] = 0.25 * source[index(x - 1)] + 0.5 * source[index(x)] + 0.25 * source[index(x + 1)];
  }
};

// Of the steps t0 .. t1 - 1 the places x0 .. x1 - 1, whose borders move by d0 and d1 a step.
struct trapezoid {
  std::int64_t t0, t1, x0, d0, x1, d1;
  std::int64_t height() const noexcept { return t1 - t0; }
  std::int64_t width() const noexcept { return x1 - x0; }
};

template <class how>
void walk(const trapezoid& area, line& points) {
  const std::int64_t high = area.height();
  const bool is_wide = area.width() >= 4 * high + (area.d0 > 0 ? high : 0) + (area.d1 < 0 ? high : 0);
  if (high <= shortest && (area.width() <= narrowest || !is_wide)) {
    for (std::int64_t t = area.t0; t < area.t1; ++t)
      points.step(t, area.x0 + area.d0 * (t - area.t0), area.x1 + area.d1 * (t - area.t0));
    return;
  }
  if (is_wide) {
    const std::int64_t middle = area.x0 + area.width() / 2;
    const trapezoid left{area.t0, area.t1, area.x0, area.d0, middle, -1},
        right{area.t0, area.t1, middle, 1, area.x1, area.d1};
    auto second = how::async([left, &points] { walk<how>(left, points); });
    walk<how>(right, points);
    second.get();
    return walk<how>({area.t0, area.t1, middle, -1, middle, 1}, points);
  }
  const std::int64_t half = high / 2;
  walk<how>({area.t0, area.t0 + half, area.x0, area.d0, area.x1, area.d1}, points);
  walk<how>({area.t0 + half, area.t1, area.x0 + area.d0 * half, area.d0, area.x1 + area.d1 * half, area.d1}, points);
}

line start(std::int64_t points) {
  line created{{std::vector<double>(index(points)), std::vector<double>(index(points))}};
  random_numbers random(5);
  for (double& element : created.values[0]) element = random.uniform();
  created.values[1] = created.values[0];
  return created;
}

constexpr std::int64_t points = 400'000;

std::int64_t answer(std::int64_t steps) {
  line row = start(points);
  walk<by_tasks>({0, steps, 1, 0, points - 1, 0}, row);
  return digest(row.values[index(steps % 2)].data(), index(points));
}

// Step after step over the whole line.
std::int64_t expected_answer(std::int64_t steps) {
  line row = start(points);
  for (std::int64_t t = 0; t < steps; ++t) row.step(t, 1, points - 1);
  return digest(row.values[index(steps % 2)].data(), index(points));
}

}  // namespace programs::pyramids

const programs::program programs::pyramids_program = {"pyramids", "steps", 2000, pyramids::answer,
                                                      pyramids::expected_answer};
