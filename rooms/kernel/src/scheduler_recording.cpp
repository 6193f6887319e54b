#include "scheduler_recording.hpp"

#include <algorithm>
#include <utility>

namespace trimtab::kernel {

scheduler_recording::scheduler_recording(const record_decoder& decoder, std::vector<std::uint16_t> cpus,
                                         std::uint64_t begin_ns, process_number watched)
    : m_decoder(decoder),
      m_cpus(std::move(cpus)),
      m_begin_ns(begin_ns),
      m_counted_ns(begin_ns),
      m_order(m_cpus.size()),
      m_directory(watched),
      m_account(begin_ns) {}

void scheduler_recording::note_name(std::size_t source, thread_number system_number, std::string_view name,
                                    std::uint64_t time_ns) {
  if (system_number == 0) return;
  const thread_name found = name_from(name);
  const auto [known, is_new] = m_last_names.try_emplace(system_number, found);
  if (!is_new && known->second == found) return;
  known->second = found;
  const auto [number, is_new_name] = m_name_numbers.try_emplace(found, static_cast<std::uint32_t>(m_names.size()));
  if (is_new_name) m_names.push_back(found);
  m_order.add(source, {.time_ns = time_ns,
                       .thread = system_number,
                       .other = number->second,
                       .cpu = m_cpus[source],
                       .kind = event_kind::named});
}

void scheduler_recording::add(std::size_t source, std::span<const std::byte> record) {
  const auto happened = m_decoder.decode(record, m_cpus[source]);
  if (!happened) return;
  if (happened->kind == event_kind::switched) {
    note_name(source, happened->thread, m_decoder.last_names().thread, happened->time_ns);
    note_name(source, happened->other, m_decoder.last_names().other, happened->time_ns);
  } else if (happened->kind == event_kind::forked) {
    m_last_names.erase(happened->thread);  // the number may be that of an earlier thread
  }
  m_order.add(source, *happened);
  ++m_event_count;
}

void scheduler_recording::count(scheduler_event happened) {
  if (happened.kind == event_kind::named)
    return m_directory.rename(happened.thread, m_names[happened.other], happened.time_ns);
  m_directory.enter(happened);
  m_account.add(happened);
  m_events.append(happened);
}

void scheduler_recording::count_until(std::uint64_t time_ns) {
  m_order.take_until(time_ns, [this](const scheduler_event& happened) { count(happened); });
  m_counted_ns = std::max(m_counted_ns, time_ns);
}

void scheduler_recording::end(std::uint64_t time_ns) {
  count_until(~std::uint64_t{0} - 1);
  m_counted_ns = std::max(m_account.now_ns(), time_ns);
  m_account.end(m_counted_ns);
}

}  // namespace trimtab::kernel
