// Workers that run tasks. One runtime owns its threads; several may live in one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "trimtab/tasks/algorithms/grain_source.hpp"
#include "trimtab/tasks/core/background_work.hpp"
#include "trimtab/tasks/core/counters.hpp"
#include "trimtab/tasks/core/event_count.hpp"
#include "trimtab/tasks/core/spawn.hpp"
#include "trimtab/tasks/core/waiting.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks {

// How tasks are placed and found; each is described in its file under src/policies/.
enum class policy : std::uint8_t { local, local_priority, abp_priority, hierarchy, static_priority, periodic_priority };

class runtime;

const char* name_of(policy scheduling) noexcept;  // "local-priority"
std::optional<policy> policy_of(std::string_view name) noexcept;

struct runtime_options {
  // Number of threads that run tasks. 0: the number of CPUs available to this process (affinity and cgroup quota).
  std::uint32_t workers = 0;
  // How tasks are scheduled. Not set: what choose_policy returns, else local-priority.
  std::optional<tasks::policy> policy = {};
  // Binds each worker to a CPU of its own. Tasks stay within their NUMA domain if possible.
  bool numa = false;
  // Size of each stack in bytes. A task that recurses through tasks may use any number of stacks.
  std::size_t stack_bytes = 512 << 10;
  // Reports a deadlock when no task has been able to run for this long (ms), although tasks wait. 0 disables the check.
  std::uint32_t deadlock_ms = 3000;
  // Receives the report, line by line. Not set: it goes to standard error.
  std::function<void(std::string_view)> on_deadlock = {};
  // Paths of counters that are printed to standard error when the runtime ends, and every print_counters_ms (0: only at the
  // end).
  std::vector<std::string> print_counters = {};
  std::uint32_t print_counters_ms = 0;
  // Creates an object that accompanies the runtime. Called at the end of the constructor. The object is destroyed when all
  // tasks have ended, before the runtime. The constructor throws what this throws.
  std::function<std::shared_ptr<void>(runtime&)> companion = {};
  // Chooses the policy if none is set, from the number of workers. Called first of all, on the thread that creates the
  // runtime, and before the companion. The constructor throws what this throws.
  std::function<tasks::policy(std::uint32_t workers)> choose_policy = {};
};

class runtime {
 public:
  // Throws std::invalid_argument, which names the option, its value and what is allowed.
  explicit runtime(const runtime_options& options = {});
  // Waits until all tasks have ended.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  std::uint32_t workers() const noexcept { return m_queues.size(); }
  tasks::policy policy() const noexcept { return m_policy; }

  // The cap: how many workers may run tasks, 1 to workers(). May be called at any time. Workers above the cap finish their
  // task and then rest.
  void set_active_workers(std::uint32_t count);
  std::uint32_t active_workers() const noexcept { return m_queues.active.load(std::memory_order_relaxed); }

  // Chooses the grain size of loops that the program leaves to the runtime; nullptr: the runtime itself. For companions:
  // call it before the first task or after the last.
  void set_grain_source(grain_source* chooses) noexcept;
  grain_source* grains() const noexcept { return m_grains; }
  // What workers without a task advance from now on, in place of what was given before; nullptr: nothing. It is kept until
  // the runtime ends, because a worker may be in it. Threads that are no workers, and wait, advance it as well.
  void set_background_work(const std::shared_ptr<background_work>& work);

  // True: loops use adaptive chunks, without a grain source.
  bool loops_adapt() const noexcept { return m_loops_adapt; }

  // Runs f() on a worker, and returns or throws what it does. The calling thread waits. On a worker of this runtime, f is
  // called in place.
  template <class function>
  auto run(function&& f) -> std::invoke_result_t<function&>;

  // Queues a new task, which runs once. From any thread; throws in a forked child. hint: a worker's number, or -1.
  void submit(task& item, std::int32_t hint = -1);
  // Queues a task that was counted before (count_made_outside), or that has waited.
  void place(task& item, std::int32_t hint = -1) noexcept;
  void count_made_outside();

  // The runtime for threads that are not workers: the oldest one that exists. Creates one if there is none.
  static runtime& standard();

  const worker_counters& counters(std::uint32_t number) const { return m_workers.at(number)->counters(); }
  const queue_counts& queue_counters(std::uint32_t number) const { return m_queues.workers.at(number)->counts; }
  std::uint64_t queue_length() const noexcept { return m_queues.tasks(); }
  // Counts and times of one worker until now, including its present state (counters.hpp).
  raw_counts raw(std::uint32_t number) const noexcept;
  // Tasks that were created and have not ended. Exact if it is 0.
  std::uint64_t unfinished() const noexcept;
  // Tasks that run, and those that wait in a queue for a worker; not those that are suspended. Without a lock: a task that
  // moves meanwhile may be missed or counted twice.
  std::uint64_t running_and_eligible() const noexcept;
  // Tasks that have ended.
  std::uint64_t finished() const noexcept;
  std::uint64_t created_outside() const noexcept { return m_created_outside.load(std::memory_order_relaxed); }
  // Identifies its workers in the run's records (recording::attach); 0: not recorded.
  std::uint32_t recorded_as() const noexcept { return m_recorded; }
  // CPUs that this process may use, as a whole number: affinity and cgroup quota.
  static std::uint32_t available_cpus() noexcept;
  // Nanoseconds per tick of the counters' clock.
  static double ns_per_tick() noexcept;

 private:
  friend class worker;
  friend class worker_loop;
  struct table;  // the functions that are compiled once for each policy
  template <class which>
  static const table& table_of() noexcept;
  static const table& table_of(tasks::policy scheduling) noexcept;

  void start();
  void stop() noexcept;
  void work(worker& member) noexcept;
  stack* make_stack() noexcept;
  void keep_few_unused(worker& this_worker) noexcept;
  bool has_ended() const noexcept { return unfinished() == 0; }
  void tell_if_stuck() noexcept;
  // target: as the policy returns it.
  void wake(std::uint32_t target) noexcept;
  void wake_all() noexcept;

  runtime_options m_options;
  const std::vector<std::uint32_t> m_cpus;  // where each worker is to stay; empty: anywhere
  tasks::policy m_policy;
  bool m_loops_adapt;
  grain_source* m_grains = nullptr;
  const table* m_table = nullptr;
  queues m_queues;
  std::shared_ptr<void> m_policy_object;
  std::vector<std::unique_ptr<worker>> m_workers;
  event_count m_events;         // workers that find nothing; each has its own where the policy names who is to be woken
  event_count m_capped_events;  // workers above the cap
  event_count m_nap_events;     // workers that leave others alone for a while, because what they steal is too short
  std::atomic<background_work*> m_background_work{nullptr};
  std::atomic<bool> m_is_ending{false};
  std::atomic<std::uint64_t> m_created_outside{0};
  std::atomic<std::uint32_t> m_visitors{0};           // threads that are no workers of this runtime, in place()
  std::atomic<std::uint64_t> m_reported_progress{0};  // of no less progress has a deadlock been told
  std::uint32_t m_looks;
  base::ticks m_longest_gap;   // between activations that follow each other
  base::ticks m_least_stolen;  // what a steal has to bring in to be worth what it costs the victim
  int m_process;
  std::uint32_t m_recorded;
  struct parts;  // threads, memory of stacks
  std::unique_ptr<parts> m_parts;
};

template <class function>
auto runtime::run(function&& f) -> std::invoke_result_t<function&> {
  if (worker* const this_worker = worker::current(); this_worker != nullptr && &this_worker->owner() == this) return f();
  using value = std::invoke_result_t<function&>;
  struct job : task {
    job(function& called) : call(called) {
      run = [](task& self, place) noexcept {
        auto& derived = static_cast<job&>(self);
        try {
          if constexpr (std::is_void_v<value>)
            derived.call();
          else
            derived.result.emplace(derived.call());
        } catch (...) {
          derived.error = std::current_exception();
        }
        derived.ended.complete();
      };
    }
    function& call;
    std::exception_ptr error;
    std::optional<std::conditional_t<std::is_void_v<value>, bool, value>> result;
    completion ended;
  } submission(f);
  detail::set_up(submission, detail::describe<std::remove_reference_t<function>>({}, f));
  submit(submission);
  submission.ended.wait(wait_reason::run);
  if (submission.error) std::rethrow_exception(submission.error);
  if constexpr (!std::is_void_v<value>) return std::move(*submission.result);
}

}  // namespace trimtab::tasks
