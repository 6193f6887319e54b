// A machine that exists only in memory: CPUs with a queue each, serial jobs that come and go, and programs of parallel
// regions with a barrier at each end, which adapt with a policy or do not. It advances by ticks and is seeded: no clock, no
// thread.
//
// The scheduler: each CPU runs the head of its queue for a slice and then puts it at the end. Who wakes goes to an idle CPU,
// or else back to its own: to the front when it has slept long (so a helper that was asleep seems to have a CPU, which is
// what makes programs that try one more believe that there is room), otherwise to the end. Idle CPUs take from long queues.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "trimtab/observe/cpu_registry.hpp"
#include "trimtab/steer/engine.hpp"
#include "trimtab/steer/random.hpp"

namespace trimtab::steer::testing {

inline constexpr double never = 1e18;

struct machine_options {
  std::uint32_t cpus = 4;
  double tick_s = 0.25e-3;
  double slice_s = 4e-3;  // of a CPU with a queue; each is drawn from half to one and a half of it
  double slept_long_s = 0.1;
  double window_s = 0.1;  // of figures; a snapshot each
  double look_s = 5e-3;   // at which a window may be told sooner (has_lost_enough)
  bool tells_sooner = true;
  bool has_registry = true;
  std::uint64_t seed = 1;
};

// Who waits spins on, gives its CPU to whoever else is in the queue (as the runtimes of the study must have done: with
// another job beside it, every region took a slice), or sleeps.
enum class at_barrier { spins, yields, sleeps };

// A serial job, or a program of regions: `grain_s` of CPU time a region, shared evenly by its members.
struct program_options {
  double work_s = never;  // CPU seconds until it is done
  double begins_s = 0, ends_s = never;
  bool is_serial = false;
  double grain_s = 1e-3;
  double join_s = 2e-6;
  double wake_s = 0;  // before a member other than the first begins
  at_barrier waits = at_barrier::spins;
  std::uint32_t threads = 4;
  double quota_cpus = 0;
  double eval_time_s = 0.5;                       // between timed barriers, where its policy needs them
  std::function<std::unique_ptr<policy>()> fits;  // empty: fixed
};

class machine {
 public:
  struct program {
    program_options options;
    double done_s = never;  // when its work was done
    double cpu_s = 0;
    double worked_s = 0;
    double thread_s = 0;  // threads x time since it began
    std::uint64_t regions = 0;
    std::vector<std::pair<double, double>> slow;  // regions over 2 ms that took twice what they should: begin, how long
    std::vector<decision> decisions;
    knob_value threads = 1;
    double mean_threads(double at_s) const { return thread_s / (std::min(at_s, done_s) - options.begins_s); }
  };

  explicit machine(machine_options options = {});
  ~machine();
  std::size_t add(program_options options);
  void run_until(double end_s);
  // Until every program with an end to its work is done, or that late.
  void run_to_end(double latest_s);
  const program& operator[](std::size_t number) const;
  double time_s() const { return m_time_s; }

 private:
  struct job;
  struct thread {
    job* of = nullptr;
    std::size_t cpu = 0;
    bool is_awake = false, is_on = false;
    double slice_s = 0, asleep_since_s = -never;
    double left_s = 0;      // of its part of the region
    bool is_there = false;  // at the region's end
    double delay_s = 0;     // runnable without a CPU, in the window
  };

  void tick();
  void wake(thread& woken);
  void sleep(thread& woken);
  void yield(thread& woken);
  void balance();
  double slice();
  void begin(job& process_job);
  void end(job& process_job);
  void begin_region(job& process_job);
  void advance(job& process_job);
  void look(job& process_job);
  void tell(job& process_job);
  std::vector<figure> figures_of(job& process_job);
  double share_of(job& process_job, double idle);

  machine_options m_options;
  random_source m_random;
  double m_time_s = 0, m_next_look_s = 0, m_idle_s = 0;
  std::vector<std::deque<thread*>> m_queues;
  std::vector<std::unique_ptr<job>> m_jobs;
};

}  // namespace trimtab::steer::testing
