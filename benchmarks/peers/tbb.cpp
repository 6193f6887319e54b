// oneTBB.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <memory>

#include "bench.hpp"

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

}  // namespace

int main(int argc, char** argv) {
  return bench::main(argc, argv, {{"fork_join", fork_join}, {"flat", flat}, {"skynet", skynet_case}, {"stencil", stencil}});
}
