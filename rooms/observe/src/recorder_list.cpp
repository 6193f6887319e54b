// The process's page in the run's list of processes: where a short process has all that is recorded of it. When it needs
// more, a folder with files of its own takes over what the page says.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "process_identity.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

namespace {

constexpr std::size_t names_begin = sizeof(file_header) + sizeof(process_header);
static_assert(names_begin % 8 == 0 && names_begin < base::listed_page::bytes && base::listed_page::bytes == header_bytes);

}  // namespace

void recorder::begin_in_list() noexcept {
  std::memset(m_page, 0, sizeof m_page);
  m_directory[0] = '\0';
  write_header(m_page, file_kind::process, 0, header_bytes);
  reinterpret_cast<file_header*>(m_page)->capacity = sizeof m_page - names_begin;
  begin_process_header(m_page);
  m_is_listed.store(true, std::memory_order_release);
}

int recorder::enter_list() noexcept {
  // A name has been too long for the page.
  if (!m_is_listed.load(std::memory_order_relaxed)) return 0;
  publish(m_page);
  char path[sizeof m_run_directory + sizeof(file_host_name) + 16];
  std::snprintf(path, sizeof path, "%s/%s.processes", m_run_directory, file_host_name().text);
  return m_listed_page.add(path, m_page) == 0 ? 0 : leave_list_under_lock();
}

int recorder::leave_list() noexcept {
  if (!m_is_listed.load(std::memory_order_acquire)) return 0;
  const int saved = errno;
  const std::lock_guard guard(m_lock);
  const int error = leave_list_under_lock();
  errno = saved;
  return error;
}

// The folder is complete before the page is withdrawn: a process that dies in between is in both, and readers take the
// folder.
int recorder::leave_list_under_lock() noexcept {
  if (!m_is_listed.load(std::memory_order_relaxed)) return 0;
  if (m_folder_error != 0) return m_folder_error;
  read_limits_under_lock();
  m_folder_error = make_folder();
  if (m_folder_error != 0) return m_folder_error;
  const auto& head = *reinterpret_cast<const file_header*>(m_page);
  auto& names_head = *reinterpret_cast<file_header*>(m_names_file.data());
  std::memcpy(m_names_file.data() + header_bytes, m_page + names_begin, head.written);
  names_head.written = head.written;
  names_head.dropped = head.dropped;
  publish(m_names_file.data());
  // Also what another thread writes that ends the process just now (close), but for the last instant.
  std::memcpy(m_process_file.data() + sizeof(file_header), m_process, sizeof *m_process);
  publish(m_process_file.data());
  m_folder_error = m_process_file.move_to(m_page);
  if (m_folder_error != 0) {
    remove_tables();
    return m_folder_error;
  }
  m_is_listed.store(false, std::memory_order_release);
  m_listed_page.withdraw();
  return 0;
}

// False: the process is no longer in the list.
bool recorder::sample_in_list(std::uint32_t counter, std::uint32_t lane, double value, base::ticks at) noexcept {
  if (!is_on()) return true;
  const std::lock_guard guard(m_lock);
  if (!m_is_listed.load(std::memory_order_relaxed)) return false;
  name_sample fixed{};
  fixed.head.tag = name_tag::sample;
  fixed.ticks = at;
  fixed.counter = counter;
  fixed.lane = lane;
  fixed.value = value;
  append_name(&fixed.head, sizeof fixed, nullptr, 0);
  return true;
}

// Under m_lock. nullptr: there is no room.
std::byte* recorder::place_of_name(std::size_t bytes) noexcept {
  if (m_is_listed.load(std::memory_order_relaxed)) {
    const auto& head = *reinterpret_cast<const file_header*>(m_page);
    if (names_begin + head.written + bytes <= sizeof m_page) return m_page + names_begin + head.written;
    if (leave_list_under_lock() != 0) return nullptr;
  }
  auto& head = *reinterpret_cast<file_header*>(m_names_file.data());
  std::byte* const place = m_names_file.place(header_bytes + head.written, bytes);
  if (place != nullptr) head.capacity = m_names_file.size() - header_bytes;
  return place;
}

}  // namespace trimtab::observe
