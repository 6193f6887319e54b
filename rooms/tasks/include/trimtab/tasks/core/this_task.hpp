// The task that runs here, as std::this_thread for threads. yield and sleep_for are in timer.hpp.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <stop_token>

namespace trimtab::tasks {

// The identity of a task; default-constructed: of no task. No two tasks that exist at the same time have the same identity.
// Numbers count from 1, in the order in which identities are requested, and begin anew after 2^32. A task keeps its identity
// after a wait. A task that runs in place of its waiter may have the waiter's identity: forks of invoke and of coroutines,
// and coroutines that are called.
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

// On a thread that is not a worker: an identity of the thread. Costs a few ns; tasks that never call it pay nothing.
task_id get_id() noexcept;

// The name from an annotation (task_options::name, loop_options::name) or of a task of a graph; "" if it has none.
const char* name() noexcept;

// The token that was given to async; in a coroutine, and in coroutines that it calls or forks: the token with which it was
// spawned. Elsewhere a token that is never stopped. Other tasks that a task creates do not inherit its token: pass it to
// them.
std::stop_token stop_token() noexcept;

}  // namespace this_task
}  // namespace trimtab::tasks

template <>
struct std::hash<trimtab::tasks::task_id> {
  std::size_t operator()(trimtab::tasks::task_id id) const noexcept { return std::hash<std::uint32_t>()(id.m_number); }
};
