#include "transport/process_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "trimtab/base/signals_held.hpp"

namespace trimtab::parcels {
namespace {

constexpr int period_without_descriptors_ms = 50;

int descriptor_of(std::int64_t process) {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0));
#else
  static_cast<void>(process);
  return -1;
#endif
}

bool is_readable(int descriptor) {
  pollfd entry{descriptor, POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

}  // namespace

std::uint64_t start_time_of(std::int64_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  // The program's name is in parentheses and may contain any characters. After it come the state and 18 numbers before the
  // start time (proc(5), fields 3 to 22).
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  char state = 'X';
  fields >> state;
  if (state == 'Z' || state == 'X') return 0;
  std::int64_t skipped = 0;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  std::uint64_t ticks = 0;
  fields >> ticks;
  return fields ? ticks : 0;
}

std::string process_watch::start(const std::vector<watched_process>& processes,
                                 std::function<void(locality_number)> on_end) {
  m_on_end = std::move(on_end);
  for (const watched_process& process : processes) m_watched.push_back({process, descriptor_of(process.process)});
  // Now a descriptor stays with its process, but the process may be a later one with the same number.
  report_ended();
  if (m_watched.empty()) return {};
  m_stop_event = eventfd(0, EFD_CLOEXEC);
  if (m_stop_event < 0) return std::string("no event descriptor to watch other processes: ") + std::strerror(errno);
  try {
    const base::signals_held no_signals;
    m_thread = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return std::string("no thread to watch other processes: ") + error.what();
  }
  return {};
}

process_watch::~process_watch() {
  if (m_thread.joinable()) {
    const std::uint64_t one = 1;
    while (write(m_stop_event, &one, sizeof one) < 0 && errno == EINTR) continue;
    m_thread.join();
  }
  for (const watched& process : m_watched)
    if (process.descriptor >= 0) close(process.descriptor);
  if (m_stop_event >= 0) close(m_stop_event);
}

void process_watch::run() noexcept {
  pthread_setname_np(pthread_self(), "parcels-watch");
  while (sleep()) report_ended();
}

bool process_watch::sleep() {
  std::vector<pollfd> entries{{m_stop_event, POLLIN, 0}};
  bool has_all_descriptors = true;
  for (const watched& process : m_watched)
    if (process.descriptor >= 0)
      entries.push_back({process.descriptor, POLLIN, 0});
    else
      has_all_descriptors = false;
  poll(entries.data(), entries.size(), has_all_descriptors ? -1 : period_without_descriptors_ms);
  return !is_readable(m_stop_event);
}

bool process_watch::has_ended(const watched& process) const {
  if (process.descriptor >= 0 && is_readable(process.descriptor)) return true;
  return start_time_of(process.identity.process) != process.identity.start_time;
}

void process_watch::report_ended() {
  const auto first_ended =
      std::partition(m_watched.begin(), m_watched.end(), [&](const watched& process) { return !has_ended(process); });
  for (auto process = first_ended; process != m_watched.end(); ++process) {
    if (process->descriptor >= 0) close(process->descriptor);
    m_on_end(process->identity.number);
  }
  m_watched.erase(first_ended, m_watched.end());
}

}  // namespace trimtab::parcels
