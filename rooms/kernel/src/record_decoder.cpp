#include "trimtab/kernel/record_decoder.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace trimtab::kernel {

static_assert(record_decoder::sample_type() ==
              (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW));

namespace {

// Of common_flags: it happened in an interrupt, so whoever ran then did not cause it.
constexpr std::int64_t interrupt_flags = 0x08 | 0x10;
// Of prev_state: the thread sleeps, is stopped, or has ended. Above these bits is only that it was preempted.
constexpr std::int64_t states_in_which_it_cannot_run = 0xff;

template <class value>
value value_at(std::span<const std::byte> bytes, std::size_t offset) noexcept {
  value result;
  std::memcpy(&result, bytes.data() + offset, sizeof result);
  return result;
}

thread_number thread_of(std::int64_t number) noexcept { return static_cast<thread_number>(number); }
std::string_view text_at(std::span<const std::byte> record, field_place place) noexcept {
  const char* const begin = reinterpret_cast<const char*>(record.data() + place.offset);
  return {begin, strnlen(begin, place.size)};
}
std::uint16_t cpu_of(std::int64_t number) noexcept { return static_cast<std::uint16_t>(number); }

}  // namespace

record_decoder::wakeup_layout record_decoder::wakeup_of(std::string_view text) {
  const event_format format = event_format::parse(text);
  return {format.id(), format.integer("common_flags"), format.integer("common_pid"), format.integer("pid"),
          format.integer("target_cpu")};
}

record_decoder::record_decoder(const formats& texts)
    : m_switch{},
      m_wakeup(wakeup_of(texts.sched_wakeup)),
      m_wakeup_new(wakeup_of(texts.sched_wakeup_new)),
      m_migrate{},
      m_fork{} {
  const event_format of_switches = event_format::parse(texts.sched_switch);
  m_type = of_switches.integer("common_type");
  m_switch = {of_switches.id(),
              of_switches.integer("prev_pid"),
              of_switches.integer("prev_state"),
              of_switches.integer("next_pid"),
              of_switches.place_of("prev_comm"),
              of_switches.place_of("next_comm")};
  const event_format of_migrations = event_format::parse(texts.sched_migrate_task);
  m_migrate = {of_migrations.id(), of_migrations.integer("pid"), of_migrations.integer("dest_cpu")};
  const event_format of_forks = event_format::parse(texts.sched_process_fork);
  m_fork = {of_forks.id(), of_forks.integer("parent_pid"), of_forks.integer("child_pid")};
  if (texts.sched_stat_runtime.empty()) return;
  const event_format of_runtimes = event_format::parse(texts.sched_stat_runtime);
  m_runtime = {of_runtimes.id(), of_runtimes.integer("pid"), of_runtimes.integer("runtime")};
}

std::vector<std::uint64_t> record_decoder::ids() const {
  std::vector<std::uint64_t> all{m_switch.id, m_wakeup.id, m_wakeup_new.id, m_migrate.id, m_fork.id};
  if (m_runtime) all.push_back(m_runtime->id);
  return all;
}

scheduler_event record_decoder::event_of(const sample& of, event_kind kind) noexcept {
  return {.time_ns = of.time_ns, .process = of.process, .own_number = of.thread, .cpu = of.cpu, .kind = kind};
}

template <class... places>
bool record_decoder::are_within(const sample& of, const places&... which) noexcept {
  if ((which.is_within(of.raw.size()) && ...)) return true;
  ++m_faults.truncated;
  return false;
}

std::optional<record_decoder::sample> record_decoder::read_sample(std::span<const std::byte> body) noexcept {
  // u32 pid, tid; u64 time; u32 cpu, reserved; u64 period; u32 size; the tracepoint's record
  constexpr std::size_t tid_at = 4, time_at = 8, cpu_at = 16, size_at = 32, raw_at = 36;
  if (body.size() < raw_at) {
    ++m_faults.truncated;
    return std::nullopt;
  }
  const auto size = value_at<std::uint32_t>(body, size_at);
  if (size > body.size() - raw_at) {
    ++m_faults.truncated;
    return std::nullopt;
  }
  return sample{value_at<std::uint32_t>(body, 0), value_at<std::uint32_t>(body, tid_at),
                value_at<std::uint64_t>(body, time_at), static_cast<std::uint16_t>(value_at<std::uint32_t>(body, cpu_at)),
                body.subspan(raw_at, size)};
}

std::optional<scheduler_event> record_decoder::of_switch(const sample& of) noexcept {
  if (!are_within(of, m_switch.prev_pid, m_switch.prev_state, m_switch.next_pid, m_switch.prev_comm, m_switch.next_comm))
    return std::nullopt;
  scheduler_event event = event_of(of, event_kind::switched);
  m_names = {text_at(of.raw, m_switch.prev_comm), text_at(of.raw, m_switch.next_comm)};
  event.thread = thread_of(m_switch.prev_pid.read(of.raw));
  event.other = thread_of(m_switch.next_pid.read(of.raw));
  event.can_run = (m_switch.prev_state.read(of.raw) & states_in_which_it_cannot_run) == 0;
  return event;
}

std::optional<scheduler_event> record_decoder::of_wakeup(const sample& of, const wakeup_layout& layout) noexcept {
  if (!are_within(of, layout.flags, layout.common_pid, layout.pid, layout.target_cpu)) return std::nullopt;
  scheduler_event event = event_of(of, event_kind::woken);
  event.thread = thread_of(layout.pid.read(of.raw));
  event.other = (layout.flags.read(of.raw) & interrupt_flags) == 0 ? thread_of(layout.common_pid.read(of.raw)) : 0;
  event.target_cpu = cpu_of(layout.target_cpu.read(of.raw));
  return event;
}

std::optional<scheduler_event> record_decoder::of_migration(const sample& of) noexcept {
  if (!are_within(of, m_migrate.pid, m_migrate.dest_cpu)) return std::nullopt;
  scheduler_event event = event_of(of, event_kind::moved);
  event.thread = thread_of(m_migrate.pid.read(of.raw));
  event.target_cpu = cpu_of(m_migrate.dest_cpu.read(of.raw));
  return event;
}

std::optional<scheduler_event> record_decoder::of_fork(const sample& of) noexcept {
  if (!are_within(of, m_fork.parent_pid, m_fork.child_pid)) return std::nullopt;
  scheduler_event event = event_of(of, event_kind::forked);
  event.thread = thread_of(m_fork.child_pid.read(of.raw));
  event.other = thread_of(m_fork.parent_pid.read(of.raw));
  return event;
}

std::optional<scheduler_event> record_decoder::of_runtime(const sample& of, const runtime_layout& layout) noexcept {
  if (!are_within(of, layout.pid, layout.runtime)) return std::nullopt;
  scheduler_event event = event_of(of, event_kind::ran);
  event.thread = thread_of(layout.pid.read(of.raw));
  constexpr std::uint64_t longest_ns = std::numeric_limits<std::uint32_t>::max();
  event.other = static_cast<std::uint32_t>(std::min(static_cast<std::uint64_t>(layout.runtime.read(of.raw)), longest_ns));
  return event;
}

std::optional<scheduler_event> record_decoder::decode(std::span<const std::byte> record, std::uint16_t cpu) noexcept {
  m_names = {};
  if (record.size() < sizeof(perf_event_header)) {
    ++m_faults.truncated;
    return std::nullopt;
  }
  const auto header = value_at<perf_event_header>(record, 0);
  const std::span<const std::byte> body = record.subspan(sizeof header);
  if (header.type == PERF_RECORD_LOST) {
    // u64 id, lost; then, because the events ask for it (sample_id_all), pid and tid, time, cpu.
    constexpr std::size_t lost_at = 8, time_at = 24;
    if (body.size() < time_at + 8) {
      ++m_faults.truncated;
      return std::nullopt;
    }
    return scheduler_event{.time_ns = value_at<std::uint64_t>(body, time_at),
                           .thread = static_cast<std::uint32_t>(value_at<std::uint64_t>(body, lost_at)),
                           .cpu = cpu,
                           .kind = event_kind::lost};
  }
  if (header.type != PERF_RECORD_SAMPLE) return std::nullopt;
  const std::optional<sample> found = read_sample(body);
  if (!found || !are_within(*found, m_type)) return std::nullopt;
  const auto type = static_cast<std::uint64_t>(m_type.read(found->raw));
  if (type == m_switch.id) return of_switch(*found);
  if (m_runtime && type == m_runtime->id) return of_runtime(*found, *m_runtime);
  if (type == m_wakeup.id) return of_wakeup(*found, m_wakeup);
  if (type == m_wakeup_new.id) return of_wakeup(*found, m_wakeup_new);
  if (type == m_migrate.id) return of_migration(*found);
  if (type == m_fork.id) return of_fork(*found);
  ++m_faults.unknown;
  return std::nullopt;
}

}  // namespace trimtab::kernel
