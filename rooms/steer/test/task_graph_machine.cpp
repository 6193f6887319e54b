#include "task_graph_machine.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <utility>

namespace trimtab::steer::testing {

namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

class machine_of_tasks {
 public:
  machine_of_tasks(const std::vector<graph_task>& tasks, std::size_t workers, const std::vector<int>& priorities)
      : m_tasks(tasks),
        m_priorities(priorities),
        m_missing(tasks.size()),
        m_followers(tasks.size()),
        m_ready_at(tasks.size(), 0),
        m_begin(tasks.size(), 0),
        m_giver(tasks.size(), none),
        m_idle_since(workers, 0),
        m_chain(priorities.size(), 0),
        m_delayed(priorities.size(), 0) {
    for (std::size_t worker = 0; worker < workers; ++worker) m_idle.push_back(worker);
    for (std::size_t task = 0; task < tasks.size(); ++task) {
      m_missing[task] = tasks[task].inputs.size();
      for (const std::size_t input : tasks[task].inputs) m_followers[input].push_back(task);
      if (m_missing[task] == 0) m_queues[priorities[tasks[task].kind]].push_back(task);
    }
  }

  graph_result run() {
    const auto workers = static_cast<double>(m_idle.size());
    for (start_all(); !m_running.empty(); start_all()) {
      const auto [end, task, worker] = m_running.top();
      m_running.pop();
      m_time = end;
      m_idle.push_back(worker);
      m_idle_since[worker] = m_time;
      for (const std::size_t follower : m_followers[task]) {
        if (--m_missing[follower] != 0) continue;
        m_ready_at[follower] = m_time;
        m_giver[follower] = task;
        m_queues[m_priorities[m_tasks[follower].kind]].push_back(follower);
      }
    }
    for (auto* sums : {&m_chain, &m_delayed})
      for (double& sum : *sums) sum /= workers * m_time;
    return {m_time, m_chain, m_delayed};
  }

 private:
  struct running {
    double end;
    std::size_t task, worker;
    bool operator>(const running& other) const { return end != other.end ? end > other.end : task > other.task; }
  };

  void start_all() {
    for (auto& [level, queue] : m_queues)
      while (!queue.empty() && !m_idle.empty()) {
        const std::size_t task = queue.front(), worker = m_idle.front();
        queue.pop_front();
        m_idle.pop_front();
        m_begin[task] = m_time;
        if (m_time > m_idle_since[worker]) charge(task, m_time - m_idle_since[worker]);
        m_running.push({m_time + m_tasks[task].seconds, task, worker});
      }
  }

  // Each kind of the chain, and each with a task that waited for a worker, once.
  void charge(std::size_t task, double idle) {
    std::set<std::size_t> on_chain, waited;
    constexpr int longest = 8;
    int links = 0;
    for (std::size_t link = m_giver[task]; link != none && links < longest; link = m_giver[link], ++links) {
      on_chain.insert(m_tasks[link].kind);
      if (m_begin[link] > m_ready_at[link]) waited.insert(m_tasks[link].kind);
    }
    for (const std::size_t kind : on_chain) m_chain[kind] += idle;
    for (const std::size_t kind : waited) m_delayed[kind] += idle;
  }

  const std::vector<graph_task>& m_tasks;
  const std::vector<int>& m_priorities;
  std::vector<std::size_t> m_missing;
  std::vector<std::vector<std::size_t>> m_followers;
  std::vector<double> m_ready_at, m_begin;
  std::vector<std::size_t> m_giver;
  std::map<int, std::deque<std::size_t>> m_queues;
  std::deque<std::size_t> m_idle;
  std::vector<double> m_idle_since;
  std::vector<double> m_chain, m_delayed;
  std::priority_queue<running, std::vector<running>, std::greater<>> m_running;
  double m_time = 0;
};

}  // namespace

graph_result run_graph(const std::vector<graph_task>& tasks, std::size_t workers, const std::vector<int>& priorities) {
  return machine_of_tasks(tasks, workers, priorities).run();
}

std::vector<graph_task> conjugate_gradient(std::size_t steps, std::size_t parts, const std::vector<double>& seconds) {
  std::vector<graph_task> tasks;
  const auto add = [&](std::size_t kind, std::vector<std::size_t> inputs) {
    tasks.push_back({kind, seconds[kind], std::move(inputs)});
    return tasks.size() - 1;
  };
  const auto add_parts = [&](std::size_t kind, const std::vector<std::size_t>& inputs) {
    std::vector<std::size_t> created;
    for (std::size_t part = 0; part < parts; ++part) created.push_back(add(kind, inputs));
    return created;
  };
  std::vector<std::size_t> before;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t alpha = add(sum, add_parts(product, before));
    add_parts(update_x, {alpha});
    before = {add(sum, add_parts(update_r, {alpha}))};
  }
  return tasks;
}

}  // namespace trimtab::steer::testing
