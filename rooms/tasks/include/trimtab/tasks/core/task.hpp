// What a queue holds: something to be run once, by whoever takes it out.
#pragma once

#include <atomic>
#include <cstdint>
#include <typeinfo>

namespace trimtab::tasks {

// What kind of work a task is, of static storage: its function's type and, if it was given one, a name.
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
  // Where it is run: by a worker's loop, or in place by who waits for it and has just taken it back from the queue.
  enum class place : bool { loop, waiter };
  // Runs it, tells who waits, and gives the task up: it may be gone afterwards. In the place of a waiter, which is the
  // only one that knows of it, it tells nobody and gives nothing up.
  void (*run)(task& self, place where) noexcept = nullptr;
  // Of the three that follow, the second is not read soon: compilers clear them and the subject by two stores that overlap
  // there, and a processor reads what two stores have made only when both have left for the cache.
  const task_kind* kind_of_work = nullptr;
  // Where it waits. In an inbox: the address of the next task. In a task_deque: its position, for its owner; others may read
  // it at any time, and find out from the queue whether it holds.
  std::atomic<std::uintptr_t> queue_place{0};
  std::uint64_t id = 0;       // in a traced run; 0: not recorded
  std::uint32_t subject = 0;  // in a recorded run
  priority level = priority::normal;
  // A fork's forker waits for it, so that it is not counted; a resumption continues a task that waited (it is pending,
  // the others are staged).
  enum class kind : std::uint8_t { plain, fork, resumption } role = kind::plain;
  bool is_member = false;  // of a task_scope
};

}  // namespace trimtab::tasks
