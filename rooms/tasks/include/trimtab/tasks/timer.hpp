// What happens at a time, and waiting until then. One thread of the process, started at the first use, sleeps until the
// earliest time that somebody waits for.
#pragma once

#include <chrono>
#include <cstddef>
#include <thread>

#include "trimtab/tasks/resumer.hpp"
#include "trimtab/tasks/waiting.hpp"
#include "trimtab/tasks/worker.hpp"

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

// Waits until `who` is told, or the deadline has passed and remove(who) says that it will not be told. False: too late.
template <class node, class removal>
bool wait_until(parked<node>& who, timer::clock::time_point deadline, const char* what, const void* about,
                removal&& remove) {
  struct limit : timer {
    limit(parked<node>& waits, removal& removes)
        : timer([](timer& self) noexcept {
            auto& own = static_cast<limit&>(self);
            if (!own.take_away(own.waiting)) return;
            own.is_late = true;
            own.waiting.told.complete();
          }),
          waiting(waits),
          take_away(removes) {}
    parked<node>& waiting;
    removal& take_away;
    bool is_late = false;
  } late(who, remove);
  late.arm(deadline);
  who.told.wait(what, about);
  late.cancel();
  return !late.is_late;
}

// Of `of`, which must live.
inline bool wait_until(completion& of, timer::clock::time_point deadline, const char* what) {
  parked<> here;
  if (of.is_ready() || !of.add(here)) return true;
  return wait_until(here, deadline, what, &of, [&](waiter& who) noexcept { return of.remove(who); });
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
  detail::wait_until(here, detail::deadline_at(when), "a time", &here, [](waiter&) noexcept { return true; });
}
template <class rep, class period>
void sleep_for(const std::chrono::duration<rep, period>& time) {
  if (time > time.zero()) sleep_until(detail::deadline_after(time));
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

}  // namespace detail

// For coroutines: co_await after(20ms).
template <class rep, class period>
detail::time_awaiter after(const std::chrono::duration<rep, period>& time) {
  return detail::time_awaiter(detail::deadline_after(time));
}

}  // namespace trimtab::tasks
