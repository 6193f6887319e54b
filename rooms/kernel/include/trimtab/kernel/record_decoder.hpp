// From the bytes that perf_event_open gives to scheduler events: man 2 perf_event_open, "MMAP layout".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trimtab/kernel/event_format.hpp"
#include "trimtab/kernel/scheduler_event.hpp"

namespace trimtab::kernel {

// Whatever was not understood, because the kernel's records are other ones than it says.
struct decoder_faults {
  std::uint64_t truncated = 0;  // records that are shorter than their content
  std::uint64_t unknown = 0;    // of tracepoints that nobody asked for
};

class record_decoder {
 public:
  // As PERF_SAMPLE_TID | TIME | CPU | PERIOD | RAW, in this order in each sample. The period is not looked at; but without
  // it the kernel would make a sample of each nanosecond that sched_stat_runtime tells of.
  static constexpr std::uint64_t sample_type();

  // The texts of events/sched/NAME/format. Throws format_error, also where a field is missing. Some kernels do not have the
  // last one: it may be empty.
  struct formats {
    std::string_view sched_switch, sched_wakeup, sched_wakeup_new, sched_migrate_task, sched_process_fork;
    std::string_view sched_stat_runtime = {};
  };
  explicit record_decoder(const formats& texts);
  // Of all these tracepoints, as perf_event_open wants them.
  std::vector<std::uint64_t> ids() const;

  // One record with its header. nullopt: it is no event of the scheduler, or damaged. cpu: whose ring it is from, for
  // records that do not say it.
  std::optional<scheduler_event> decode(std::span<const std::byte> record, std::uint16_t cpu) noexcept;
  // Of the last decoded event, if it was a switch: what the kernel calls who leaves and who gets the CPU. Valid as long as
  // the record.
  struct names {
    std::string_view thread, other;
  };
  const names& last_names() const noexcept { return m_names; }
  const decoder_faults& faults() const noexcept { return m_faults; }

 private:
  struct sample {
    process_number process = 0;
    thread_number thread = 0;
    std::uint64_t time_ns = 0;
    std::uint16_t cpu = 0;
    std::span<const std::byte> raw;
  };
  struct switch_layout {
    std::uint64_t id;
    field_place prev_pid, prev_state, next_pid, prev_comm, next_comm;
  };
  struct wakeup_layout {
    std::uint64_t id;
    field_place flags, common_pid, pid, target_cpu;
  };
  struct migrate_layout {
    std::uint64_t id;
    field_place pid, dest_cpu;
  };
  struct fork_layout {
    std::uint64_t id;
    field_place parent_pid, child_pid;
  };
  struct runtime_layout {
    std::uint64_t id;
    field_place pid, runtime;
  };
  static wakeup_layout wakeup_of(std::string_view text);
  std::optional<sample> read_sample(std::span<const std::byte> body) noexcept;
  std::optional<scheduler_event> of_switch(const sample& of) noexcept;
  std::optional<scheduler_event> of_wakeup(const sample& of, const wakeup_layout& layout) noexcept;
  std::optional<scheduler_event> of_migration(const sample& of) noexcept;
  std::optional<scheduler_event> of_fork(const sample& of) noexcept;
  std::optional<scheduler_event> of_runtime(const sample& of, const runtime_layout& layout) noexcept;
  static scheduler_event event_of(const sample& of, event_kind kind) noexcept;
  template <class... places>
  bool are_within(const sample& of, const places&... which) noexcept;

  field_place m_type;  // of all tracepoints: which one
  switch_layout m_switch;
  wakeup_layout m_wakeup, m_wakeup_new;
  migrate_layout m_migrate;
  fork_layout m_fork;
  std::optional<runtime_layout> m_runtime;
  names m_names;
  decoder_faults m_faults;
};

constexpr std::uint64_t record_decoder::sample_type() {
  constexpr std::uint64_t tid = 1u << 1, time = 1u << 2, cpu = 1u << 7, period = 1u << 8,
                          raw = 1u << 10;  // enum perf_event_sample_format
  return tid | time | cpu | period | raw;
}

}  // namespace trimtab::kernel
