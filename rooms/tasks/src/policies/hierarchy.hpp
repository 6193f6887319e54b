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

  explicit hierarchy(queues& all) {
    for (std::uint32_t width = arity; width < all.size() * arity || m_levels.empty(); width *= arity) {
      m_levels.push_back({width, {}});
      for (std::uint32_t first = 0; first < all.size(); first += width) {
        all.shared.push_back(std::make_unique<inbox>());
        m_levels.back().nodes.push_back(all.shared.back().get());
      }
    }
  }

  bool push(queues& all, std::uint32_t worker, task& what) noexcept { return all[worker].normal.push(what); }
  void put(queues&, task& what, std::int32_t = -1) noexcept { root().put(what); }

  task* next(queues& all, std::uint32_t worker, search& how, bool& is_offered) noexcept {
    worker_queues& own = all[worker];
    const bool is_root_first = ++own.looks % detail::looks_per_incoming == 0;
    const auto next_own = [&]() -> task* {
      if (is_root_first)
        if (task* const found = root().take()) return found;
      return own.normal.pop_oldest(is_offered);
    };
    if (task* const found = detail::looked(own.counts, next_own)) return found;
    for (std::size_t height = 0; height < m_levels.size(); ++height) {
      const level& here = m_levels[height];
      inbox& node = *here.nodes[worker / here.width];
      if (task* const found = detail::looked(own.counts, [&] { return take(node, is_offered); })) return found;
      const std::uint32_t first = worker / here.width * here.width;
      const std::uint32_t last = std::min(first + here.width, all.size());
      if (task* const found = take_between(height, first, last, is_offered)) return found;
      for (std::uint32_t leaf = first; leaf < last; ++leaf) {
        if (leaf == worker || !detail::may_steal(own)) continue;
        if (task* const found = pull(all[leaf].normal, node, own.counts, how, is_offered)) return found;
      }
    }
    return nullptr;
  }

  bool may_find(queues& all, std::uint32_t) const noexcept { return all.length() != 0; }

 private:
  struct level {
    std::uint32_t width;  // workers below one of its nodes
    std::vector<inbox*> nodes;
  };

  inbox& root() noexcept { return *m_levels.back().nodes.front(); }

  static task* take(inbox& from, bool& is_offered) noexcept {
    task* const taken = from.take();
    if (taken != nullptr) is_offered |= from.size() != 0;
    return taken;
  }

  // From the queues between the node at `height` above workers first to last - 1, and these.
  task* take_between(std::size_t height, std::uint32_t first, std::uint32_t last, bool& is_offered) const noexcept {
    while (height-- > 0)
      for (std::uint32_t below = first; below < last; below += m_levels[height].width)
        if (task* const found = take(*m_levels[height].nodes[below / m_levels[height].width], is_offered)) return found;
    return nullptr;
  }

  // From a leaf into a queue above it; the oldest is run at once.
  static task* pull(task_deque& leaf, inbox& into, queue_counts& counts, const search& how, bool& is_offered) noexcept {
    return detail::steal_batch(leaf, counts, how, is_offered, [&](task& each) {
      into.put(each);
      is_offered = true;
    });
  }

  std::vector<level> m_levels;
};

}  // namespace trimtab::tasks
