// A heat equation on a line, by trapezoids of space and time that stay in the cache (Frigo and Strumpen 2005): two pyramids
// side by side are independent, and what lies between them follows.
#include <array>

#include "program.hpp"

namespace programs::pyramids {

constexpr std::int64_t shortest = 64, narrowest = 4096;

struct line {
  std::array<std::vector<double>, 2> values;
  void step(std::int64_t t, std::int64_t first, std::int64_t last) noexcept {
    const std::vector<double>& from = values[index(t % 2)];
    std::vector<double>& into = values[index((t + 1) % 2)];
    for (std::int64_t x = first; x < last; ++x)
      into[index(x)] = 0.25 * from[index(x - 1)] + 0.5 * from[index(x)] + 0.25 * from[index(x + 1)];
  }
};

// Of the steps t0 .. t1 - 1 the places x0 .. x1 - 1, whose borders move by d0 and d1 a step.
struct trapezoid {
  std::int64_t t0, t1, x0, d0, x1, d1;
  std::int64_t height() const noexcept { return t1 - t0; }
  std::int64_t width() const noexcept { return x1 - x0; }
};

template <class how>
void walk(const trapezoid& in, line& on) {
  const std::int64_t high = in.height();
  const bool is_wide = in.width() >= 4 * high + (in.d0 > 0 ? high : 0) + (in.d1 < 0 ? high : 0);
  if (high <= shortest && (in.width() <= narrowest || !is_wide)) {
    for (std::int64_t t = in.t0; t < in.t1; ++t) on.step(t, in.x0 + in.d0 * (t - in.t0), in.x1 + in.d1 * (t - in.t0));
    return;
  }
  if (is_wide) {
    const std::int64_t middle = in.x0 + in.width() / 2;
    const trapezoid left{in.t0, in.t1, in.x0, in.d0, middle, -1}, right{in.t0, in.t1, middle, 1, in.x1, in.d1};
    auto other = how::async([left, &on] { walk<how>(left, on); });
    walk<how>(right, on);
    other.get();
    return walk<how>({in.t0, in.t1, middle, -1, middle, 1}, on);
  }
  const std::int64_t half = high / 2;
  walk<how>({in.t0, in.t0 + half, in.x0, in.d0, in.x1, in.d1}, on);
  walk<how>({in.t0 + half, in.t1, in.x0 + in.d0 * half, in.d0, in.x1 + in.d1 * half, in.d1}, on);
}

line start(std::int64_t points) {
  line made{{std::vector<double>(index(points)), std::vector<double>(index(points))}};
  random_numbers random(5);
  for (double& each : made.values[0]) each = random.uniform();
  made.values[1] = made.values[0];
  return made;
}

constexpr std::int64_t points = 400'000;

std::int64_t answer(std::int64_t steps) {
  line on = start(points);
  walk<by_tasks>({0, steps, 1, 0, points - 1, 0}, on);
  return digest(on.values[index(steps % 2)].data(), index(points));
}

// Step after step over the whole line.
std::int64_t known(std::int64_t steps) {
  line on = start(points);
  for (std::int64_t t = 0; t < steps; ++t) on.step(t, 1, points - 1);
  return digest(on.values[index(steps % 2)].data(), index(points));
}

}  // namespace programs::pyramids

const programs::program programs::pyramids_program = {"pyramids", "steps", 2000, pyramids::answer, pyramids::known};
