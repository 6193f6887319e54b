// What a queue holds: work that runs once, on the thread that takes it out.
#pragma once

#include <atomic>
#include <cstdint>
#include <typeinfo>

namespace trimtab::tasks {

// The kind of work of a task, of static storage: the type of its function and, if the program gave one, a name.
struct task_kind {
  const std::type_info* type = nullptr;
  const char* name = nullptr;
  const char* file = "";
  std::uint32_t line = 0;
  bool never_waits = false;  // a task of a graph
};

template <class function>
inline constexpr task_kind kind_of{&typeid(function)};

enum class priority : std::uint8_t { high, normal, low };
inline constexpr unsigned priorities = 3;

struct task {
  // Where it runs: in a worker's loop, or in place of the task that waits for it and has claimed it from the queue.
  enum class place : bool { loop, waiter };
  // Runs the task, notifies its waiters, and releases it: it may be gone afterwards. In place of a waiter, which is the only
  // one that knows of it, nothing is notified or released.
  void (*run)(task& self, place where) noexcept = nullptr;
  // Of the three that follow, the second is not read soon: compilers clear them and the subject by two stores that overlap
  // there, and a processor reads what two stores have made only when both have left for the cache.
  const task_kind* kind_of_work = nullptr;
  // The place in its queue. In an inbox: the address of the next task. In a task_deque: its position, written by the owner.
  // Other threads may read it at any time, but must check with the queue whether it is still true.
  std::atomic<std::uintptr_t> queue_place{0};
  std::uint64_t id = 0;       // in a traced run; 0: not recorded
  std::uint32_t subject = 0;  // in a recorded run
  priority level = priority::normal;
  // A fork is not counted, because the task that forks it waits for it. A resumption continues a task that has waited: it is
  // pending, the others are staged.
  enum class kind : std::uint8_t { plain, fork, resumption } role = kind::plain;
  bool is_member = false;  // of a task_scope
};

}  // namespace trimtab::tasks
