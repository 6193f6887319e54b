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

#include "trimtab/tasks/sync/early_end.hpp"
#include "trimtab/tasks/coroutines/resumer.hpp"
#include "trimtab/tasks/coroutines/stoppable.hpp"
#include "trimtab/tasks/core/waiting.hpp"
#include "trimtab/tasks/core/worker.hpp"

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
  void arm(clock::time_point when) noexcept;
  // True: it will not expire. False: it has, and `expired` has returned.
  bool cancel() noexcept;

  // How many are armed in this process.
  static std::size_t armed() noexcept;
  // Whether one is, or does now what it was armed for.
  static bool is_any_pending() noexcept;

 private:
  friend class timer_service;
  clock::time_point m_when;
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
timer::clock::time_point deadline_at(const std::chrono::time_point<other, duration>& when) {
  if constexpr (std::is_same_v<other, timer::clock>)
    return std::chrono::ceil<timer::clock::duration>(when);
  else
    return deadline_after(when - other::now());
}

// A time at which a wait ends.
template <class node, class removal>
struct limit : timer {
  explicit limit(early_end<node, removal>& of)
      : timer([](timer& self) noexcept { static_cast<limit&>(self).end.come(wait_end::late); }), end(of) {}
  early_end<node, removal>& end;
};

// Waits until `who` is told. False: the deadline has passed, and remove(who) says that it will not be told.
template <class node, class removal>
bool wait_until(parked<node>& who, timer::clock::time_point deadline, wait_reason reason, const void* object,
                removal&& remove) {
  early_end<node, std::remove_reference_t<removal>> end{who, remove};
  limit late(end);
  late.arm(deadline);
  who.told.wait(reason, object);
  late.cancel();
  return end.how == wait_end::told;
}

// The same, and also until stop is requested. Not inline: as wait_unless.
template <class node, class removal>
[[gnu::noinline]] wait_end wait_until(const std::stop_token& stop, parked<node>& who, timer::clock::time_point deadline,
                                      wait_reason reason, const void* object, removal&& remove) {
  early_end<node, std::remove_reference_t<removal>> end{who, remove};
  limit late(end);
  late.arm(deadline);
  {
    const std::stop_callback at_stop(stop, [&end]() noexcept { end.come(wait_end::stopped); });
    who.told.wait(reason, object);
  }
  late.cancel();
  return end.how;
}

// Of `of`, which must live.
inline bool wait_until(completion& of, timer::clock::time_point deadline, wait_reason reason) {
  parked<> here;
  if (of.is_ready() || !of.add(here)) return true;
  return wait_until(here, deadline, reason, &of, [&](waiter& who) noexcept { return of.remove(who); });
}

}  // namespace detail

namespace this_task {

// Other tasks may run first.
inline void yield() noexcept { worker::current() != nullptr ? worker::yield() : std::this_thread::yield(); }

// The worker runs something else meanwhile.
template <class clock, class duration>
void sleep_until(const std::chrono::time_point<clock, duration>& when) {
  if (worker::current() == nullptr) return std::this_thread::sleep_until(when);
  parked<> here;
  detail::wait_until(here, detail::deadline_at(when), wait_reason::time, &here, [](waiter&) noexcept { return true; });
}
template <class rep, class period>
void sleep_for(const std::chrono::duration<rep, period>& time) {
  if (time > time.zero()) sleep_until(detail::deadline_after(time));
}

// False: not until then, since stop was requested.
template <class clock, class duration>
bool sleep_until(const std::stop_token& stop, const std::chrono::time_point<clock, duration>& when) {
  parked<> here;
  std::atomic<bool> is_over{false};
  // Nobody tells: of the two ends one comes.
  const auto is_first = [&is_over](waiter&) noexcept { return !is_over.exchange(true, std::memory_order_acq_rel); };
  return detail::wait_until(stop, here, detail::deadline_at(when), wait_reason::time, &here, is_first) == detail::wait_end::late;
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
          waiter& told = static_cast<time_awaiter&>(self);
          told.notify(told);
        }),
        m_deadline(deadline) {}
  bool await_ready() const noexcept { return m_deadline <= clock::now(); }
  template <class promise>
  void await_suspend(std::coroutine_handle<promise> who) {
    this->about_to_wait(who);
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
          waiter& told = *static_cast<alarm&>(self).m_who;
          told.notify(told);
        }),
        m_deadline(deadline) {}
  bool is_had() const noexcept { return m_deadline <= clock::now(); }
  bool enlist(waiter& who) noexcept {
    m_who = &who;
    arm(m_deadline);
    return true;
  }
  bool remove(waiter&) noexcept { return cancel(); }

 private:
  clock::time_point m_deadline;
  waiter* m_who = nullptr;
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
