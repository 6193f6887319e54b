// Waits that end before the event happens: because stop was requested, or (timer.hpp) because the deadline has passed.
#pragma once

#include <cstdint>
#include <exception>
#include <stop_token>
#include <type_traits>

#include "trimtab/tasks/core/waiting.hpp"

namespace trimtab::tasks {

// Thrown by the future of a task that was stopped before it began, and by get(stop_token) of a future that is not ready.
class stopped : public std::exception {
 public:
  explicit stopped(const char* text = "trimtab: stopped before it began") noexcept : m_text(text) {}
  const char* what() const noexcept override { return m_text; }

 private:
  const char* m_text;
};

namespace detail {

enum class wait_end : std::uint8_t { notified, late, stopped };

// Notifies `waiting` instead of the event, unless the event does it: remove(waiting) returns true, to one caller only, if
// the event will not.
template <class node, class removal>
struct early_end {
  parked<node>& waiting;
  removal& remove;
  wait_end reason = wait_end::notified;

  void end_wait_early(wait_end end_kind) noexcept {
    if (!remove(waiting)) return;
    reason = end_kind;
    // From now on the waiter may continue, but not before the callback of its stop token or its timer has returned.
    waiting.notified.complete();
  }
};

// Waits until `waiting` is notified. False: stop was requested before, and remove(waiting) is true: it will not be notified.
// Not inline: after the wait the thread may be another one, the destructor of stop_callback asks for the thread, and a
// compiler could keep the old one.
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
