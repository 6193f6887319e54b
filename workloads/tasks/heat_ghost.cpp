// Heat in a cube, in blocks that each have a layer of ghosts around them: a block's step is a task that comes when the
// block and its six neighbours have made the step before; it fetches their faces and then computes (after miniGhost).
#include <array>
#include <cstdint>
#include <vector>

#include "command_line.hpp"
#include "figures.hpp"
#include "verdict.hpp"

namespace {

struct place {
  std::int64_t x = 0, y = 0, z = 0;
};
constexpr std::array<place, 6> directions{{{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}}};

double initial(const place& location) {
  return static_cast<double>((location.x * 7 + location.y * 11 + location.z * 13) % 101);
}

// A cube of cells with ghosts, twice: each step writes the other one. Ghosts at the outside stay 0.
class cube {
 public:
  explicit cube(std::int64_t edge) : m_edge(edge) {
    for (auto& element : m_cells) element.resize(static_cast<std::size_t>((edge + 2) * (edge + 2) * (edge + 2)));
  }
  double& cell(std::int64_t step, const place& location) {
    const std::int64_t wide = m_edge + 2;
    return m_cells[step & 1][static_cast<std::size_t>(((location.z + 1) * wide + location.y + 1) * wide + location.x + 1)];
  }

  // The ghosts towards that neighbour are the neighbour's outermost cells.
  void fetch(std::int64_t step, cube& neighbour, const place& location) {
    const auto range = [this](std::int64_t direction) {
      return direction < 0   ? std::pair{std::int64_t{-1}, std::int64_t{0}}
             : direction > 0 ? std::pair{m_edge, m_edge + 1}
                             : std::pair{std::int64_t{0}, m_edge};
    };
    const auto [x0, x1] = range(location.x);
    const auto [y0, y1] = range(location.y);
    const auto [z0, z1] = range(location.z);
    for (std::int64_t z = z0; z < z1; ++z)
      for (std::int64_t y = y0; y < y1; ++y)
        for (std::int64_t x = x0; x < x1; ++x)
          cell(step, {x, y, z}) =
              neighbour.cell(step, {x - location.x * m_edge, y - location.y * m_edge, z - location.z * m_edge});
  }

  void compute(std::int64_t step) {
    const std::int64_t wide = m_edge + 2, plane = wide * wide;
    for (std::int64_t z = 0; z < m_edge; ++z)
      for (std::int64_t y = 0; y < m_edge; ++y) {
        const double* const source = &cell(step, {0, y, z});
        double* const target = &cell(step + 1, {0, y, z});
        for (std::int64_t x = 0; x < m_edge; ++x)
          target[x] = source[x] + 0.1 * (source[x - 1] + source[x + 1] + source[x - wide] + source[x + wide] +
                                         source[x - plane] + source[x + plane] - 6 * source[x]);
      }
  }

 private:
  std::int64_t m_edge;
  std::vector<double> m_cells[2];
};

// The whole: `wide` blocks in each direction.
class domain {
 public:
  domain(std::int64_t wide, std::int64_t edge) : m_wide(wide), m_edge(edge) {
    m_blocks.reserve(static_cast<std::size_t>(count()));
    for (std::int64_t i = 0; i < count(); ++i) m_blocks.emplace_back(edge);
    each_cell([this](const place& location) { value(0, location) = initial(location); });
  }
  std::int64_t count() const noexcept { return m_wide * m_wide * m_wide; }
  std::int64_t edge() const noexcept { return m_wide * m_edge; }
  double& value(std::int64_t step, const place& location) {
    return block(number({location.x / m_edge, location.y / m_edge, location.z / m_edge}))
        .cell(step, {location.x % m_edge, location.y % m_edge, location.z % m_edge});
  }
  template <class function>
  void each_cell(function&& f) {
    for (std::int64_t z = 0; z < edge(); ++z)
      for (std::int64_t y = 0; y < edge(); ++y)
        for (std::int64_t x = 0; x < edge(); ++x) f(place{x, y, z});
  }

  // look(neighbour's number, direction)
  template <class function>
  void each_neighbour(std::int64_t index, function&& look) const {
    const place corner{index % m_wide, index / m_wide % m_wide, index / m_wide / m_wide};
    for (const place& neighbour : directions) {
      const place next{corner.x + neighbour.x, corner.y + neighbour.y, corner.z + neighbour.z};
      const auto contains = [this](std::int64_t element) { return element >= 0 && element < m_wide; };
      if (contains(next.x) && contains(next.y) && contains(next.z)) look(number(next), neighbour);
    }
  }

  void advance(std::int64_t step, std::int64_t index) {
    each_neighbour(index,
                   [&](std::int64_t next, const place& location) { block(index).fetch(step, block(next), location); });
    block(index).compute(step);
  }

 private:
  std::int64_t number(const place& location) const noexcept {
    return (location.z * m_wide + location.y) * m_wide + location.x;
  }
  cube& block(std::int64_t index) { return m_blocks[static_cast<std::size_t>(index)]; }

  std::int64_t m_wide;
  std::int64_t m_edge;
  std::vector<cube> m_blocks;
};

// Two fields a block are enough: who overwrites a field of step t - 1 has waited for all who read it for step t.
void run(domain& heat, std::int64_t steps) {
  using done_future = trimtab::shared_future<void>;
  const std::size_t count = static_cast<std::size_t>(heat.count());
  std::vector<done_future> current(count, done_future(trimtab::make_ready_future())), next(count);
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto index = static_cast<std::int64_t>(i);
      std::vector<done_future> needed{current[i]};
      heat.each_neighbour(
          index, [&](std::int64_t element, const place&) { needed.push_back(current[static_cast<std::size_t>(element)]); });
      next[i] = trimtab::dataflow([&heat, step, index](const std::vector<done_future>&) { heat.advance(step, index); },
                                  std::move(needed));
    }
    std::swap(current, next);
  }
  for (const done_future& element : current) element.get();
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t wide = line.number("--blocks", 4, 1, 100);
  const std::int64_t edge = line.number("--block", 24, 1, 1000);
  const std::int64_t steps = line.number("--steps", 20, 0, 10'000);
  line.end();

  domain heat(wide, edge);
  trimtab::runtime runtime(line.runtime);
  workload::figures figures(runtime);
  runtime.run([&] { run(heat, steps); });
  figures.stop();

  std::printf("blocks=%lld\nblock=%lld\nsteps=%lld\n", static_cast<long long>(heat.count()), static_cast<long long>(edge),
              static_cast<long long>(steps));
  figures.print();
  const double cells = static_cast<double>(heat.edge() * heat.edge() * heat.edge());
  std::printf("lups=%.6g\n", cells * static_cast<double>(steps) / figures.time_s());
  workload::difference first;
  if (line.is_checked) {
    domain serial(1, heat.edge());
    for (std::int64_t step = 0; step < steps; ++step) serial.advance(step, 0);
    std::int64_t number = 0;
    heat.each_cell(
        [&](const place& location) { first.look(number++, heat.value(steps, location), serial.value(steps, location)); });
  }
  double sum = 0;
  heat.each_cell([&](const place& location) { sum += heat.value(steps, location); });
  return workload::conclude(line.program(), line.is_checked, sum, first);
}
