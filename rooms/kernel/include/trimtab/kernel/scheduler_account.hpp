// Where the CPUs' time went, and who kept whom from running: from the scheduler's events, in the order of time.
//
// A thread that could run and does not waits for a CPU. It does so after a wake-up (wake-up latency), or because it was
// taken off its CPU while it could go on (preemption). Each nanosecond of that is charged to the thread that runs on its CPU
// meanwhile, to nobody if the CPU is idle, or is unknown if events were lost. So the charges add up to the time waited.
//
// Pure: no system. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trimtab/kernel/delay_histogram.hpp"
#include "trimtab/kernel/scheduler_event.hpp"

namespace trimtab::kernel {

struct charge {
  std::uint64_t ns = 0;
  std::uint64_t count = 0;  // waits in which that thread has run
};

struct thread_account {
  thread_number thread = 0;
  std::uint64_t seen_running_ns = 0;  // by switches; some kernels do not record all of them
  std::uint64_t reported_ns = 0;      // by the kernel's own account, as far as it has told of it
  std::uint64_t unreported_ns = 0;    // of `seen_running_ns`: since it told last
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;
  std::uint64_t moves = 0;                 // to other CPUs
  delay_histogram woken_waits;             // from the wake-up until it runs
  delay_histogram preempted_waits;         // from when it was taken off its CPU until it runs again
  std::uint64_t idle_though_ready_ns = 0;  // of these waits: its CPU was idle
  std::uint64_t unknown_ns = 0;            // likewise: nobody knows what its CPU did
  // Likewise: who ran on its CPU, while it waited after a wake-up and after a preemption.
  std::map<thread_number, charge> ran_after_wake_up, ran_after_preemption;
  std::map<thread_number, charge> late_wakes;  // by who woke it: how long it waited after these wake-ups
};

class scheduler_account {
 public:
  // How long the thread has run: as the kernel says, where it says so.
  std::uint64_t running_ns(const thread_account& thread) const noexcept;
  // Before `begin_ns` nothing is known.
  explicit scheduler_account(std::uint64_t begin_ns) noexcept : m_begin_ns(begin_ns) {}
  // Events of all CPUs, in the order of time. One that is earlier than the last counts as at the same time.
  void add(const scheduler_event& happened);
  // The recording ends: what runs and waits is counted up to here.
  void end(std::uint64_t end_ns);

  const std::unordered_map<thread_number, thread_account>& threads() const noexcept { return m_accounts; }
  // The time of the last event.
  std::uint64_t now_ns() const noexcept { return m_now_ns; }
  // Of all CPUs together, where events were seen. Where the kernel says how long threads ran, that is what counts.
  std::uint64_t busy_ns() const noexcept;
  std::uint64_t idle_ns() const noexcept { return m_busy_ns + m_idle_ns - busy_ns(); }
  // Up to here everything is counted: for a look while events still come. Waits that go on are charged, but have no length
  // yet.
  void settle_all(std::uint64_t now_ns);
  std::uint64_t lost_events() const noexcept { return m_lost; }
  // Switches that were not recorded, and are taken to have been when a thread could run there.
  std::uint64_t inferred_switches() const noexcept { return m_inferred; }

 private:
  static constexpr thread_number unknown_thread = 0xffffffffu;
  enum class waits : std::uint8_t { not_at_all, after_wake_up, after_preemption };
  struct waiting {
    thread_number thread = 0;
    waits how = waits::not_at_all;
    std::uint64_t since_ns = 0;    // all of this wait
    std::uint64_t charged_ns = 0;  // up to when it was charged
    bool is_first_charge = true;   // to who runs now
  };
  struct cpu_state {
    // Its first switch says who has run since the beginning. Until then nothing is counted or charged.
    bool is_seen = false;
    thread_number running = unknown_thread;
    std::uint64_t since_ns = 0;
    std::vector<waiting> queue;
  };
  struct thread_state {
    waits how = waits::not_at_all;
    std::uint16_t cpu = 0;  // in whose queue it waits
    bool is_running = false;
    thread_number woken_by = 0;
  };

  cpu_state& cpu(std::uint16_t number);
  // A thread leaves a CPU that was idle. Where it waited for this CPU or another one, the switch to it was not recorded: it
  // has run since it could, as far as nothing else has been counted since then.
  void infer_switch(const scheduler_event& happened);
  thread_account& account(thread_number thread);
  void on_switch(const scheduler_event& happened);
  void on_wake_up(const scheduler_event& happened);
  void on_move(const scheduler_event& happened);
  void on_lost(const scheduler_event& happened);
  void on_report(const scheduler_event& happened);
  // What the CPU has done until now is counted, and charged to those that wait for it.
  void settle(cpu_state& which, std::uint64_t now_ns);
  void charge_to(thread_number running, waiting& who, std::uint64_t now_ns);
  void begin_wait(thread_number thread, waits how, std::uint16_t on, std::uint64_t now_ns);
  // Returns the entry, which is in no queue then.
  waiting take_from_queue(thread_number thread, std::uint64_t now_ns);
  void end_wait(thread_number thread, std::uint64_t now_ns, bool has_run);

  const std::uint64_t m_begin_ns;
  std::uint64_t m_now_ns = 0;
  std::vector<cpu_state> m_cpus;
  std::unordered_map<thread_number, thread_state> m_states;
  std::unordered_map<thread_number, thread_account> m_accounts;
  std::uint64_t m_busy_ns = 0, m_idle_ns = 0, m_lost = 0, m_inferred = 0;
};

}  // namespace trimtab::kernel
