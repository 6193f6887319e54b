// A worker: a thread that runs tasks. The inline code here is the cost of a task.
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include "trimtab/base/clock.hpp"
#include "trimtab/tasks/core/blocks.hpp"
#include "trimtab/tasks/core/event_count.hpp"
#include "trimtab/tasks/core/queues.hpp"
#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/wait_reason.hpp"

namespace trimtab::tasks {

class runtime;
struct stack;

// Exact counts, and times in clock ticks. One writer, the worker.
struct worker_counters {
  single_writer_count in_place;     // tasks run by who waited for them, without a detour through a queue
  single_writer_count started;      // tasks run by the worker's loop
  single_writer_count resumed;      // activations of tasks that had waited
  single_writer_count suspended;    // times that a task waited
  single_writer_count created;      // tasks that were made here and are not forks of invoke
  single_writer_count finished;     // of those, from anywhere, that have ended here
  single_writer_count parked;       // times that the worker went to sleep
  single_writer_count stacks;       // stacks taken into use
  single_writer_count busy_ticks;   // from finding something to run until finding nothing, to the last change
  single_writer_count look_ticks;   // looking in vain
  single_writer_count park_ticks;   // asleep, having found nothing
  single_writer_count cap_ticks;    // resting above the cap
  single_writer_count timed_tasks;  // a sample of the activations by the loop
  single_writer_count timed_ticks;  // that these took
  single_writer_count gap_ticks;    // from the end of the activation before each of them to its beginning
};

// What a worker is doing.
enum class worker_state : std::uint32_t { busy, looking, parked, capped };

// The task that runs on a stack. If tasks run in place of waiters: the innermost.
struct running_task {
  const task_kind* kind_of_work = nullptr;
  std::uint64_t id = 0;
  std::uint32_t subject = 0;
  std::uint32_t number = 0;                     // of this_task::get_id; 0: nobody has asked
  const std::stop_token* stop_token = nullptr;  // of async; coroutines have theirs in their context
};

class worker;
// The calling thread's worker; nullptr on other threads. Only worker::current() reads it.
extern thread_local constinit worker* this_threads_worker asm("trimtab_tasks_worker");

class alignas(64) worker {
 public:
  worker(runtime& owner, worker_queues& own_queues, std::uint32_t number) noexcept;
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  // The calling thread's worker; nullptr on other threads. After a wait a task may continue on another worker's thread, but
  // a compiler may keep the address of a thread-local variable. So it must not see that this is one.
  static worker* current() noexcept {
#if defined(__x86_64__) && defined(__LP64__) && !defined(TRIMTAB_ASK_CURRENT)
    worker* this_worker;
    asm volatile(
        "movq trimtab_tasks_worker@gottpoff(%%rip), %0\n\t"
        "movq %%fs:(%0), %0"
        : "=r"(this_worker));
    return this_worker;
#else
    return ask_current();
#endif
  }

  runtime& owner() noexcept { return *m_owner; }
  std::uint32_t number() const noexcept { return m_number; }
  block_cache& blocks() noexcept { return m_blocks; }
  worker_counters& counters() noexcept { return m_counters; }
  const worker_counters& counters() const noexcept { return m_counters; }
  stack* running_stack() noexcept { return m_stack; }
  worker_queues& own_queues() noexcept { return *m_queues; }

  // For structured fork-join: into the worker's own queue, under every policy.
  void fork(task& item) noexcept {
    if (m_queues->normal.push(item)) [[unlikely]]
      wake();
  }

  // True: `item` was in the worker's own queue; now the caller must run it.
  bool claim(const task& item) noexcept {
    if (!m_queues->normal.claim(item)) [[unlikely]]
      return false;
    m_counters.in_place.add();
    return true;
  }

  // The same for a task that may be of high priority, which has a queue of its own.
  bool take_by_level(const task& item) noexcept {
    if (item.level != priority::high) [[likely]]
      return claim(item);
    if (!m_queues->high.claim(item)) return false;
    m_counters.in_place.add();
    return true;
  }

  // The newest task of the worker's own queue if is_wanted(task), else nullptr. The caller must run it.
  template <class predicate>
  task* take_newest_if(predicate&& is_wanted) noexcept {
    bool is_offered = false;
    task* const item = m_queues->normal.take_newest_if(is_wanted, is_offered);
    if (is_offered) [[unlikely]]
      wake();
    if (item != nullptr) m_counters.in_place.add();
    return item;
  }

  // Runs a task that was claimed, in place of the task that waits for it, and counts it as finished.
  void run_in_place(task& item) noexcept {
    run_fork_in_place(item);
    current()->m_counters.finished.add_released();
  }

  // True: a recorded fork that was claimed can simply be called, and has been counted. The running task has the same
  // subject, as in recursion, and this run need not be timed.
  [[gnu::always_inline]] bool counts_as_running(const task& fork) noexcept {
    return m_running->kind_of_work == fork.kind_of_work && m_running->subject == fork.subject && counts_untimed(fork);
  }
  // Calls call() under the subject of the fork. False: the fork must be run by run_fork_in_place, which times it.
  template <class function>
  bool call_recorded(const task& fork, function&& call) {
    if (!counts_untimed(fork)) return false;
    // The rest, such as the number, stays that of the forking task, as without recording.
    const struct restored {
      explicit restored(running_task& running_here)
          : running(running_here), kind_of_work(running_here.kind_of_work), subject(running_here.subject) {}
      ~restored() {
        running.kind_of_work = kind_of_work;
        running.subject = subject;
      }
      running_task& running;
      const task_kind* const kind_of_work;
      const std::uint32_t subject;
    } restore(*m_running);
    m_running->kind_of_work = fork.kind_of_work;
    m_running->subject = fork.subject;
    call();
    return true;
  }
  // The same for a recorded fork, which is not counted as finished.
  void run_fork_in_place(task& item) noexcept {
    running_task* const running = m_running;
    const running_task outer = *running;
    run(item, task::place::waiter);
    *running = outer;
  }

  // The task that runs now on the worker's stack: for reports and the recorder.
  running_task& running() noexcept { return *m_running; }
  // 0: it runs no task, or one that is not recorded.
  std::uint32_t running_subject() const noexcept { return m_running != nullptr ? m_running->subject : 0; }
  recording::tally& tally() noexcept { return m_tally; }

  // Tells the recorder that a task was created.
  [[gnu::always_inline]] void record_made(task& item) noexcept {
    item.id = recording::record_created(item.subject, m_tally);
  }

  // Whether a task with this hint may be pushed here.
  bool suits(std::int32_t hint) const noexcept {
    return hint < 0 || (m_keeps_own && static_cast<std::uint32_t>(hint) == m_number);
  }

  // Queues a new task, or one that is ready to continue, where the policy wants it.
  void push(task& item) noexcept {
    if (m_keeps_own && item.level == priority::normal) [[likely]] {
      if (m_queues->normal.push(item)) [[unlikely]]
        wake();
      return;
    }
    push_elsewhere(item);
  }

  // Less of the stack is left than the running code may need. Recursive code continues on another stack (run_on_new_stack).
  bool is_stack_low() const noexcept { return stack_pointer() < m_stack_limit; }

  // Suspends the running task. The worker continues on another stack. There, and only after this stack has been left, it
  // calls published(argument, left), which arranges that ready(left) is called once. reason, object: for reports. Returns
  // when the task continues, maybe on another worker.
  static void suspend(wait_reason reason, const void* object, void (*published)(void* argument, stack& left) noexcept,
                      void* argument) noexcept;
  // From any thread.
  static void ready(stack& suspended) noexcept;

  // Calls f(argument) on a stack of its own. f must not throw.
  static void run_on_new_stack(void (*f)(void* argument) noexcept, void* argument) noexcept;

  // Other tasks may run first; this one continues when its turn comes.
  static void yield() noexcept;

 private:
  friend class runtime;
  friend class worker_loop;
  friend struct switching;

  static worker* ask_current() noexcept;  // never inlined
  static const char* stack_pointer() noexcept {
#if defined(__x86_64__)
    // A frame's address would cost its function a frame pointer.
    const char* top;
    asm volatile("mov %%rsp, %0" : "=r"(top));
    return top;
#else
    return static_cast<const char*>(__builtin_frame_address(0));
#endif
  }

  [[gnu::always_inline]] bool counts_untimed(const task& fork) noexcept {
    return (fork.id | m_running->id) == 0 && m_tally.ran_untimed(fork.subject);
  }
  void run(task& item, task::place position) noexcept {
    if (item.subject != 0) [[unlikely]]
      return run_recorded(item, position);
    *m_running = {item.kind_of_work, 0, 0};
    item.run(item, position);
  }
  void run_recorded(task& item, task::place position) noexcept;
  void wake() noexcept;
  void push_elsewhere(task& item) noexcept;
  stack& unused_stack();
  void go_on(stack& suspended) noexcept;
  // Called by switching::switch_to for a stack that is no longer used.
  static void recycle(void*, stack* left) noexcept;
  void enter(worker_state next) noexcept;

  // Read by every fork.
  worker_queues* m_queues;
  const char* m_stack_limit = nullptr;
  running_task* m_running = nullptr;  // of the stack
  bool m_keeps_own;
  std::uint32_t m_number;
  runtime* m_owner;
  stack* m_stack = nullptr;  // nullptr: the thread's own
  block_cache m_blocks;
  alignas(64) worker_counters m_counters;
  std::atomic<worker_state> m_state{worker_state::looking};
  std::atomic<base::ticks> m_state_begin{0};
  std::atomic<std::uint32_t> m_changes{0};  // of the state and the times
  void* m_thread_context = nullptr;         // of the thread's own stack while the worker runs on others
  void* m_thread_fiber = nullptr;           // the same for ThreadSanitizer
  const void* m_thread_bottom = nullptr;    // and for AddressSanitizer
  std::size_t m_thread_bytes = 0;
  stack* m_unused = nullptr;
  std::uint32_t m_unused_count = 0;
  // Begin of the activation that is being timed; 0: none.
  base::ticks m_phase_begin = 0;
  base::ticks m_last_end = 0;
  // Counts when it last judged its steals, and the number of bad judgements in a row.
  std::uint64_t m_judged_steals = 0, m_judged_stolen = 0, m_judged_resumed = 0;
  std::uint64_t m_run_by_others = 0;  // by then, where the judgement was bad
  std::uint32_t m_poor_judgements = 0;
  std::uint32_t m_continued = 0;  // tasks that it has made ready again
  recording::tally m_tally;
  event_count m_events;  // where it sleeps if others know what it may run
};

// As allocate_block and free_block, for callers that have the calling worker already (nullptr on other threads).
inline void* allocate_block(worker* this_worker, std::size_t bytes) {
  if (this_worker == nullptr || block_cache::is_watched) [[unlikely]]
    return allocate_block(bytes);
  return this_worker->blocks().allocate(bytes);
}
inline void free_block(worker* this_worker, void* block, std::size_t bytes) noexcept {
  if (this_worker == nullptr || block_cache::is_watched) [[unlikely]]
    return free_block(block, bytes);
  this_worker->blocks().free(block, bytes);
}

// Creates an object in a block of its own. this_worker: the calling worker.
template <class object, class... arguments>
object& make_in_block(worker* here, arguments&&... from) {
  static_assert(alignof(object) <= block_cache::grain, "what is in blocks may be aligned to 64 bytes at most");
  void* const block = allocate_block(here, sizeof(object));
  try {
    return *new (block) object(std::forward<arguments>(from)...);
  } catch (...) {
    free_block(block, sizeof(object));
    throw;
  }
}
template <class object>
void destroy_in_block(worker* this_worker, object& derived) noexcept {
  derived.~object();
  free_block(this_worker, &derived, sizeof(object));
}

}  // namespace trimtab::tasks
