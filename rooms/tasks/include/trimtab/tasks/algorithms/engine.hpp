// What runs the algorithms: a body, called for contiguous pieces of 0 .. length at several workers.
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
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/algorithms/chunking.hpp"
#include "trimtab/tasks/core/invoke.hpp"
#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/task_scope.hpp"

namespace trimtab::tasks::detail {

// The result of pieces that have none.
struct no_result {};

// Something that is called for pieces, [first, last) of indices. A piece's result joins that of the indices before it.
template <class body>
concept piecewise = requires(const body& b, std::size_t i, typename body::result& into, typename body::result& later) {
  b(i, i, into);
  b.join(into, later);
};

// One call of an algorithm: what it was told, and where it stands.
struct algorithm_call : loop_options {
  const char* algorithm;
  std::source_location place;
};

// The name of tasks of calls that have none. Takes a lock.
const annotation& name_of_call(const algorithm_call& which);

// What the participants of one call share.
class loop_state {
 public:
  explicit loop_state(const algorithm_call& call) noexcept : m_call(call), m_may_stop(call.stop.stop_possible()) {}

  // Asked only while something is recorded.
  const annotation& name() noexcept {
    const annotation* known = m_name.load(std::memory_order_acquire);
    if (known == nullptr) {
      known = m_call.what != nullptr ? m_call.what : &name_of_call(m_call);
      m_name.store(known, std::memory_order_release);
    }
    return *known;
  }

  const algorithm_call& call() const noexcept { return m_call; }
  bool may_stop() const noexcept { return m_may_stop; }
  // No more pieces are to begin.
  bool is_over() noexcept {
    if (m_is_over.load(std::memory_order_relaxed)) return true;
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
  // Throws the first, when all have ended.
  void check() const {
    if (m_error) std::rethrow_exception(m_error);
  }

 private:
  void failed(std::exception_ptr error) noexcept;

  const algorithm_call& m_call;
  std::atomic<const annotation*> m_name{nullptr};
  bool m_may_stop;
  std::atomic<bool> m_is_over{false};
  std::atomic<bool> m_has_failed{false};
  std::exception_ptr m_error;
};

// As invoke, with g recorded under the name of the call.
template <class first, class second>
void invoke_for(loop_state& call, first&& f, second&& g) {
  worker* const here = worker::current();
  if (!recording::is_on() || here->is_stack_low()) [[likely]]
    return invoke(f, g);
  forked<std::remove_reference_t<second>> other(g);
  set_up(other, describe<std::remove_reference_t<second>>({.what = &call.name()}, g));
  here->fork(other);
  f();
  worker* const now_here = worker::current();
  if (now_here->take(other))
    now_here->run_fork_in_place(other);
  else
    other.done.wait(wait_reason::fork);
}

// Ticks of a piece that is long enough for what surrounds it not to matter; and of what is worth sharing with another
// worker, who may have to be woken.
struct piece_lengths {
  double piece, shared;
};
const piece_lengths& lengths_of_pieces() noexcept;

// Ticks an index as last seen, for a start: bodies of one type are mostly of one place in the program.
template <class body>
inline constinit std::atomic<float> learnt_cost{0};

template <piecewise body>
class adaptive_loop {
 public:
  using result = typename body::result;

  adaptive_loop(const body& called, loop_state& state, std::uint32_t workers) noexcept
      : m_call(called), m_state(state), m_workers(workers) {}

  void run(std::size_t length, result& into) noexcept {
    run(0, length, learnt_cost<body>.load(std::memory_order_relaxed), into);
  }

 private:
  // cost: ticks an index, 0: not known.
  void run(std::size_t first, std::size_t last, double cost, result& into) noexcept {
    std::size_t grain = 1;
    // What was learnt elsewhere may be wrong here: a first piece leaves most of the range for others.
    const std::size_t most = std::max<std::size_t>(1, (last - first) / (4 * m_workers));
    if (cost > 0) grain = static_cast<std::size_t>(std::clamp(m_lengths.piece / cost, 1.0, static_cast<double>(most)));
    // Of few, each may be long.
    if (cost > 0 ? is_worth_sharing(last - first, cost) : last - first > 1 && last - first <= few * m_workers)
      if (is_somebody_free()) return split(first, last, cost, into);
    if (cost > 0 && !is_worth_sharing(last - first, cost)) first = run_untimed(first, last, into);
    if (first == last) return;
    base::ticks begin = base::now();
    while (!m_state.is_over()) {
      const std::size_t count = std::min(grain, last - first);
      m_state.guarded([&] { m_call(first, first + count, into); });
      const base::ticks end = base::now();
      const auto took = static_cast<double>(end - begin);
      begin = end;
      first += count;
      // Towards the length wanted, not at once: a piece may have been interrupted, or met cold memory.
      const double most_growth = took * 64 < m_lengths.piece ? 16.0 : 4.0;
      grain =
          std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(count) *
                                                            std::clamp(m_lengths.piece / (took + 1), 0.25, most_growth)));
      cost = took / static_cast<double>(count);
      if (first == last) return learn(cost);
      if (is_worth_sharing(last - first, cost) && is_somebody_free()) return split(first, last, cost, into);
      // The rest takes hardly longer than a look at the clock.
      if (grain >= last - first && static_cast<double>(last - first) * cost * 32 < m_lengths.shared) {
        m_state.guarded([&] { m_call(first, last, into); });
        return learn(cost);
      }
    }
  }

  // Of a loop that was short the last time. As long as nobody could be given a part, the first few are called without a look
  // at the clock, in growing pieces: a short loop within others is then through. Returns where it has stopped.
  std::size_t run_untimed(std::size_t first, std::size_t last, result& into) noexcept {
    const std::size_t end = first + std::min<std::size_t>(last - first, most_untimed);
    for (std::size_t count = 1; first != end && !is_somebody_free() && !m_state.is_over(); count *= 4) {
      const std::size_t next = first + std::min(count, end - first);
      m_state.guarded([&] { m_call(first, next, into); });
      first = next;
    }
    return first;
  }

  void split(std::size_t first, std::size_t last, double cost, result& into) noexcept {
    const std::size_t middle = first + (last - first + 1) / 2;
    result later{};
    invoke_for(m_state, [&] { run(first, middle, cost, into); }, [&] { run(middle, last, cost, later); });
    if (!m_state.is_over()) m_state.guarded([&] { m_call.join(into, later); });
  }

  bool is_worth_sharing(std::size_t count, double cost) const noexcept {
    return static_cast<double>(count) * cost > m_lengths.shared && count > 1;
  }
  // What this worker has laid out last has been taken.
  bool is_somebody_free() const noexcept { return m_workers > 1 && worker::current()->own_queues().normal.size() == 0; }
  static void learn(double cost) noexcept {
    const float known = learnt_cost<body>.load(std::memory_order_relaxed);
    const auto seen = static_cast<float>(cost);
    if (seen > known * 1.25f || seen < known * 0.8f)
      learnt_cost<body>.store(known == 0 ? seen : (known + seen) / 2, std::memory_order_relaxed);
  }

  static constexpr std::size_t few = 8;
  static constexpr std::size_t most_untimed = 16;

  const body& m_call;
  loop_state& m_state;
  const piece_lengths& m_lengths = lengths_of_pieces();
  std::uint32_t m_workers;
};

// Calls work(number of the worker), which must not throw, at as many workers as are free to come, at most `count`, the
// calling one among them.
template <class function>
void at_workers(worker& here, loop_state& state, std::uint32_t count, function&& work) {
  if (here.owner().policy() == policy::static_priority) {
    // Nothing is stolen there: each is given its own.
    task_scope others;
    for (std::uint32_t i = 1; i < count; ++i) {
      const std::uint32_t number = (here.number() + i) % count;
      const annotation* const what = recording::is_on() ? &state.name() : nullptr;
      others.spawn(task_options{.what = what, .worker = static_cast<std::int32_t>(number)},
                   [&work, number] { work(number); });
    }
    work(here.number());
    return others.wait();
  }
  const auto call = [&work] { work(worker::current()->number()); };
  const auto fan_out = [&](const auto& self, std::uint32_t width) -> void {
    if (width == 1) return call();
    invoke_for(state, [&] { self(self, width - width / 2); }, [&] { self(self, width / 2); });
  };
  fan_out(fan_out, count);
}

template <piecewise body>
void run_chunks(worker& here, chunk_source& source, const body& call, loop_state& state, typename body::result& into) {
  using result = typename body::result;
  constexpr bool has_result = !std::is_empty_v<result>;
  std::unique_ptr<result[]> results;
  if constexpr (has_result) results = std::make_unique<result[]>(source.count());
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(source.workers(), source.count()));
  at_workers(here, state, count, [&](std::uint32_t number) {
    chunk_source::cursor at(source, number);
    chunk_source::chunk each;
    while (!state.is_over() && at.next(each)) {
      result own{};
      state.guarded([&] { call(each.first, each.last, own); });
      if constexpr (has_result) results[each.number] = std::move(own);
    }
  });
  if constexpr (has_result) {
    state.check();
    for (std::size_t i = 0; i < source.count(); ++i) call.join(into, results[i]);
  }
}

// Adaptive chunks where the runtime does not choose by itself: a source does, or nothing is stolen.
template <piecewise body>
void run_as_chosen(worker& here, loop_state& state, std::size_t length, std::uint32_t workers, const body& call,
                   typename body::result& into) {
  runtime& owner = here.owner();
  // Results that are combined need memory for each piece.
  constexpr bool is_tunable = std::is_empty_v<typename body::result>;
  [[maybe_unused]] grain_source* const source = is_tunable ? owner.grains() : nullptr;
  grain_source::choice made;
  if constexpr (is_tunable) {
    const algorithm_call& of = state.call();
    if (source != nullptr) made = source->begin({of.algorithm, of.place.file_name(), of.place.line(), of.what}, length);
  }
  [[maybe_unused]] const base::ticks begin = base::now();
  if (made.grain == 0 && owner.policy() != policy::static_priority) {
    adaptive_loop<body>(call, state, workers).run(length, into);
  } else {
    const chunking instead = made.grain == 0 ? chunking(guided_chunks{}) : chunking(dynamic_chunks{made.grain});
    chunk_source pieces(instead, length, workers);
    run_chunks(here, pieces, call, state, into);
  }
  if constexpr (is_tunable) {
    if (source != nullptr) source->end(made, length, base::now() - begin);
  }
}

template <piecewise body>
typename body::result run_pieces_here(worker& here, const algorithm_call& how, std::size_t length, const body& call) {
  using result = typename body::result;
  result all{};
  const std::uint32_t workers = here.owner().active_workers();
  const bool is_adaptive = how.chunks.how() == chunking::kind::adaptive;
  if (length == 0) return all;
  if (workers == 1 && is_adaptive && !how.stop.stop_possible()) {
    call(0, length, all);
    return all;
  }
  loop_state state(how);
  if (is_adaptive && here.owner().loops_adapt()) {
    adaptive_loop<body>(call, state, workers).run(length, all);
  } else if (is_adaptive) {
    run_as_chosen(here, state, length, workers, call, all);
  } else {
    chunk_source source(how.chunks, length, workers);
    run_chunks(here, source, call, state, all);
  }
  state.check();
  return all;
}

// Calls f() on a worker.
template <class function>
decltype(auto) on_worker(const algorithm_call& how, function&& f) {
  if (worker::current() != nullptr) return f();
  if (!recording::is_on()) [[likely]]
    return runtime::standard().run(f);
  return async({.what = how.what != nullptr ? how.what : &name_of_call(how)}, [&f]() -> decltype(auto) { return f(); })
      .get();
}

template <piecewise body>
typename body::result run_pieces(const algorithm_call& how, std::size_t length, const body& call) {
  return on_worker(how, [&] { return run_pieces_here(*worker::current(), how, length, call); });
}

template <class how>
concept loop_how = std::convertible_to<how, chunking> || std::same_as<std::decay_t<how>, loop_options>;

using source_place = std::source_location;

template <loop_how given>
algorithm_call call_of(const char* algorithm, const given& how, const source_place& from) {
  if constexpr (std::same_as<given, loop_options>)
    return {how, algorithm, from};
  else
    return {{.chunks = how}, algorithm, from};
}

// The places of a range by number. Of iterators that must be stepped some are kept, from which others are found.
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
      const std::size_t near = std::min(number / m_stride, m_kept.size() - 1);
      place at = m_kept[near];
      for (std::size_t i = near * m_stride; i < number; ++i) ++at;
      return at;
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
