// hierarchy: a tree of queues, with the workers' own at its leaves. Who has nothing of its own walks from its leaf towards
// the root; a queue on the way that is empty is filled from what is below it: leaves, and queues in between that others
// have filled. What comes from outside enters at the root. No priorities.
#pragma once

#include "policies/contract.hpp"

namespace trimtab::tasks {

class hierarchy {
 public:
  static constexpr const char* name = "hierarchy";
  static constexpr bool keeps_own = true;
  static constexpr bool names_taker = false;
  static constexpr auto offers = task_deque::offering::on_demand;
  static constexpr std::uint32_t arity = 2;

  explicit hierarchy(queues& pool) {
    for (std::uint32_t width = arity; width < pool.size() * arity || m_levels.empty(); width *= arity) {
      m_levels.push_back({width, {}});
      for (std::uint32_t first = 0; first < pool.size(); first += width) {
        pool.shared.push_back(std::make_unique<inbox>());
        m_levels.back().nodes.push_back(pool.shared.back().get());
      }
    }
  }

  bool push(queues& pool, std::uint32_t worker, task& item) noexcept { return pool[worker].normal.push(item); }
  void place(queues&, task& item, std::int32_t = -1) noexcept { root().enqueue(item); }

  task* next(queues& pool, std::uint32_t worker, search& effort, bool& is_offered) noexcept {
    worker_queues& own_queues = pool[worker];
    const bool is_root_first = ++own_queues.looks % detail::looks_per_incoming == 0;
    const auto next_own = [&]() -> task* {
      if (is_root_first)
        if (task* const item = root().dequeue()) return item;
      return own_queues.normal.pop_oldest(is_offered);
    };
    if (task* const item = detail::looked(own_queues.counts, next_own)) return item;
    for (std::size_t height = 0; height < m_levels.size(); ++height) {
      const level& level_queues = m_levels[height];
      inbox& node = *level_queues.nodes[worker / level_queues.width];
      if (task* const item = detail::looked(own_queues.counts, [&] { return dequeue(node, is_offered); })) return item;
      const std::uint32_t first = worker / level_queues.width * level_queues.width;
      const std::uint32_t last = std::min(first + level_queues.width, pool.size());
      if (task* const item = take_from_levels(height, first, last, is_offered)) return item;
      for (std::uint32_t leaf = first; leaf < last; ++leaf) {
        if (leaf == worker || !detail::may_steal(own_queues)) continue;
        if (task* const item = pull(pool[leaf].normal, node, own_queues.counts, effort, is_offered)) return item;
      }
    }
    return nullptr;
  }

  bool may_find(queues& pool, std::uint32_t) const noexcept { return pool.length() != 0; }

 private:
  struct level {
    std::uint32_t width;  // workers below one of its nodes
    std::vector<inbox*> nodes;
  };

  inbox& root() noexcept { return *m_levels.back().nodes.front(); }

  static task* dequeue(inbox& queue, bool& is_offered) noexcept {
    task* const item = queue.dequeue();
    if (item != nullptr) is_offered |= queue.size() != 0;
    return item;
  }

  // From the queues between the node at `height` above workers first to last - 1, and these.
  task* take_from_levels(std::size_t height, std::uint32_t first, std::uint32_t last, bool& is_offered) const noexcept {
    while (height-- > 0)
      for (std::uint32_t leaf = first; leaf < last; leaf += m_levels[height].width)
        if (task* const item = dequeue(*m_levels[height].nodes[leaf / m_levels[height].width], is_offered)) return item;
    return nullptr;
  }

  // From a leaf into a queue above it; the oldest is run at once.
  static task* pull(task_deque& leaf, inbox& queue, queue_counts& counts, const search& effort, bool& is_offered) noexcept {
    return detail::steal_batch(leaf, counts, effort, is_offered, [&](task& item) {
      queue.enqueue(item);
      is_offered = true;
    });
  }

  std::vector<level> m_levels;
};

}  // namespace trimtab::tasks
