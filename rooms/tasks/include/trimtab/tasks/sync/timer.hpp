// What happens at a time, and waiting until then. One thread of the process, started at the first use, sleeps until the
// earliest time that somebody waits for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include "trimtab/tasks/core/waiting.hpp"
#include "trimtab/tasks/core/worker.hpp"
#include "trimtab/tasks/coroutines/resumer.hpp"
#include "trimtab/tasks/coroutines/stoppable.hpp"
#include "trimtab/tasks/sync/early_end.hpp"

namespace trimtab::tasks {

class timer {
 public:
  using clock = std::chrono::steady_clock;

  // expired: called once by the timers' thread, must be quick, and may arm other timers. The timer may be gone when it
  // returns if nobody cancels it.
  explicit timer(void (*expired)(timer& self) noexcept) noexcept : m_expired(expired) {}
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  // Once.
  void arm(clock::time_point deadline) noexcept;
  // True: it will not expire. False: it has, and `expired` has returned.
  bool cancel() noexcept;

  // How many are armed in this process.
  static std::size_t armed() noexcept;
  // Whether one is, or does now what it was armed for.
  static bool is_any_pending() noexcept;

 private:
  friend class timer_service;
  clock::time_point m_deadline;
  void (*m_expired)(timer& self) noexcept;
  std::size_t m_slot = 0;  // in the heap
};

namespace detail {

// Ten years count as for ever.
template <class rep, class period>
timer::clock::time_point deadline_after(const std::chrono::duration<rep, period>& time) {
  constexpr auto longest = std::chrono::hours(24 * 3650);
  if (time <= time.zero()) return timer::clock::now();
  if (time >= longest) return timer::clock::now() + longest;
  return timer::clock::now() + std::chrono::ceil<timer::clock::duration>(time);
}

template <class other, class duration>
timer::clock::time_point deadline_at(const std::chrono::time_point<other, duration>& deadline) {
  if constexpr (std::is_same_v<other, timer::clock>)
    return std::chrono::ceil<timer::clock::duration>(deadline);
  else
    return deadline_after(deadline - other::now());
}

// A time at which a wait ends.
template <class node, class removal>
struct limit : timer {
  explicit limit(early_end<node, removal>& early)
      : timer([](timer& self) noexcept { static_cast<limit&>(self).end.end_wait_early(wait_end::late); }), end(early) {}
  early_end<node, removal>& end;
};

// Waits until `waiting` is notified. False: the deadline has passed, and remove(waiting) is true: it will not be notified.
template <class node, class removal>
bool wait_until(parked<node>& waiting, timer::clock::time_point deadline, wait_reason reason, const void* object,
                removal&& remove) {
  early_end<node, std::remove_reference_t<removal>> end{waiting, remove};
  limit late(end);
  late.arm(deadline);
  waiting.notified.wait(reason, object);
  late.cancel();
  return end.reason == wait_end::notified;
}

// The same, and also until stop is requested. Not inline: as wait_unless.
template <class node, class removal>
[[gnu::noinline]] wait_end wait_until(const std::stop_token& stop, parked<node>& waiting, timer::clock::time_point deadline,
                                      wait_reason reason, const void* object, removal&& remove) {
  early_end<node, std::remove_reference_t<removal>> end{waiting, remove};
  limit late(end);
  late.arm(deadline);
  {
    const std::stop_callback at_stop(stop, [&end]() noexcept { end.end_wait_early(wait_end::stopped); });
    waiting.notified.wait(reason, object);
  }
  late.cancel();
  return end.reason;
}

// The same for a completion, which must outlive the call.
inline bool wait_until(completion& event, timer::clock::time_point deadline, wait_reason reason) {
  parked<> sleeper;
  if (event.is_ready() || !event.add(sleeper)) return true;
  return wait_until(sleeper, deadline, reason, &event, [&](waiter& queued) noexcept { return event.remove(queued); });
}

}  // namespace detail

namespace this_task {

// Other tasks may run first.
inline void yield() noexcept { worker::current() != nullptr ? worker::yield() : std::this_thread::yield(); }

// The worker runs something else meanwhile.
template <class clock, class duration>
void sleep_until(const std::chrono::time_point<clock, duration>& deadline) {
  if (worker::current() == nullptr) return std::this_thread::sleep_until(deadline);
  parked<> sleeper;
  detail::wait_until(sleeper, detail::deadline_at(deadline), wait_reason::time, &sleeper,
                     [](waiter&) noexcept { return true; });
}
template <class rep, class period>
void sleep_for(const std::chrono::duration<rep, period>& time) {
  if (time > time.zero()) sleep_until(detail::deadline_after(time));
}

// False: not until then, since stop was requested.
template <class clock, class duration>
bool sleep_until(const std::stop_token& stop, const std::chrono::time_point<clock, duration>& deadline) {
  parked<> sleeper;
  std::atomic<bool> has_ended{false};
  // Nobody tells: of the two ends one comes.
  const auto is_first = [&has_ended](waiter&) noexcept { return !has_ended.exchange(true, std::memory_order_acq_rel); };
  return detail::wait_until(stop, sleeper, detail::deadline_at(deadline), wait_reason::time, &sleeper, is_first) ==
         detail::wait_end::late;
}
template <class rep, class period>
bool sleep_for(const std::stop_token& stop, const std::chrono::duration<rep, period>& time) {
  return sleep_until(stop, detail::deadline_after(time));
}

}  // namespace this_task

namespace detail {

class time_awaiter : public resumer<>, public timer {
 public:
  explicit time_awaiter(clock::time_point deadline) noexcept
      : resumer<>(recording::cause::time),
        timer([](timer& self) noexcept {
          waiter& notified = static_cast<time_awaiter&>(self);
          notified.notify(notified);
        }),
        m_deadline(deadline) {}
  bool await_ready() const noexcept { return m_deadline <= clock::now(); }
  template <class promise>
  void await_suspend(std::coroutine_handle<promise> coroutine) {
    this->about_to_wait(coroutine);
    arm(m_deadline);
  }
  void await_resume() const noexcept {}

 private:
  clock::time_point m_deadline;
};

class alarm : public timer {
 public:
  explicit alarm(clock::time_point deadline) noexcept
      : timer([](timer& self) noexcept {
          waiter& notified = *static_cast<alarm&>(self).m_waiting;
          notified.notify(notified);
        }),
        m_deadline(deadline) {}
  bool is_available() const noexcept { return m_deadline <= clock::now(); }
  bool enlist(waiter& waiting) noexcept {
    m_waiting = &waiting;
    arm(m_deadline);
    return true;
  }
  bool remove(waiter&) noexcept { return cancel(); }

 private:
  clock::time_point m_deadline;
  waiter* m_waiting = nullptr;
};
using stoppable_time_awaiter = stoppable_resumer<alarm>;

}  // namespace detail

// For coroutines: co_await after(20ms), and co_await after(stop, 20ms), which gives what sleep_for(stop, 20ms) gives.
template <class rep, class period>
detail::time_awaiter after(const std::chrono::duration<rep, period>& time) {
  return detail::time_awaiter(detail::deadline_after(time));
}
template <class rep, class period>
detail::stoppable_time_awaiter after(std::stop_token stop, const std::chrono::duration<rep, period>& time) {
  return {recording::cause::time, std::move(stop), detail::deadline_after(time)};
}

}  // namespace trimtab::tasks
