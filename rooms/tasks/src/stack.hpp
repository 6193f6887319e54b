// Stacks for tasks, and going from one to another. The only file pair that knows Boost.Context and the sanitizers' fibers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trimtab/base/clock.hpp"
#include "trimtab/tasks/core/task.hpp"
#include "trimtab/tasks/core/wait_reason.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks {

// Lies at the upper end of the memory that it describes.
struct alignas(64) stack {
  task resumption;                    // what lies in queues when the stack's task is ready to go on
  priority level = priority::normal;  // of the task that a loop has begun here
  running_task running;
  void* context = nullptr;  // where it was left
  runtime* owner = nullptr;
  const char* limit = nullptr;
  stack* next = nullptr;  // in a list of unused ones
  // To be called by the loop that is on this stack, for the one who waits on `caller`.
  void (*call)(void*) noexcept = nullptr;
  void* argument = nullptr;
  stack* caller = nullptr;
  // Of the recorded tasks on it, one of which may run in the place of another: how long they have waited, how often, and how
  // many have begun.
  base::ticks waited = 0;
  std::uint64_t waits = 0, runs = 0;
  // While it is set aside. The thread that reports a deadlock reads them.
  std::atomic<wait_reason> reason{wait_reason::not_waiting};  // none: in use, or unused
  std::atomic<const void*> awaited_object{nullptr};
  std::atomic<base::ticks> wait_begin{0};
  void (*entry)(stack& self) noexcept = nullptr;
  void* fiber = nullptr;  // for ThreadSanitizer
  char* bottom = nullptr;
  std::size_t bytes = 0;
};

// Memory for stacks, in slabs. Guarded by a page each as long as the system allows so many mappings.
class stack_memory {
 public:
  stack_memory(std::size_t stack_bytes, void (*entry)(stack&) noexcept) noexcept;
  ~stack_memory();
  stack_memory(const stack_memory&) = delete;
  stack_memory& operator=(const stack_memory&) = delete;

  // A new stack, of which switch_to begins in entry(stack), which never returns. nullptr: no memory. Not thread-safe.
  stack* make_stack(runtime& owner) noexcept;
  std::size_t count() const noexcept { return m_count; }
  stack& stack_at(std::size_t number) const noexcept;

 private:
  static constexpr std::size_t stacks_per_slab = 16;
  static constexpr std::size_t most_slabs = std::size_t{1} << 18;
  static constexpr std::size_t most_guarded = 12'000;

  std::size_t m_bytes;
  void (*m_entry)(stack&) noexcept;
  std::size_t m_count = 0;
  char** m_slabs;
};

struct switching {
  // Leaves the calling worker's stack for `next`, or for the thread's own stack (nullptr). Then calls on_left(argument,
  // left) on `next`. Returns when another switch comes back to this stack, maybe on another thread.
  using after_switch = void (*)(void* argument, stack* left) noexcept;
  static void switch_to(stack* next, after_switch on_left, void* argument) noexcept;

  struct handoff;
  static void arrived(void* left_context, const handoff& request, void* own_fake_stack) noexcept;
};

}  // namespace trimtab::tasks
