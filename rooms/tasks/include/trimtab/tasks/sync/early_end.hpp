// Waits that end before what is waited for happens: because stop was requested, or (timer.hpp) because it is too late.
#pragma once

#include <cstdint>
#include <exception>
#include <stop_token>
#include <type_traits>

#include "trimtab/tasks/core/waiting.hpp"

namespace trimtab::tasks {

// What the future of a task throws that was told to stop before it began, and get(stop_token) of one that is not ready.
class stopped : public std::exception {
 public:
  explicit stopped(const char* text = "trimtab: stopped before it began") noexcept : m_text(text) {}
  const char* what() const noexcept override { return m_text; }

 private:
  const char* m_text;
};

namespace detail {

enum class wait_end : std::uint8_t { notified, late, stopped };

// Tells `waiting` in the place of who would have, unless that one does: remove(waiting) is true if it will not, for one
// caller only.
template <class node, class removal>
struct early_end {
  parked<node>& waiting;
  removal& remove;
  wait_end reason = wait_end::notified;

  void end_wait_early(wait_end end_kind) noexcept {
    if (!remove(waiting)) return;
    reason = end_kind;
    // Afterwards who waits may go on, but not before a callback of its stop token or its timer has returned.
    waiting.notified.complete();
  }
};

// Waits until `waiting` is notified. False: stop was requested before, and remove(waiting) is true: it will not be notified.
// Not inline: after the wait it may be another thread, which the end of a stop_callback asks for, and a compiler may keep
// what was known of the thread before.
template <class node, class removal>
[[gnu::noinline]] bool wait_unless(const std::stop_token& stop, parked<node>& waiting, wait_reason reason,
                                   const void* object, removal&& remove) {
  early_end<node, std::remove_reference_t<removal>> end{waiting, remove};
  {
    const std::stop_callback at_stop(stop, [&end]() noexcept { end.end_wait_early(wait_end::stopped); });
    waiting.notified.wait(reason, object);
  }
  return end.reason == wait_end::notified;
}

// The same for a completion, which must outlive the call. reason, object: for reports.
inline bool wait_unless(const std::stop_token& stop, completion& event, wait_reason reason, const void* object) {
  parked<> sleeper;
  if (event.is_ready() || !event.add(sleeper)) return true;
  return wait_unless(stop, sleeper, reason, object, [&event](waiter& waiting) noexcept { return event.remove(waiting); });
}

}  // namespace detail
}  // namespace trimtab::tasks
