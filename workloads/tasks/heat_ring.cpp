// Heat in a ring of points, futurized: the points are cut into partitions, and a partition's next step is a task that
// comes when the partition and its two neighbours have made this one. No barriers between steps.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "figures.hpp"
#include "trimtab/runtime/tuning.hpp"
#include "verdict.hpp"

namespace {

constexpr double conductivity = 0.25;
// Tasks that are made before their inputs are there, at most: memory.
constexpr std::int64_t tasks_ahead = 500'000;

double initial(std::int64_t point) { return static_cast<double>(point * 7919 % 1009) * 1e-3; }

double heated(double left, double center, double right) { return center + conductivity * (left - 2 * center + right); }

class ring {
 public:
  ring(std::int64_t points, std::int64_t partition)
      : m_points(points), m_partition(partition), m_count((points + partition - 1) / partition) {
    for (std::vector<double>& each : m_values) each.resize(static_cast<std::size_t>(points));
    for (std::int64_t i = 0; i < points; ++i) m_values[0][static_cast<std::size_t>(i)] = initial(i);
  }

  // Between steps.
  void cut(std::int64_t partition) noexcept {
    m_partition = partition;
    m_count = (m_points + partition - 1) / partition;
  }

  std::int64_t partition() const noexcept { return m_partition; }
  std::int64_t partitions() const noexcept { return m_count; }
  double value(std::int64_t step, std::int64_t point) const { return m_values[step & 1][static_cast<std::size_t>(point)]; }

  // Two arrays are enough: who writes a partition of step t + 1 has waited for all who read the same place of step t - 1.
  void advance(std::int64_t step, std::int64_t index) noexcept {
    const double* const source = m_values[step & 1].data();
    double* const target = m_values[(step + 1) & 1].data();
    const std::int64_t first = index * m_partition, last = std::min(first + m_partition, m_points) - 1;
    if (first == last) {
      target[first] = heated(source[left_of(first)], source[first], source[right_of(first)]);
      return;
    }
    target[first] = heated(source[left_of(first)], source[first], source[first + 1]);
    for (std::int64_t i = first + 1; i < last; ++i) target[i] = heated(source[i - 1], source[i], source[i + 1]);
    target[last] = heated(source[last - 1], source[last], source[right_of(last)]);
  }

 private:
  std::int64_t left_of(std::int64_t point) const noexcept { return point == 0 ? m_points - 1 : point - 1; }
  std::int64_t right_of(std::int64_t point) const noexcept { return point == m_points - 1 ? 0 : point + 1; }

  std::int64_t m_points;
  std::int64_t m_partition;
  std::int64_t m_count;
  std::vector<double> m_values[2];
};

using done_future = trimtab::shared_future<void>;

// Steps from `first` on. ahead: for how many steps tasks are made before the first of them has been done.
void run(ring& heat, std::int64_t first, std::int64_t steps, std::int64_t ahead) {
  const std::size_t count = static_cast<std::size_t>(heat.partitions());
  std::vector<done_future> current(count), next(count), last_of_step(static_cast<std::size_t>(ahead));
  for (done_future& each : current) each = trimtab::make_ready_future();
  for (std::int64_t step = first; step < first + steps; ++step) {
    done_future& stored = last_of_step[static_cast<std::size_t>(step % ahead)];
    if (stored.valid()) stored.wait();
    for (std::size_t i = 0; i < count; ++i)
      next[i] = trimtab::dataflow([&heat, step, i](const done_future&, const done_future&,
                                                   const done_future&) { heat.advance(step, static_cast<std::int64_t>(i)); },
                                  current[i == 0 ? count - 1 : i - 1], current[i], current[i + 1 == count ? 0 : i + 1]);
    stored = next.back();
    std::swap(current, next);
  }
  for (const done_future& element : current) element.get();
}

// The same, so many steps at a time, between which the partitions may become others, up to 128 times smaller or larger.
void run_tuned(trimtab::runtime& rt, ring& heat, std::int64_t points, std::int64_t steps, std::int64_t at_a_time) {
  std::vector<std::int64_t> sizes{heat.partition()};
  for (std::int64_t factor = 2; factor <= 128; factor *= 2) {
    if (heat.partition() / factor > 0) sizes.push_back(heat.partition() / factor);
    if (heat.partition() * factor <= points) sizes.push_back(heat.partition() * factor);
  }
  trimtab::tuned_steps tuned(rt, "steps of the ring", std::move(sizes), heat.partition());
  for (std::int64_t first = 0; first < steps; first += at_a_time) {
    const std::int64_t count = std::min(at_a_time, steps - first);
    heat.cut(tuned.begin());
    const std::int64_t ahead = std::clamp<std::int64_t>(tasks_ahead / heat.partitions(), 2, count + 1);
    rt.run([&] { run(heat, first, count, ahead); });
    tuned.end(static_cast<double>(points * count));
  }
}

// A point's value depends on at most `steps` points at either side: so much is computed serially around each place that
// is looked at. All points where that is quick, else those at both sides of the borders of some partitions.
workload::difference check(const ring& heat, std::int64_t points, std::int64_t partition, std::int64_t steps) {
  workload::difference first;
  const auto look = [&](std::int64_t begin, std::int64_t count) {
    const std::int64_t size = count + 2 * steps;
    std::vector<double> current(static_cast<std::size_t>(size)), next(current);
    const auto place = [&](std::int64_t i) { return ((begin - steps + i) % points + points) % points; };
    for (std::int64_t i = 0; i < size; ++i) current[static_cast<std::size_t>(i)] = initial(place(i));
    for (std::int64_t step = 0; step < steps; ++step) {
      for (std::size_t i = 1; i + 1 < current.size(); ++i) next[i] = heated(current[i - 1], current[i], current[i + 1]);
      std::swap(current, next);
    }
    for (std::int64_t i = steps; i < steps + count; ++i)
      first.look(place(i), heat.value(steps, place(i)), current[static_cast<std::size_t>(i)]);
  };
  if (points * steps <= 100'000'000) {
    look(0, points);
    return first;
  }
  constexpr std::int64_t places = 256, neighbour = 16;
  for (std::int64_t i = 0; i < places; ++i) look(heat.partitions() * i / places * partition - neighbour, 2 * neighbour);
  return first;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t points = line.number("--points", 1'000'000);
  const std::int64_t partition = line.number("--partition", 10'000, 1, points);
  std::int64_t steps = line.number("--steps", 50, 0, 100'000);
  const std::int64_t partitions = (points + partition - 1) / partition;
  const std::int64_t ahead = line.number("--ahead", std::max<std::int64_t>(2, tasks_ahead / partitions), 2, 1'000'000);
  const std::int64_t at_a_time = line.number("--tune-every", 0, 0, 100'000);
  const std::int64_t measure_ms = line.number("--measure", 0, 0, 100'000);
  line.end();

  trimtab::runtime runtime(line.runtime);
  ring heat(points, partition);
  workload::figures figures(runtime);
  if (measure_ms > 0) {
    std::int64_t first = 0;
    steps *= workload::measured(measure_ms, [&] {
      runtime.run([&] { run(heat, first, steps, std::min(ahead, steps + 1)); });
      first += steps;
    });
  } else if (at_a_time > 0)
    run_tuned(runtime, heat, points, steps, at_a_time);
  else
    runtime.run([&] { run(heat, 0, steps, std::min(ahead, steps + 1)); });
  figures.stop();

  std::printf("points=%lld\npartition=%lld\npartitions=%lld\nsteps=%lld\n", static_cast<long long>(points),
              static_cast<long long>(partition), static_cast<long long>(partitions), static_cast<long long>(steps));
  figures.print();
  std::printf("lups=%.6g\n", static_cast<double>(points * steps) / figures.time_s());
  const workload::difference first = line.is_checked ? check(heat, points, heat.partition(), steps) : workload::difference{};
  double sum = 0;
  for (std::int64_t i = 0; i < points; ++i) sum += heat.value(steps, i);
  return workload::conclude(line.program(), line.is_checked, sum, first);
}
