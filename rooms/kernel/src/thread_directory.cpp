#include "trimtab/kernel/thread_directory.hpp"

#include <algorithm>

namespace trimtab::kernel {

namespace {
// What the kernel says of a thread that is not in the recorder's namespace of processes.
constexpr std::uint32_t not_here = 0xffffffffu;
}  // namespace

thread_name name_from(std::string_view text) noexcept {
  thread_name name{};
  std::copy_n(text.begin(), std::min(text.size(), name.size() - 1), name.begin());
  return name;
}

thread_number thread_directory::add(thread_number system_number, std::uint64_t now_ns) {
  m_threads.push_back({.system_number = system_number, .begin_ns = now_ns});
  const auto number = static_cast<thread_number>(m_threads.size());
  m_numbers[system_number] = number;
  return number;
}

thread_number thread_directory::number_of(thread_number system_number, std::uint64_t now_ns) {
  if (system_number == 0) return 0;
  const auto found = m_numbers.find(system_number);
  return found != m_numbers.end() ? found->second : add(system_number, now_ns);
}

void thread_directory::note_running(thread_number number, const scheduler_event& happened) {
  if (number == 0 || happened.own_number == 0 || happened.own_number == not_here) return;
  m_threads[number - 1].own_number = happened.own_number;
  if (happened.process != not_here) m_threads[number - 1].process = happened.process;
}

void thread_directory::rename(thread_number system_number, const thread_name& name, std::uint64_t now_ns) {
  if (const thread_number number = number_of(system_number, now_ns); number != 0) m_threads[number - 1].name = name;
}

void thread_directory::enter(scheduler_event& happened) {
  if (happened.kind == event_kind::lost) return;
  if (happened.kind == event_kind::forked) {
    const thread_number parent = number_of(happened.other, happened.time_ns);
    note_running(parent, happened);
    const thread_number child = add(happened.thread, happened.time_ns);
    known_thread& made = m_threads[child - 1];
    made.parent = parent;
    if (parent != 0) {
      const known_thread& maker = m_threads[parent - 1];
      made.name = maker.name;
      made.is_watched = maker.is_watched || (m_watched != 0 && maker.process == m_watched);
    }
    happened.thread = child;
    happened.other = parent;
    return;
  }
  happened.thread = number_of(happened.thread, happened.time_ns);
  // Where the kernel tells how long a thread ran, another one may be running.
  if (happened.kind == event_kind::switched || happened.kind == event_kind::woken)
    happened.other = number_of(happened.other, happened.time_ns);
  if (happened.kind == event_kind::switched) note_running(happened.thread, happened);
  if (happened.kind == event_kind::woken) note_running(happened.other, happened);
}

std::vector<thread_name> thread_directory::names_of_processes() const {
  std::unordered_map<process_number, thread_name> names;
  std::vector<thread_name> result(m_threads.size());
  const auto note_first_thread = [&](const known_thread& one) {
    if (one.process != 0 && one.own_number == one.process) names[one.process] = one.name;
  };
  const auto name_of = [&](process_number process) {
    const auto found = names.find(process);
    return found != names.end() && process != 0 ? found->second : thread_name{};
  };
  // A number of a process may be used again: the last one that was made before counts.
  for (std::size_t at = 0; at < m_threads.size(); ++at) {
    note_first_thread(m_threads[at]);
    result[at] = name_of(m_threads[at].process);
  }
  // Threads that were there before the recording may have been seen before the first of their process.
  for (std::size_t at = 0; at < m_threads.size(); ++at)
    if (result[at][0] == 0) result[at] = name_of(m_threads[at].process);
  return result;
}

}  // namespace trimtab::kernel
