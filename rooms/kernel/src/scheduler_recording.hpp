// From the records of all CPUs to an account, and to files of the run directory (docs/reference/run-directory.md, "The
// operating system's scheduler").
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "events_file.hpp"
#include "trimtab/kernel/event_order.hpp"
#include "trimtab/kernel/record_decoder.hpp"
#include "trimtab/kernel/scheduler_account.hpp"
#include "trimtab/kernel/thread_directory.hpp"

namespace trimtab::kernel {

class scheduler_recording {
 public:
  // cpus: whose records there are; begin_ns: before it nothing is known; watched: process whose descendants are the program.
  scheduler_recording(const record_decoder& decoder, std::vector<std::uint16_t> cpus, std::uint64_t begin_ns,
                      process_number watched);
  // Keeps each event, too, up to so many bytes. 0, or what errno calls the mistake.
  int keep_events(const std::string& path, std::uint64_t most_bytes) { return m_events.create(path, most_bytes); }

  // A record of the CPU at that place of `cpus`, in its order of time.
  void add(std::size_t source, std::span<const std::byte> record);
  // All records up to this time have been added.
  void count_until(std::uint64_t time_ns);
  // The recording ends.
  void end(std::uint64_t time_ns);

  const thread_directory& directory() const noexcept { return m_directory; }
  const scheduler_account& account() const noexcept { return m_account; }
  // What runs and waits is counted up to now, for a look in between.
  void settle() { m_account.settle_all(m_counted_ns); }
  std::uint64_t begin_ns() const noexcept { return m_begin_ns; }
  std::uint64_t counted_ns() const noexcept { return m_counted_ns; }
  std::uint64_t events() const noexcept { return m_event_count; }
  std::uint64_t damaged() const noexcept { return m_decoder.faults().truncated + m_decoder.faults().unknown; }
  std::size_t cpus() const noexcept { return m_cpus.size(); }

 private:
  void note_name(std::size_t source, thread_number system_number, std::string_view name, std::uint64_t time_ns);
  void count(scheduler_event happened);

  record_decoder m_decoder;
  const std::vector<std::uint16_t> m_cpus;
  const std::uint64_t m_begin_ns;
  std::uint64_t m_counted_ns, m_event_count = 0;
  event_order m_order;
  // By the kernel's number of a thread: its name as the records have it. An event says only that it has changed.
  std::unordered_map<thread_number, thread_name> m_last_names;
  std::map<thread_name, std::uint32_t> m_name_numbers;
  std::vector<thread_name> m_names;  // by number
  thread_directory m_directory;
  scheduler_account m_account;
  events_file m_events;
};

}  // namespace trimtab::kernel
