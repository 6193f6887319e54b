// Futures of several futures: when_all, when_any, when_some. The result contains the input futures, in a vector or
// a tuple, with their exceptions.
#pragma once

#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "trimtab/tasks/futures/future.hpp"

namespace trimtab::tasks {

// index: of a future that is ready; without any futures: the largest std::size_t.
template <class sequence>
struct when_any_result {
  std::size_t index = static_cast<std::size_t>(-1);
  sequence futures;
};

// indices: of all futures that were ready, at least the requested number.
template <class sequence>
struct when_some_result {
  std::vector<std::size_t> indices;
  sequence futures;
};

namespace detail {

template <class each>
void visit_futures(std::vector<each>& inputs, auto&& look) {
  for (each& one : inputs) look(one);
}
template <class... each>
void visit_futures(std::tuple<each...>& inputs, auto&& look) {
  std::apply([&](auto&... input) { (look(input), ...); }, inputs);
}

// Ready when `needed` of the futures are. result: the type of its value.
template <class sequence, class result>
class when_state final : public state<result> {
  struct node : waiter {
    when_state* owner = nullptr;
    state_base* awaited = nullptr;
  };

 public:
  // One reference belongs to the future, one to start(); each node has one more until it is notified.
  when_state(sequence&& inputs, std::size_t count, std::size_t needed)
      : state<result>(2, destroy_state<when_state>),
        m_inputs(std::move(inputs)),
        m_nodes(std::make_unique<node[]>(count)),
        m_count(count),
        m_needed(needed) {}

  void start() noexcept {
    std::size_t index = 0;
    visit_futures(m_inputs, [&](auto& input) {
      node& entry = m_nodes[index++];
      entry.owner = this;
      entry.notify = [](waiter& self) noexcept {
        when_state& owner = *static_cast<node&>(self).owner;
        owner.arrived();
        owner.release();
      };
      this->retain();
      if (access::state_of(input)) {
        entry.awaited = &*access::state_of(input);
        if (entry.awaited->ready_event().add(entry)) return;
      }
      entry.awaited = nullptr;
      arrived();
      this->release();
    });
    if (m_arrived.fetch_add(is_started, std::memory_order_acq_rel) >= m_needed) finish();
    this->release();
  }

 private:
  void arrived() noexcept {
    if (m_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == (m_needed | is_started)) finish();
  }

  void finish() noexcept {
    // Futures that are not ready must forget this state: they may exist for a long time.
    if (m_needed < m_count)
      for (std::size_t i = 0; i < m_count; ++i)
        if (m_nodes[i].awaited != nullptr && m_nodes[i].awaited->ready_event().remove(m_nodes[i])) this->release();
    this->guarded([&] {
      if constexpr (std::is_same_v<result, sequence>) {
        this->emplace(std::move(m_inputs));
      } else {
        std::vector<std::size_t> ready;
        std::size_t index = 0;
        visit_futures(m_inputs, [&](auto& input) {
          if (input.ready() || !input.valid()) ready.push_back(index);
          index += 1;
        });
        if constexpr (std::is_same_v<result, when_any_result<sequence>>)
          this->emplace(result{ready.empty() ? static_cast<std::size_t>(-1) : ready.front(), std::move(m_inputs)});
        else
          this->emplace(result{std::move(ready), std::move(m_inputs)});
      }
    });
    this->ready_event().complete();
  }

  // Nothing ends before all nodes are enlisted, even if enough have arrived.
  static constexpr std::size_t is_started = ~(~std::size_t{0} >> 1);

  sequence m_inputs;
  std::unique_ptr<node[]> m_nodes;
  std::size_t m_count;
  std::size_t m_needed;
  std::atomic<std::size_t> m_arrived{0};
};

template <class result, class sequence>
future<result> make_when_state(sequence&& inputs, std::size_t count, std::size_t needed) {
  auto& node = make_state<when_state<sequence, result>>(std::move(inputs), count, needed);
  auto state = access::future_of<result>(node);
  node.start();
  return state;
}

template <class iterator>
auto collected(iterator first, iterator last) {
  std::vector<typename std::iterator_traits<iterator>::value_type> states;
  for (; first != last; ++first) {
    if constexpr (std::is_copy_constructible_v<typename std::iterator_traits<iterator>::value_type>)
      states.push_back(*first);
    else
      states.push_back(std::move(*first));
  }
  return states;
}

inline std::size_t checked_some(std::size_t needed, std::size_t count) {
  if (needed > count)
    throw std::invalid_argument("trimtab: when_some was asked for " + std::to_string(needed) +
                                " ready futures, expected at most as many as there are: " + std::to_string(count));
  return needed;
}

}  // namespace detail

// Shared futures are copied, others are moved from.
template <class... futures>
  requires(detail::is_future<std::decay_t<futures>>::value && ...)
auto when_all(futures&&... inputs) {
  using sequence = std::tuple<std::decay_t<futures>...>;
  return detail::make_when_state<sequence>(sequence(std::forward<futures>(inputs)...), sizeof...(futures),
                                           sizeof...(futures));
}
template <class each>
  requires(detail::is_future<each>::value)
auto when_all(std::vector<each> inputs) {
  const std::size_t count = inputs.size();
  return detail::make_when_state<std::vector<each>>(std::move(inputs), count, count);
}
template <std::input_iterator iterator>
auto when_all(iterator first, iterator last) {
  return when_all(detail::collected(first, last));
}

template <class... futures>
  requires(detail::is_future<std::decay_t<futures>>::value && ...)
auto when_any(futures&&... inputs) {
  using sequence = std::tuple<std::decay_t<futures>...>;
  return detail::make_when_state<when_any_result<sequence>>(sequence(std::forward<futures>(inputs)...), sizeof...(futures),
                                                            sizeof...(futures) == 0 ? 0 : 1);
}
template <class each>
  requires(detail::is_future<each>::value)
auto when_any(std::vector<each> inputs) {
  const std::size_t count = inputs.size();
  return detail::make_when_state<when_any_result<std::vector<each>>>(std::move(inputs), count, count == 0 ? 0 : 1);
}
template <std::input_iterator iterator>
auto when_any(iterator first, iterator last) {
  return when_any(detail::collected(first, last));
}

// Ready when `needed` futures are. Throws std::invalid_argument if there are fewer futures.
template <class... futures>
  requires(detail::is_future<std::decay_t<futures>>::value && ...)
auto when_some(std::size_t needed, futures&&... inputs) {
  using sequence = std::tuple<std::decay_t<futures>...>;
  detail::checked_some(needed, sizeof...(futures));
  return detail::make_when_state<when_some_result<sequence>>(sequence(std::forward<futures>(inputs)...), sizeof...(futures),
                                                             needed);
}
template <class each>
  requires(detail::is_future<each>::value)
auto when_some(std::size_t needed, std::vector<each> inputs) {
  const std::size_t count = inputs.size();
  detail::checked_some(needed, count);
  return detail::make_when_state<when_some_result<std::vector<each>>>(std::move(inputs), count, needed);
}
template <std::input_iterator iterator>
auto when_some(std::size_t needed, iterator first, iterator last) {
  return when_some(needed, detail::collected(first, last));
}

}  // namespace trimtab::tasks
