#include "trimtab/kernel/record_decoder.hpp"

#include <linux/perf_event.h>

#include <cstring>

namespace trimtab::kernel {

static_assert(record_decoder::sample_type() == (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW));

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
std::uint16_t cpu_of(std::int64_t number) noexcept { return static_cast<std::uint16_t>(number); }

}  // namespace

record_decoder::wakeup_layout record_decoder::wakeup_of(std::string_view text) {
  const event_format format = event_format::parse(text);
  return {format.id(), format.integer("common_flags"), format.integer("pid"), format.integer("target_cpu")};
}

record_decoder::record_decoder(const formats& texts)
    : m_switch{}, m_wakeup(wakeup_of(texts.sched_wakeup)), m_wakeup_new(wakeup_of(texts.sched_wakeup_new)), m_migrate{} {
  const event_format of_switches = event_format::parse(texts.sched_switch);
  m_type = of_switches.integer("common_type");
  m_switch = {of_switches.id(), of_switches.integer("prev_pid"), of_switches.integer("prev_state"),
              of_switches.integer("next_pid")};
  const event_format of_migrations = event_format::parse(texts.sched_migrate_task);
  m_migrate = {of_migrations.id(), of_migrations.integer("pid"), of_migrations.integer("dest_cpu")};
}

template <class... places>
bool record_decoder::are_within(const sample& of, const places&... which) noexcept {
  if ((which.is_within(of.raw.size()) && ...)) return true;
  ++m_faults.truncated;
  return false;
}

std::optional<record_decoder::sample> record_decoder::read_sample(std::span<const std::byte> body) noexcept {
  // u32 pid, tid; u64 time; u32 cpu, reserved; u32 size; the tracepoint's record
  constexpr std::size_t tid_at = 4, time_at = 8, cpu_at = 16, size_at = 24, raw_at = 28;
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
  if (!are_within(of, m_switch.prev_pid, m_switch.prev_state, m_switch.next_pid)) return std::nullopt;
  scheduler_event event{.time_ns = of.time_ns, .process = of.process, .cpu = of.cpu, .kind = event_kind::switched};
  event.thread = thread_of(m_switch.prev_pid.read(of.raw));
  event.other = thread_of(m_switch.next_pid.read(of.raw));
  event.can_run = (m_switch.prev_state.read(of.raw) & states_in_which_it_cannot_run) == 0;
  return event;
}

std::optional<scheduler_event> record_decoder::of_wakeup(const sample& of, const wakeup_layout& layout) noexcept {
  if (!are_within(of, layout.flags, layout.pid, layout.target_cpu)) return std::nullopt;
  scheduler_event event{.time_ns = of.time_ns, .process = of.process, .cpu = of.cpu, .kind = event_kind::woken};
  event.thread = thread_of(layout.pid.read(of.raw));
  event.other = (layout.flags.read(of.raw) & interrupt_flags) == 0 ? of.thread : 0;
  event.target_cpu = cpu_of(layout.target_cpu.read(of.raw));
  return event;
}

std::optional<scheduler_event> record_decoder::of_migration(const sample& of) noexcept {
  if (!are_within(of, m_migrate.pid, m_migrate.dest_cpu)) return std::nullopt;
  scheduler_event event{.time_ns = of.time_ns, .process = of.process, .cpu = of.cpu, .kind = event_kind::moved};
  event.thread = thread_of(m_migrate.pid.read(of.raw));
  event.target_cpu = cpu_of(m_migrate.dest_cpu.read(of.raw));
  return event;
}

std::optional<scheduler_event> record_decoder::decode(std::span<const std::byte> record, std::uint16_t cpu) noexcept {
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
  if (type == m_wakeup.id) return of_wakeup(*found, m_wakeup);
  if (type == m_wakeup_new.id) return of_wakeup(*found, m_wakeup_new);
  if (type == m_migrate.id) return of_migration(*found);
  ++m_faults.unknown;
  return std::nullopt;
}

}  // namespace trimtab::kernel
