// Which task runs here, as std::this_thread tells which thread. yield and sleep_for are in timer.hpp.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <stop_token>

namespace trimtab::tasks {

// Of a task; of no task if made from nothing. No two tasks that live at the same time have the same one; numbers count from
// 1 in the order in which tasks are asked, and begin anew after 2^32. A task keeps its own wherever it goes on after a wait.
// What runs in place of who waits for it, and so cannot run beside it, may have the identity of that one: forks of invoke
// and of coroutines, and coroutines that are called.
class task_id {
 public:
  constexpr task_id() noexcept = default;
  friend constexpr auto operator<=>(const task_id&, const task_id&) noexcept = default;
  template <class character, class traits>
  friend std::basic_ostream<character, traits>& operator<<(std::basic_ostream<character, traits>& stream, task_id id) {
    return stream << id.m_number;
  }

 private:
  friend struct std::hash<task_id>;
  friend struct task_ids;
  constexpr explicit task_id(std::uint32_t number) noexcept : m_number(number) {}
  std::uint32_t m_number = 0;
};

namespace this_task {

// On a thread that is no worker: that of the thread. Costs a few ns, and nothing for tasks that never ask.
task_id get_id() noexcept;

// As it was given by an annotation (task_options::name, loop_options::name) or to a task of a graph, "" if it was given
// none.
const char* name() noexcept;

// The one that was given to async; in a coroutine, what it calls and what it forks: the one that it was spawned with.
// Elsewhere one by which nothing stops. Other tasks that a task makes need not have its token: hand it to them.
std::stop_token stop_token() noexcept;

}  // namespace this_task
}  // namespace trimtab::tasks

template <>
struct std::hash<trimtab::tasks::task_id> {
  std::size_t operator()(trimtab::tasks::task_id id) const noexcept { return std::hash<std::uint32_t>()(id.m_number); }
};
