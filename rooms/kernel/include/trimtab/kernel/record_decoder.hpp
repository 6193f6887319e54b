// From the bytes that perf_event_open gives to scheduler events: man 2 perf_event_open, "MMAP layout".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

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
  // As PERF_SAMPLE_TID | TIME | CPU | RAW, in this order in each sample.
  static constexpr std::uint64_t sample_type();

  // The texts of events/sched/NAME/format. Throws format_error, also where a field is missing.
  struct formats {
    std::string_view sched_switch, sched_wakeup, sched_wakeup_new, sched_migrate_task;
  };
  explicit record_decoder(const formats& texts);
  std::uint64_t switch_id() const noexcept { return m_switch.id; }
  std::uint64_t wakeup_id() const noexcept { return m_wakeup.id; }
  std::uint64_t wakeup_new_id() const noexcept { return m_wakeup_new.id; }
  std::uint64_t migrate_id() const noexcept { return m_migrate.id; }

  // One record with its header. nullopt: it is no event of the scheduler, or damaged. cpu: whose ring it is from, for
  // records that do not say it.
  std::optional<scheduler_event> decode(std::span<const std::byte> record, std::uint16_t cpu) noexcept;
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
    field_place prev_pid, prev_state, next_pid;
  };
  struct wakeup_layout {
    std::uint64_t id;
    field_place flags, pid, target_cpu;
  };
  struct migrate_layout {
    std::uint64_t id;
    field_place pid, dest_cpu;
  };
  static wakeup_layout wakeup_of(std::string_view text);
  std::optional<sample> read_sample(std::span<const std::byte> body) noexcept;
  std::optional<scheduler_event> of_switch(const sample& of) noexcept;
  std::optional<scheduler_event> of_wakeup(const sample& of, const wakeup_layout& layout) noexcept;
  std::optional<scheduler_event> of_migration(const sample& of) noexcept;
  template <class... places>
  bool are_within(const sample& of, const places&... which) noexcept;

  field_place m_type;  // of all tracepoints: which one
  switch_layout m_switch;
  wakeup_layout m_wakeup, m_wakeup_new;
  migrate_layout m_migrate;
  decoder_faults m_faults;
};

constexpr std::uint64_t record_decoder::sample_type() {
  constexpr std::uint64_t tid = 1u << 1, time = 1u << 2, cpu = 1u << 7, raw = 1u << 10;  // enum perf_event_sample_format
  return tid | time | cpu | raw;
}

}  // namespace trimtab::kernel
