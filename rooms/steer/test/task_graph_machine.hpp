// A machine that runs a graph of tasks in simulated time: idle workers take the task of the highest priority that has been
// ready for longest. What the policy of priorities is told of each kind of task follows from who waited for whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trimtab::steer::testing {

struct graph_task {
  std::size_t kind = 0;
  double seconds = 0;
  std::vector<std::size_t> inputs;  // earlier tasks
};

struct graph_result {
  double seconds = 0;                              // until the last task has ended
  std::vector<double> chain_share, delayed_share;  // by kind, as figures of these names say
};

// priorities: by kind, less is first.
graph_result run_graph(const std::vector<graph_task>& tasks, std::size_t workers, const std::vector<int>& priorities);

// Kinds of the graph below.
enum cg_kind : std::size_t { product, sum, update_x, update_r, cg_kinds };

// Conjugate gradients: in each step the parts of a product, their sum, the parts of two updates, and the sum of one of
// them, which the next step waits for. Nobody waits for the update of x, but it is made ready first. seconds: of one part
// of each kind.
std::vector<graph_task> conjugate_gradient(std::size_t steps, std::size_t parts, const std::vector<double>& seconds);

}  // namespace trimtab::steer::testing
