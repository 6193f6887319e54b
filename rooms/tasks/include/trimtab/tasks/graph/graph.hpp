// Event-driven tasks (the model of the Open Community Runtime): tasks with input slots, each bound to a block of data, an
// event, or another task. A task runs, once, when all its slots are satisfied and it may use its blocks; it never waits.
// Graphs may grow while they run: tasks make tasks, blocks and events.
//
//   graph g;
//   auto a = g.make_block<double>(1000, "a"), b = g.make_block<double>(1000, "b");
//   auto fill = g.task("fill", [](std::span<double> to) { ... }, exclusive_write(a));
//   g.task("sum", [](std::span<const double> from, std::span<double> to) { ... },
//          read_only(a), exclusive_write(b), after(fill));
//   g.wait();
//
// Tasks that want the same block in ways that exclude each other (data_block.hpp) take turns in the order in which they
// became able to run. What must come first is said by `after`.
#pragma once

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "trimtab/tasks/core/blocks.hpp"
#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/spawn.hpp"
#include "trimtab/tasks/core/worker.hpp"
#include "trimtab/tasks/graph/graph_node.hpp"

namespace trimtab::tasks {

class runtime;

// A block of data; a reference to it, as all that follows. Its memory goes with the last one.
template <class value>
class block {
 public:
  block() = default;
  identity id() const noexcept { return m_block->id(); }
  const std::string& name() const noexcept { return m_block->name(); }
  std::size_t size() const noexcept { return m_block->bytes() / sizeof(value); }
  // For who is no task that has it as an input: while no task uses it. Throws graph_error otherwise.
  std::span<value> values() const {
    if (m_block->is_destroyed()) throw graph_error("trimtab: " + m_block->text() + " has been destroyed");
    if (m_block->is_in_use())
      throw graph_error("trimtab: " + m_block->text() + " is in use by a task: bind it to a slot, or wait for the graph");
    return {static_cast<value*>(m_block->data()), size()};
  }
  // Its memory goes when no task uses it any more; tasks that want it from now on fail.
  void destroy() const noexcept { m_block->destroy(); }

 private:
  friend class graph;
  template <class>
  friend class output;
  template <class>
  friend class event;
  friend struct detail_access;
  explicit block(reference<data_block> source) noexcept : m_block(std::move(source)) {}
  reference<data_block> m_block;
};

// What a task gives when it has ended: that it has, and if its function returns a block, this block.
template <class value = void>
class output {
 public:
  output() = default;
  identity id() const noexcept { return m_state->id(); }
  std::string text() const { return m_state->text(); }
  bool has_happened() const noexcept { return m_state->has_happened(); }
  // Of one that has happened.
  block<value> result() const
    requires(!std::is_void_v<value>)
  {
    if (!has_happened()) throw graph_error("trimtab: " + text() + " has not happened yet, its block is not known");
    return block<value>(m_state->payload());
  }

 protected:
  friend class graph;
  friend struct detail_access;
  explicit output(reference<event_state> source) noexcept : m_state(std::move(source)) {}
  reference<event_state> m_state;
};

template <class value = void>
using graph_task = output<value>;

// An event that the program satisfies itself, with a block where it brings one.
template <class value = void>
class event : public output<value> {
 public:
  event() = default;
  // Throws graph_error when it may not be any more. Of a latch: counts one down.
  void satisfy() const
    requires(std::is_void_v<value>)
  {
    this->m_state->satisfy({});
  }
  template <class other>
    requires(std::is_same_v<other, value>)
  void satisfy(const block<other>& partner) const {
    this->m_state->satisfy(partner.m_block);
  }
  void count_up(std::int64_t count = 1) const { this->m_state->count_up(count); }

 private:
  friend class graph;
  using output<value>::output;
};

struct detail_access {
  template <class value>
  static const reference<data_block>& unwrap(const block<value>& input) noexcept {
    return input.m_block;
  }
  template <class value>
  static const reference<event_state>& unwrap(const output<value>& input) noexcept {
    return input.m_state;
  }
};

namespace detail {

template <class value, access_mode how>
struct data_input {
  static constexpr access_mode mode = how;
  static constexpr bool has_data = true;
  static constexpr bool reads = how == access_mode::read_only || how == access_mode::constant;
  using element = std::conditional_t<reads, const value, value>;
  using argument = std::tuple<std::span<element>>;
  static argument argument_of(const graph_slot& slot) noexcept {
    return {{static_cast<element*>(slot.block->data()), slot.block->bytes() / sizeof(value)}};
  }
  reference<data_block> block;
  reference<event_state> source;
};

struct event_input {
  static constexpr access_mode mode = access_mode::read_only;
  static constexpr bool has_data = false;
  using argument = std::tuple<>;
  static argument argument_of(const graph_slot&) noexcept { return {}; }
  reference<data_block> block;
  reference<event_state> source;
};

template <class>
inline constexpr bool is_input = false;
template <class value, access_mode how>
inline constexpr bool is_input<data_input<value, how>> = true;
template <>
inline constexpr bool is_input<event_input> = true;

template <access_mode how, class value>
data_input<value, how> input_of(const block<value>& input) {
  return {detail_access::unwrap(input), {}};
}
template <access_mode how, class value>
data_input<value, how> input_of(const output<value>& input) {
  static_assert(!std::is_void_v<value>, "this brings no block: say after(...)");
  return {{}, detail_access::unwrap(input)};
}

}  // namespace detail

// Slots: of a block, or of an event or task that brings one. Those that read get std::span<const value>, the others
// std::span<value>. `after` is for what brings nothing, or whose block is not wanted, and gives no argument.
template <class source>
auto read_only(const source& input) {
  return detail::input_of<access_mode::read_only>(input);
}
template <class source>
auto constant(const source& input) {
  return detail::input_of<access_mode::constant>(input);
}
template <class source>
auto read_write(const source& input) {
  return detail::input_of<access_mode::read_write>(input);
}
template <class source>
auto exclusive_write(const source& input) {
  return detail::input_of<access_mode::exclusive_write>(input);
}
template <class value>
detail::event_input after(const output<value>& input) {
  return {{}, detail_access::unwrap(input)};
}

namespace detail {

template <class>
struct result_block {
  static constexpr bool is_block = false;
};
template <>
struct result_block<void> {
  static constexpr bool is_block = true;
  using value = void;
};
template <class each>
struct result_block<block<each>> {
  static constexpr bool is_block = true;
  using value = each;
};

template <class function, class... inputs>
class typed_node final : public graph_node {
 public:
  using arguments = decltype(std::tuple_cat(std::declval<typename inputs::argument>()...));
  using result = decltype(std::apply(std::declval<function&>(), std::declval<arguments>()));

  template <class from>
  typed_node(graph& owner, std::string_view name, const task_options& options, from&& called, inputs&&... bound)
      : graph_node(owner, name, free), m_call(std::forward<from>(called)) {
    task::run = run_it;
    std::size_t size_class = 0;
    (store_input(m_slots_here[size_class++], std::move(bound)), ...);
    set_up(*this, described(options));
    set_up_slots(m_slots_here, m_order_here, sizeof...(inputs));
  }

 private:
  // In recorded runs by its name, if no annotation says otherwise.
  description described(const task_options& options) const noexcept {
    if (options.name == nullptr && recording::is_enabled()) [[unlikely]]
      if (const std::uint32_t named = recording::subject_of_name(name()); named != 0)
        return {&kind_of<function>, named, options.level};
    return describe_as_given(options, m_call);
  }
  template <class input>
  static void store_input(graph_slot& slot, input&& source) noexcept {
    slot.block = std::move(source.block);
    slot.source = std::move(source.source);
    slot.mode = input::mode;
    slot.has_data = input::has_data;
  }
  template <std::size_t... each>
  arguments load_arguments(std::index_sequence<each...>) const {
    return std::tuple_cat(inputs::argument_of(m_slots_here[each])...);
  }
  static void run_it(task& self, place) noexcept {
    auto& derived = static_cast<typed_node&>(self);
    reference<data_block> output;
    bool has_failed = false;
    try {
      auto arguments_of_call = derived.load_arguments(std::index_sequence_for<inputs...>());
      if constexpr (std::is_void_v<result>)
        std::apply(derived.m_call, std::move(arguments_of_call));
      else
        output = detail_access::unwrap(std::apply(derived.m_call, std::move(arguments_of_call)));
    } catch (...) {
      has_failed = true;
      derived.fail(std::current_exception());
    }
    derived.end(std::move(output), has_failed);
  }
  static void free(graph_node& self) noexcept { destroy_in_block(worker::current(), static_cast<typed_node&>(self)); }

  static constexpr std::size_t slots = sizeof...(inputs) == 0 ? 1 : sizeof...(inputs);
  function m_call;
  graph_slot m_slots_here[slots];
  graph_slot* m_order_here[slots];
};

}  // namespace detail

// Its tasks may use it; wait() and the destructor are for who has made it. Handles may outlive it.
class graph {
 public:
  // On the calling worker's runtime, or the standard one.
  graph();
  explicit graph(runtime& executor);
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;
  // Waits. Tasks that were never satisfied go with it; errors that were not asked for are dropped.
  ~graph();

  // `size` values, all value{}.
  template <class value>
  block<value> make_block(std::size_t size, std::string_view name = {}) {
    static_assert(std::is_trivially_copyable_v<value> && alignof(value) <= 64, "blocks are memory");
    block<value> new_block(reference<data_block>(data_block::create(m_memory, size * sizeof(value), name)));
    std::uninitialized_value_construct_n(static_cast<value*>(new_block.m_block->data()), size);
    return new_block;
  }

  // value: of the block that it brings.
  template <class value = void>
  event<value> make_event(std::string_view name = {}, event_kind kind = event_kind::single) {
    return make_counting<value>(kind, 1, name);
  }
  // Happens when it has been satisfied `count` times, at least 1.
  event<> make_latch(std::int64_t count, std::string_view name = {});

  // f(span...) runs when all slots are satisfied. It is known by its name in reports and recorded runs, without one by its
  // function; options.name has priority over the name there.
  template <class function, class... inputs>
    requires(detail::is_input<inputs> && ...)
  auto task(const task_options& options, std::string_view name, function&& f, inputs... slots) {
    using node = detail::typed_node<std::decay_t<function>, inputs...>;
    using output_block = detail::result_block<typename node::result>;
    static_assert(output_block::is_block, "a task of a graph returns nothing, or a block");
    auto& new_node =
        make_in_block<node>(worker::current(), *this, name, options, std::forward<function>(f), std::move(slots)...);
    new_node.output().retain();
    output<typename output_block::value> result{reference<event_state>(new_node.output())};
    begin(new_node, options.worker);
    return result;
  }
  template <class function, class... inputs>
    requires(detail::is_input<inputs> && ...)
  auto task(std::string_view name, function&& f, inputs... slots) {
    return task(task_options{}, name, std::forward<function>(f), std::move(slots)...);
  }
  template <class function, class... inputs>
    requires((detail::is_input<inputs> && ...) && !std::is_convertible_v<function, std::string_view>)
  auto task(function&& f, inputs... slots) {
    return task(task_options{}, {}, std::forward<function>(f), std::move(slots)...);
  }

  // Returns when no task runs or can run. Throws the first exception of a task, of which those that depend on it have not
  // run; or graph_error, which names tasks and slots, if some were never satisfied: these remain, and the graph may go on.
  // Who else satisfies events must be through before.
  void wait();

 private:
  friend class detail::graph_node;
  struct parts;

  template <class value>
  event<value> make_counting(event_kind kind, std::int64_t count, std::string_view name) {
    return event<value>(reference<event_state>(*new event_state(identity::next(identity::kind::event), kind, count, name)));
  }
  void begin(detail::graph_node& node, std::int32_t worker);
  void add(detail::graph_node& node) noexcept;
  void remove(detail::graph_node& node) noexcept;
  void began() noexcept { m_active.fetch_add(1, std::memory_order_relaxed); }
  void ended() noexcept {
    if (m_active.fetch_sub(1, std::memory_order_acq_rel) == 1) m_waiting->complete();
  }
  void start(detail::graph_node& ready) noexcept;
  void failed(std::exception_ptr error) noexcept;
  void settle();
  std::string unsatisfied() const;

  runtime& m_home;
  std::shared_ptr<block_memory> m_memory = std::make_shared<block_memory>();
  completion* m_waiting = nullptr;
  std::unique_ptr<parts> m_parts;
  // Tasks that can run, wait for blocks or run; and one for who may wait, while it does not.
  alignas(64) std::atomic<std::int64_t> m_active{1};
};

}  // namespace trimtab::tasks
