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

double initial(const place& at) { return static_cast<double>((at.x * 7 + at.y * 11 + at.z * 13) % 101); }

// A cube of cells with ghosts, twice: each step writes the other one. Ghosts at the outside stay 0.
class cube {
 public:
  explicit cube(std::int64_t edge) : m_edge(edge) {
    for (auto& each : m_cells) each.resize(static_cast<std::size_t>((edge + 2) * (edge + 2) * (edge + 2)));
  }
  double& cell(std::int64_t step, const place& at) {
    const std::int64_t wide = m_edge + 2;
    return m_cells[step & 1][static_cast<std::size_t>(((at.z + 1) * wide + at.y + 1) * wide + at.x + 1)];
  }

  // The ghosts towards `where` are the neighbour's outermost cells.
  void fetch(std::int64_t step, cube& neighbour, const place& where) {
    const auto range = [this](std::int64_t towards) {
      return towards < 0   ? std::pair{std::int64_t{-1}, std::int64_t{0}}
             : towards > 0 ? std::pair{m_edge, m_edge + 1}
                           : std::pair{std::int64_t{0}, m_edge};
    };
    const auto [x0, x1] = range(where.x);
    const auto [y0, y1] = range(where.y);
    const auto [z0, z1] = range(where.z);
    for (std::int64_t z = z0; z < z1; ++z)
      for (std::int64_t y = y0; y < y1; ++y)
        for (std::int64_t x = x0; x < x1; ++x)
          cell(step, {x, y, z}) = neighbour.cell(step, {x - where.x * m_edge, y - where.y * m_edge, z - where.z * m_edge});
  }

  void compute(std::int64_t step) {
    const std::int64_t wide = m_edge + 2, plane = wide * wide;
    for (std::int64_t z = 0; z < m_edge; ++z)
      for (std::int64_t y = 0; y < m_edge; ++y) {
        const double* const from = &cell(step, {0, y, z});
        double* const to = &cell(step + 1, {0, y, z});
        for (std::int64_t x = 0; x < m_edge; ++x)
          to[x] = from[x] + 0.1 * (from[x - 1] + from[x + 1] + from[x - wide] + from[x + wide] + from[x - plane] +
                                   from[x + plane] - 6 * from[x]);
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
    each_cell([this](const place& at) { value(0, at) = initial(at); });
  }
  std::int64_t count() const noexcept { return m_wide * m_wide * m_wide; }
  std::int64_t edge() const noexcept { return m_wide * m_edge; }
  double& value(std::int64_t step, const place& at) {
    return block(number({at.x / m_edge, at.y / m_edge, at.z / m_edge}))
        .cell(step, {at.x % m_edge, at.y % m_edge, at.z % m_edge});
  }
  template <class function>
  void each_cell(function&& f) {
    for (std::int64_t z = 0; z < edge(); ++z)
      for (std::int64_t y = 0; y < edge(); ++y)
        for (std::int64_t x = 0; x < edge(); ++x) f(place{x, y, z});
  }

  // look(neighbour's number, direction)
  template <class function>
  void each_neighbour(std::int64_t which, function&& look) const {
    const place at{which % m_wide, which / m_wide % m_wide, which / m_wide / m_wide};
    for (const place& where : directions) {
      const place next{at.x + where.x, at.y + where.y, at.z + where.z};
      const auto is_inside = [this](std::int64_t each) { return each >= 0 && each < m_wide; };
      if (is_inside(next.x) && is_inside(next.y) && is_inside(next.z)) look(number(next), where);
    }
  }

  void advance(std::int64_t step, std::int64_t which) {
    each_neighbour(which, [&](std::int64_t next, const place& where) { block(which).fetch(step, block(next), where); });
    block(which).compute(step);
  }

 private:
  std::int64_t number(const place& at) const noexcept { return (at.z * m_wide + at.y) * m_wide + at.x; }
  cube& block(std::int64_t which) { return m_blocks[static_cast<std::size_t>(which)]; }

  std::int64_t m_wide;
  std::int64_t m_edge;
  std::vector<cube> m_blocks;
};

// Two fields a block are enough: who overwrites a field of step t - 1 has waited for all who read it for step t.
void run(domain& heat, std::int64_t steps) {
  using made = trimtab::shared_future<void>;
  const std::size_t count = static_cast<std::size_t>(heat.count());
  std::vector<made> now(count, made(trimtab::make_ready_future())), next(count);
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto which = static_cast<std::int64_t>(i);
      std::vector<made> needed{now[i]};
      heat.each_neighbour(which,
                          [&](std::int64_t each, const place&) { needed.push_back(now[static_cast<std::size_t>(each)]); });
      next[i] = trimtab::dataflow([&heat, step, which](const std::vector<made>&) { heat.advance(step, which); },
                                  std::move(needed));
    }
    std::swap(now, next);
  }
  for (const made& each : now) each.get();
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
    heat.each_cell([&](const place& at) { first.look(number++, heat.value(steps, at), serial.value(steps, at)); });
  }
  double sum = 0;
  heat.each_cell([&](const place& at) { sum += heat.value(steps, at); });
  return workload::conclude(line.program(), line.is_checked, sum, first);
}
