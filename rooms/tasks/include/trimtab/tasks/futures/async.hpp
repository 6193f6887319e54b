// Tasks with futures: async, dataflow.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "trimtab/tasks/futures/future.hpp"

namespace trimtab::tasks {

namespace detail {

template <class function, class... arguments>
using result_of = std::invoke_result_t<std::decay_t<function>, std::decay_t<arguments>...>;

template <class value, class function>
future<value> spawn_call(const task_options& options, const description& details, function&& call) {
  auto& node =
      make_state<call_state<value, std::decay_t<function>, start_time::immediate>>(std::forward<function>(call), details);
  try {
    spawn(node, options);
  } catch (...) {
    node.release();
    node.release();
    throw;
  }
  return access::future_of<value>(node);
}

template <class function, class... arguments>
auto bound(function&& f, arguments&&... inputs) {
  if constexpr (sizeof...(arguments) == 0)
    return std::decay_t<function>(std::forward<function>(f));
  else
    return
        [f = std::decay_t<function>(std::forward<function>(f)),
         inputs = std::tuple<std::decay_t<arguments>...>(std::forward<arguments>(inputs)...)]() mutable -> decltype(auto) {
          return std::apply(std::move(f), std::move(inputs));
        };
}

}  // namespace detail

// Runs f(arguments...) as a task; arguments are copied or moved. It runs on the calling worker's runtime; from other threads
// on the standard runtime.
template <class function, class... arguments>
  requires std::invocable<std::decay_t<function>, std::decay_t<arguments>...>
auto async(const task_options& options, function&& f, arguments&&... inputs) {
  return detail::spawn_call<detail::result_of<function, arguments...>>(
      options, detail::describe<std::decay_t<function>>(options, f),
      detail::bound(std::forward<function>(f), std::forward<arguments>(inputs)...));
}

template <class function, class... arguments>
  requires std::invocable<std::decay_t<function>, std::decay_t<arguments>...>
auto async(function&& f, arguments&&... inputs) {
  return async(task_options{}, std::forward<function>(f), std::forward<arguments>(inputs)...);
}

template <class function, class... arguments>
  requires std::invocable<std::decay_t<function>, std::decay_t<arguments>...>
auto async(priority level, function&& f, arguments&&... inputs) {
  return async(task_options{.level = level}, std::forward<function>(f), std::forward<arguments>(inputs)...);
}

namespace detail {

// During its lifetime, the task that runs on this stack has a stop token.
class stoppable {
 public:
  explicit stoppable(const std::stop_token& token) noexcept { worker::current()->running().stop_token = &token; }
  ~stoppable() { worker::current()->running().stop_token = nullptr; }
  stoppable(const stoppable&) = delete;
  stoppable& operator=(const stoppable&) = delete;
};

}  // namespace detail

// Runs f(token, arguments...) if f takes a token, else f(arguments...). If stop was requested before, f is not called, and
// its future throws `stopped`. In the task, this_task::stop_token() returns the token.
template <class function, class... arguments>
  requires(std::invocable<std::decay_t<function>, std::decay_t<arguments>...> ||
           std::invocable<std::decay_t<function>, std::stop_token, std::decay_t<arguments>...>)
auto async(std::stop_token token, function&& f, arguments&&... inputs) {
  const detail::description details = detail::describe<std::decay_t<function>>({}, f);
  auto call = [&] {
    if constexpr (std::invocable<std::decay_t<function>, std::stop_token, std::decay_t<arguments>...>)
      return detail::bound(std::forward<function>(f), token, std::forward<arguments>(inputs)...);
    else
      return detail::bound(std::forward<function>(f), std::forward<arguments>(inputs)...);
  }();
  using value = std::invoke_result_t<decltype(call)>;
  return detail::spawn_call<value>({}, details, [token = std::move(token), call = std::move(call)]() mutable -> value {
    if (token.stop_requested()) throw stopped();
    const detail::stoppable token_scope(token);
    return std::move(call)();
  });
}

// A task without a result. An exception that leaves it ends the program, as in a thread.
template <class function, class... arguments>
void post(function&& f, arguments&&... inputs) {
  struct posted final : task {
    using call_type = decltype(detail::bound(std::forward<function>(f), std::forward<arguments>(inputs)...));
    posted(call_type&& callable, const detail::description& details) : call(std::move(callable)) {
      detail::set_up(*this, details);
      run = [](task& self, place) noexcept {
        auto& derived = static_cast<posted&>(self);
        std::move(derived.call)();
        destroy_in_block(worker::current(), derived);
      };
    }
    call_type call;
  };
  const detail::description details = detail::describe<std::decay_t<function>>({}, f);
  auto& node = make_in_block<posted>(worker::current(),
                                     detail::bound(std::forward<function>(f), std::forward<arguments>(inputs)...), details);
  try {
    detail::spawn(node, {});
  } catch (...) {
    destroy_in_block(worker::current(), node);
    throw;
  }
}

namespace detail {

template <class>
struct is_future_vector : std::false_type {};
template <class each, class allocator>
struct is_future_vector<std::vector<each, allocator>> : is_future<each> {};

template <class argument>
std::size_t futures_in(const argument& input) noexcept {
  if constexpr (is_future<argument>::value)
    return 1;
  else if constexpr (is_future_vector<argument>::value)
    return input.size();
  else
    return 0;
}

// Calls look(state or nullptr) for each future in `input`.
template <class argument, class function>
void each_future(const argument& input, function&& look) {
  if constexpr (is_future<argument>::value)
    look(access::state_of(input).get());
  else if constexpr (is_future_vector<argument>::value)
    for (const auto& entry : input) each_future(entry, look);
}

template <class value, class function, class... arguments>
class dataflow_state final : public task, public state<value>, private countdown {
 public:
  template <class from, class... given>
  dataflow_state(const task_options& options, from&& called, given&&... inputs)
      : state<value>(2, destroy_state<dataflow_state>),
        countdown([](countdown& self) noexcept {
          auto& derived = static_cast<dataflow_state&>(self);
          make_ready(derived, *derived.m_home, derived.m_hint);
        }),
        m_home(home_of_caller()),
        m_hint(options.worker) {
    m_inputs.emplace(std::forward<from>(called), std::tuple<arguments...>(std::forward<given>(inputs)...));
    task::run = run_it;
    set_up(*this, describe<function>(options, m_inputs->first));
    const std::size_t count =
        std::apply([](const auto&... input) { return (futures_in(input) + ... + 0); }, m_inputs->second);
    if (count > inline_count) m_heap_nodes.resize(count);
  }

  void start() {
    std::size_t index = 0;
    const std::size_t count = m_heap_nodes.empty() ? inline_count : m_heap_nodes.size();
    node* const nodes = m_heap_nodes.empty() ? m_inline_nodes : m_heap_nodes.data();
    // Unused nodes count as ready.
    expect(count);
    std::apply(
        [&](const auto&... input) {
          (each_future(input, [&](state_base* input_state) { await(nodes[index++], input_state); }), ...);
        },
        m_inputs->second);
    while (index < count) await(nodes[index++], nullptr);
    started();
  }

 private:
  static constexpr std::size_t inline_count = (std::size_t{0} + ... + (is_future<arguments>::value ? 1 : 0));

  static void run_it(task& self, place) noexcept {
    auto& derived = static_cast<dataflow_state&>(self);
    derived.guarded([&] {
      derived.emplace_result([&]() -> decltype(auto) {
        return std::apply(
            [&](auto&... each) -> decltype(auto) {
              return std::invoke(std::move(derived.m_inputs->first), std::move(each)...);
            },
            derived.m_inputs->second);
      });
    });
    derived.m_inputs.reset();
    derived.ready_event().complete();
    derived.release();
  }

  std::optional<std::pair<function, std::tuple<arguments...>>> m_inputs;
  runtime* m_home;
  std::int32_t m_hint;
  node m_inline_nodes[inline_count == 0 ? 1 : inline_count];
  std::vector<node> m_heap_nodes;  // when there are vectors among the arguments
};

}  // namespace detail

// f(arguments...) becomes a task when all futures among the arguments, and in vectors of futures, are ready. It is given
// the ready futures; other arguments as they are.
template <class function, class... arguments>
auto dataflow(const task_options& options, function&& f, arguments&&... inputs) {
  static_assert(std::invocable<std::decay_t<function>, std::decay_t<arguments>...>,
                "trimtab: dataflow calls f with ready futures. Take future<T> as parameter, or write "
                "dataflow(unwrapping(f), ...) for an f that takes the values.");
  using value = detail::result_of<function, arguments...>;
  auto& node = detail::make_state<detail::dataflow_state<value, std::decay_t<function>, std::decay_t<arguments>...>>(
      options, std::forward<function>(f), std::forward<arguments>(inputs)...);
  detail::count_made();
  auto result = detail::access::future_of<value>(node);
  node.start();
  return result;
}

template <class function, class... arguments>
  requires(!std::same_as<std::decay_t<function>, task_options>)
auto dataflow(function&& f, arguments&&... inputs) {
  return dataflow(task_options{}, std::forward<function>(f), std::forward<arguments>(inputs)...);
}

namespace detail {

template <class argument>
decltype(auto) value_of(argument&& input) {
  using plain = std::decay_t<argument>;
  if constexpr (is_future<plain>::value) {
    return input.get();
  } else if constexpr (is_future_vector<plain>::value) {
    std::vector<std::decay_t<decltype(input.front().get())>> values;
    values.reserve(input.size());
    for (auto& entry : input) values.push_back(entry.get());
    return values;
  } else {
    return std::forward<argument>(input);
  }
}

}  // namespace detail

// f that takes values, for dataflow and then, which give futures. An exception of a future is thrown instead of calling f.
template <class function>
auto unwrapping(function&& f) {
  return [f = std::decay_t<function>(std::forward<function>(f))]<class... arguments>(
             arguments&&... with) mutable -> decltype(auto) {
    return std::invoke(f, detail::value_of(std::forward<arguments>(with))...);
  };
}

}  // namespace trimtab::tasks
