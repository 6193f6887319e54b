// oneTBB.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <functional>
#include <memory>

#include "loops.hpp"

namespace {

using oneapi::tbb::global_control;

std::int64_t fib(std::int64_t n) {
  if (n < 2) return n;
  std::int64_t a = 0, b = 0;
  oneapi::tbb::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

class workers {
 public:
  explicit workers(int count)
      : m_limit(global_control::max_allowed_parallelism, static_cast<std::size_t>(count)), m_arena(count) {}
  template <class function>
  auto run(function&& f) {
    return m_arena.execute(f);
  }

 private:
  global_control m_limit;
  oneapi::tbb::task_arena m_arena;
};

void fork_join(const bench::arguments& with) {
  workers team(with.workers);
  bench::time_fib(with, [&](std::int64_t n) { return team.run([&] { return fib(n); }); });
}

void flat(const bench::arguments& with) {
  workers team(with.workers);
  bench::time_flat(with, [&](bench::tally& done) {
    team.run([&] {
      oneapi::tbb::task_group group;
      for (std::int64_t i = 0; i < with.size; ++i)
        group.run([&] { done.of_thread(oneapi::tbb::this_task_arena::current_thread_index()) += 1; });
      group.wait();
    });
  });
}

std::int64_t skynet(std::int64_t first, std::int64_t leaves) {
  if (leaves == 1) return first;
  std::int64_t sums[10];
  oneapi::tbb::task_group group;
  for (int i = 0; i < 10; ++i)
    group.run([&sums, first, leaves, i] { sums[i] = skynet(first + i * (leaves / 10), leaves / 10); });
  group.wait();
  std::int64_t all = 0;
  for (const std::int64_t each : sums) all += each;
  return all;
}

void skynet_case(const bench::arguments& with) {
  workers team(with.workers);
  bench::time_skynet(with, [&](std::int64_t leaves) { return team.run([&] { return skynet(0, leaves); }); });
}

// A graph of nodes that each run once, made anew each time as the tasks of others are.
void stencil(const bench::arguments& with) {
  namespace flow = oneapi::tbb::flow;
  using node = flow::continue_node<flow::continue_msg>;
  workers team(with.workers);
  bench::time_stencil(with, [&](bench::stencil& of) {
    team.run([&] {
      flow::graph graph;
      std::vector<std::unique_ptr<node>> nodes;
      nodes.reserve(static_cast<std::size_t>(of.steps * of.width));
      const auto at = [&](std::int64_t step, int i) -> node& {
        return *nodes[static_cast<std::size_t>(step * of.width + i)];
      };
      for (std::int64_t step = 0; step < of.steps; ++step)
        for (int i = 0; i < of.width; ++i) {
          nodes.push_back(std::make_unique<node>(graph, [&of, step, i](flow::continue_msg) { of.compute(step, i); }));
          if (step == 0) continue;
          for (int from = of.left(i); from <= of.right(i); ++from) flow::make_edge(at(step - 1, from), at(step, i));
        }
      for (int i = 0; i < of.width; ++i) at(0, i).try_put(flow::continue_msg());
      graph.wait_for_all();
    });
  });
}

using oneapi::tbb::blocked_range;
using range = blocked_range<std::int64_t>;

void axpy(std::int64_t count, const double* x, double* y) {
  oneapi::tbb::parallel_for(range(0, count), [=](const range& of) {
    for (std::int64_t i = of.begin(); i != of.end(); ++i) y[i] += 3 * x[i];
  });
}

void loop(const bench::arguments& with) {
  workers team(with.workers);
  bench::time_loop(with, [&](std::int64_t count, const double* x, double* y) { team.run([&] { axpy(count, x, y); }); });
}

void short_loops(const bench::arguments& with) {
  workers team(with.workers);
  bench::time_short_loops(with, [&](std::int64_t times, std::int64_t count, const double* x, double* y) {
    team.run([&] {
      for (; times > 0; --times) axpy(count, x, y);
    });
  });
}

double sum_of(const range& of, const double* x, double sum) {
  for (std::int64_t i = of.begin(); i != of.end(); ++i) sum += x[i];
  return sum;
}

void reduce(const bench::arguments& with) {
  workers team(with.workers);
  bench::time_reduce(with, [&](const std::vector<double>& x) {
    return team.run([&] {
      return oneapi::tbb::parallel_reduce(
          range(0, with.size), 0.0, [&](const range& of, double sum) { return sum_of(of, x.data(), sum); }, std::plus<>());
    });
  });
}

void scan(const bench::arguments& with) {
  workers team(with.workers);
  bench::time_scan(with, [&](const std::vector<double>& x, std::vector<double>& y) {
    const double* const from = x.data();
    double* const to = y.data();
    team.run([&] {
      oneapi::tbb::parallel_scan(
          range(0, with.size), 0.0,
          [=](const range& of, double sum, bool is_final) {
            if (!is_final) return sum_of(of, from, sum);
            for (std::int64_t i = of.begin(); i != of.end(); ++i) to[i] = sum += from[i];
            return sum;
          },
          std::plus<>());
    });
  });
}

void sort(const bench::arguments& with) {
  workers team(with.workers);
  bench::time_sort(with, [&](std::vector<double>& x) { team.run([&] { oneapi::tbb::parallel_sort(x.begin(), x.end()); }); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::main(argc, argv,
                     {{"fork_join", fork_join},
                      {"flat", flat},
                      {"skynet", skynet_case},
                      {"stencil", stencil},
                      {"loop", loop},
                      {"short_loops", short_loops},
                      {"reduce", reduce},
                      {"scan", scan},
                      {"sort", sort}});
}
