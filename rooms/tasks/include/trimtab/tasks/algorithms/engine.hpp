// Runs the algorithms: calls a body for contiguous pieces of 0 .. length on several workers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include "trimtab/base/clock.hpp"
#include "trimtab/tasks/algorithms/chunking.hpp"
#include "trimtab/tasks/core/invoke.hpp"
#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/task_scope.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks::detail {

// The result of pieces that have none.
struct no_result {};

// Something that is called for pieces, [first, last) of indices. A piece's result joins that of the indices before it.
template <class body>
concept piecewise = requires(const body& b, std::size_t i, typename body::result& into, typename body::result& later) {
  b(i, i, into);
  b.join(into, later);
};

// One call of an algorithm: its options, and its place in the program.
struct algorithm_call : loop_options {
  const char* algorithm;
  std::source_location place;
};

// The name of the tasks of a call without a name. Takes a lock.
const annotation& name_of_call(const algorithm_call& call);

// State that all workers of one call share.
class loop_state {
 public:
  explicit loop_state(const algorithm_call& call) noexcept : m_call(call), m_may_stop(call.stop.stop_possible()) {}

  // To be called only while recording is on.
  const annotation& name() noexcept {
    const annotation* previous = m_name.load(std::memory_order_acquire);
    if (previous == nullptr) {
      previous = m_call.name != nullptr ? m_call.name : &name_of_call(m_call);
      m_name.store(previous, std::memory_order_release);
    }
    return *previous;
  }

  const algorithm_call& call() const noexcept { return m_call; }
  bool may_stop() const noexcept { return m_may_stop; }
  // True: no more pieces may begin.
  bool has_ended() noexcept {
    if (m_has_ended.load(std::memory_order_relaxed)) return true;
    if (!m_may_stop || !m_call.stop.stop_requested()) return false;
    failed(std::make_exception_ptr(stopped()));
    return true;
  }
  template <class function>
  void guarded(function&& f) noexcept {
    try {
      f();
    } catch (...) {
      failed(std::current_exception());
    }
  }
  // Throws the first exception. To be called when all pieces have ended.
  void check() const {
    if (m_error) std::rethrow_exception(m_error);
  }

 private:
  void failed(std::exception_ptr error) noexcept;

  const algorithm_call& m_call;
  std::atomic<const annotation*> m_name{nullptr};
  bool m_may_stop;
  std::atomic<bool> m_has_ended{false};
  std::atomic<bool> m_has_failed{false};
  std::exception_ptr m_error;
};

// As invoke, with g recorded under the name of the call.
template <class first, class second>
void invoke_for(loop_state& call, first&& f, second&& g) {
  worker* const this_worker = worker::current();
  if (!recording::is_enabled() || this_worker->is_stack_low()) [[likely]]
    return invoke(f, g);
  forked<std::remove_reference_t<second>> right_fork(g);
  set_up(right_fork, describe_as_given<std::remove_reference_t<second>>({.name = &call.name()}, g));
  this_worker->fork(right_fork);
  f();
  worker* const end_worker = worker::current();
  if (end_worker->claim(right_fork))
    end_worker->run_fork_in_place(right_fork);
  else
    right_fork.ended.wait(wait_reason::fork);
}

// In ticks. piece: long enough that its overhead does not matter. shared: worth giving to another worker, which may have to
// be woken.
struct piece_lengths {
  double piece, shared;
};
const piece_lengths& lengths_of_pieces() noexcept;

// Ticks per index in the last call, as a first estimate: bodies of one type mostly belong to one place in the program.
template <class body>
inline constinit std::atomic<float> learnt_cost{0};

template <piecewise body>
class adaptive_loop {
 public:
  using result = typename body::result;

  adaptive_loop(const body& called, loop_state& state, std::uint32_t workers) noexcept
      : m_call(called), m_state(state), m_workers(workers) {}

  void run(std::size_t length, result& result_sum) noexcept {
    run(0, length, learnt_cost<body>.load(std::memory_order_relaxed), result_sum);
  }

 private:
  // cost: ticks per index; 0: unknown.
  void run(std::size_t first, std::size_t last, double cost, result& result_sum) noexcept {
    std::size_t grain = 1;
    // The estimate may be wrong for this call: a first piece leaves most of the range for other workers.
    const std::size_t limit = std::max<std::size_t>(1, (last - first) / (4 * m_workers));
    if (cost > 0) grain = static_cast<std::size_t>(std::clamp(m_lengths.piece / cost, 1.0, static_cast<double>(limit)));
    // If there are few indices, each may be long.
    if (cost > 0 ? is_worth_sharing(last - first, cost) : last - first > 1 && last - first <= few_indices * m_workers)
      if (is_somebody_free()) return split(first, last, cost, result_sum);
    if (cost > 0 && !is_worth_sharing(last - first, cost)) first = run_untimed(first, last, result_sum);
    if (first == last) return;
    base::ticks begin = base::now();
    while (!m_state.has_ended()) {
      const std::size_t count = std::min(grain, last - first);
      m_state.guarded([&] { m_call(first, first + count, result_sum); });
      const base::ticks end = base::now();
      const auto took = static_cast<double>(end - begin);
      begin = end;
      first += count;
      // Approach the wanted length in steps: a piece may have been interrupted, or have met cold memory.
      const double most_growth = took * 64 < m_lengths.piece ? 16.0 : 4.0;
      grain =
          std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(count) *
                                                            std::clamp(m_lengths.piece / (took + 1), 0.25, most_growth)));
      cost = took / static_cast<double>(count);
      if (first == last) return learn(cost);
      if (is_worth_sharing(last - first, cost) && is_somebody_free()) return split(first, last, cost, result_sum);
      // The rest takes about as long as a read of the clock.
      if (grain >= last - first && static_cast<double>(last - first) * cost * 32 < m_lengths.shared) {
        m_state.guarded([&] { m_call(first, last, result_sum); });
        return learn(cost);
      }
    }
  }

  // For a loop that was short the last time. While no worker is free, calls the first indices in growing pieces, without
  // reading the clock: this often finishes a short inner loop. Returns where it has stopped.
  std::size_t run_untimed(std::size_t first, std::size_t last, result& result_sum) noexcept {
    const std::size_t end = first + std::min<std::size_t>(last - first, most_untimed);
    for (std::size_t count = 1; first != end && !is_somebody_free() && !m_state.has_ended(); count *= 4) {
      const std::size_t next = first + std::min(count, end - first);
      m_state.guarded([&] { m_call(first, next, result_sum); });
      first = next;
    }
    return first;
  }

  void split(std::size_t first, std::size_t last, double cost, result& result_sum) noexcept {
    const std::size_t middle = first + (last - first + 1) / 2;
    result right_sum{};
    invoke_for(m_state, [&] { run(first, middle, cost, result_sum); }, [&] { run(middle, last, cost, right_sum); });
    if (!m_state.has_ended()) m_state.guarded([&] { m_call.join(result_sum, right_sum); });
  }

  bool is_worth_sharing(std::size_t count, double cost) const noexcept {
    return static_cast<double>(count) * cost > m_lengths.shared && count > 1;
  }
  // True: another worker has taken what this one offered last.
  bool is_somebody_free() const noexcept { return m_workers > 1 && worker::current()->own_queues().normal.size() == 0; }
  static void learn(double cost) noexcept {
    const float expected = learnt_cost<body>.load(std::memory_order_relaxed);
    const auto current = static_cast<float>(cost);
    if (current > expected * 1.25f || current < expected * 0.8f)
      learnt_cost<body>.store(expected == 0 ? current : (expected + current) / 2, std::memory_order_relaxed);
  }

  static constexpr std::size_t few_indices = 8;
  static constexpr std::size_t most_untimed = 16;

  const body& m_call;
  loop_state& m_state;
  const piece_lengths& m_lengths = lengths_of_pieces();
  std::uint32_t m_workers;
};

// Calls work(number of the worker), which must not throw, on each worker that is free, at most `count`, including the
// calling one.
template <class function>
void at_workers(worker& this_worker, loop_state& state, std::uint32_t count, function&& work) {
  if (this_worker.owner().policy() == policy::static_priority) {
    // Nothing is stolen there: each worker gets a task of its own.
    task_scope helpers;
    for (std::uint32_t i = 1; i < count; ++i) {
      const std::uint32_t number = (this_worker.number() + i) % count;
      const annotation* const call_annotation = recording::is_enabled() ? &state.name() : nullptr;
      helpers.spawn(task_options{.name = call_annotation, .worker = static_cast<std::int32_t>(number)},
                    [&work, number] { work(number); });
    }
    work(this_worker.number());
    return helpers.wait();
  }
  const auto call = [&work] { work(worker::current()->number()); };
  const auto fan_out = [&](const auto& self, std::uint32_t width) -> void {
    if (width == 1) return call();
    invoke_for(state, [&] { self(self, width - width / 2); }, [&] { self(self, width / 2); });
  };
  fan_out(fan_out, count);
}

template <piecewise body>
void run_chunks(worker& this_worker, chunk_source& source, const body& call, loop_state& state,
                typename body::result& result_sum) {
  using result = typename body::result;
  constexpr bool has_result = !std::is_empty_v<result>;
  std::unique_ptr<result[]> results;
  if constexpr (has_result) results = std::make_unique<result[]>(source.count());
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(source.workers(), source.count()));
  at_workers(this_worker, state, count, [&](std::uint32_t number) {
    chunk_source::cursor position(source, number);
    chunk_source::chunk piece;
    while (!state.has_ended() && position.next(piece)) {
      result partial{};
      state.guarded([&] { call(piece.first, piece.last, partial); });
      if constexpr (has_result) results[piece.number] = std::move(partial);
    }
  });
  if constexpr (has_result) {
    state.check();
    for (std::size_t i = 0; i < source.count(); ++i) call.join(result_sum, results[i]);
  }
}

// Adaptive chunks if the runtime does not choose itself: a grain source does, or nothing is stolen.
template <piecewise body>
void run_as_chosen(worker& this_worker, loop_state& state, std::size_t length, std::uint32_t workers, const body& call,
                   typename body::result& result_sum) {
  runtime& owner = this_worker.owner();
  // Results that are combined need memory for each piece.
  constexpr bool is_tunable = std::is_empty_v<typename body::result>;
  [[maybe_unused]] grain_source* const source = is_tunable ? owner.grains() : nullptr;
  grain_source::choice choice;
  if constexpr (is_tunable) {
    const algorithm_call& call_info = state.call();
    if (source != nullptr)
      choice =
          source->begin({call_info.algorithm, call_info.place.file_name(), call_info.place.line(), call_info.name}, length);
  }
  [[maybe_unused]] const base::ticks begin = base::now();
  if (choice.grain == 0 && owner.policy() != policy::static_priority) {
    adaptive_loop<body>(call, state, workers).run(length, result_sum);
  } else {
    const chunking instead = choice.grain == 0 ? chunking(guided_chunks{}) : chunking(dynamic_chunks{choice.grain});
    chunk_source pieces(instead, length, workers);
    run_chunks(this_worker, pieces, call, state, result_sum);
  }
  if constexpr (is_tunable) {
    if (source != nullptr) source->end(choice, length, base::now() - begin);
  }
}

template <piecewise body>
typename body::result run_pieces_here(worker& this_worker, const algorithm_call& request, std::size_t length,
                                      const body& call) {
  using result = typename body::result;
  result total{};
  const std::uint32_t workers = this_worker.owner().active_workers();
  const bool is_adaptive = request.chunks.strategy() == chunking::kind::adaptive;
  if (length == 0) return total;
  if (workers == 1 && is_adaptive && !request.stop.stop_possible()) {
    call(0, length, total);
    return total;
  }
  loop_state state(request);
  if (is_adaptive && this_worker.owner().loops_adapt()) {
    adaptive_loop<body>(call, state, workers).run(length, total);
  } else if (is_adaptive) {
    run_as_chosen(this_worker, state, length, workers, call, total);
  } else {
    chunk_source source(request.chunks, length, workers);
    run_chunks(this_worker, source, call, state, total);
  }
  state.check();
  return total;
}

// Calls f() on a worker.
template <class function>
decltype(auto) on_worker(const algorithm_call& call, function&& f) {
  if (worker::current() != nullptr) return f();
  if (!recording::is_enabled()) [[likely]]
    return runtime::standard().run(f);
  return async({.name = call.name != nullptr ? call.name : &name_of_call(call)}, [&f]() -> decltype(auto) { return f(); })
      .get();
}

template <piecewise body>
typename body::result run_pieces(const algorithm_call& request, std::size_t length, const body& call) {
  return on_worker(request, [&] { return run_pieces_here(*worker::current(), request, length, call); });
}

template <class how>
concept loop_how = std::convertible_to<how, chunking> || std::same_as<std::decay_t<how>, loop_options>;

using source_place = std::source_location;

template <loop_how given>
algorithm_call call_of(const char* algorithm, const given& options, const source_place& call_site) {
  if constexpr (std::same_as<given, loop_options>)
    return {options, algorithm, call_site};
  else
    return {{.chunks = options}, algorithm, call_site};
}

// Positions of a range by number. If iterators can only be incremented, some are stored, and others are found from these.
template <class place>
class places {
 public:
  places(place first, std::size_t length) : m_first(first) {
    if constexpr (!jumps) {
      m_stride = std::max<std::size_t>(1, length / most_kept);
      for (std::size_t i = 0; i < length; ++i, ++first)
        if (i % m_stride == 0) m_kept.push_back(first);
      m_kept.push_back(first);
    }
  }
  place operator[](std::size_t number) const {
    if constexpr (std::integral<place>) {
      using bits = std::make_unsigned_t<place>;
      return static_cast<place>(static_cast<bits>(static_cast<bits>(m_first) + static_cast<bits>(number)));
    } else if constexpr (jumps) {
      return m_first + static_cast<std::iter_difference_t<place>>(number);
    } else {
      const std::size_t estimate = std::min(number / m_stride, m_kept.size() - 1);
      place position = m_kept[estimate];
      for (std::size_t i = estimate * m_stride; i < number; ++i) ++position;
      return position;
    }
  }

 private:
  static constexpr bool jumps = std::integral<place> || std::random_access_iterator<place>;
  static constexpr std::size_t most_kept = 1024;
  place m_first;
  std::size_t m_stride = 1;
  std::vector<place> m_kept;
};

template <class place>
std::size_t length_of(place first, place last) {
  if constexpr (std::integral<place>) {
    using bits = std::make_unsigned_t<place>;
    return last <= first ? 0 : static_cast<bits>(static_cast<bits>(last) - static_cast<bits>(first));
  } else {
    return static_cast<std::size_t>(std::distance(first, last));
  }
}

}  // namespace trimtab::tasks::detail
