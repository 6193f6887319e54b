#include "perf.hpp"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "proc_file.hpp"

namespace trimtab::observe {

namespace {

// 16 KiB hold 500 switches. The user's share of locked memory (perf_event_mlock_kb a CPU) is met by a few
// dozen such rings on a small machine; further lanes get one page, then none.
constexpr std::size_t ring_pages[] = {4, 1};
constexpr int first_descriptor = 500;  // out of the way of programs that expect low numbers

int perf_event_open(perf_event_attr& attributes, std::uint32_t tid, int group) noexcept {
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, static_cast<int>(tid), -1, group, PERF_FLAG_FD_CLOEXEC));
}

perf_event_attr own_user_mode(std::uint32_t type, std::uint64_t config) noexcept {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  attributes.exclude_kernel = 1;  // or perf_event_paranoid = 2, the usual setting, forbids it
  attributes.exclude_hv = 1;
  return attributes;
}

// What PERF_RECORD_SWITCH carries behind its header with sample_id_all and TID | TIME | CPU.
struct sample_id {
  std::uint32_t pid, tid;
  std::uint64_t time;
  std::uint32_t cpu, reserved;
};

}  // namespace

int switch_ring::open(std::uint32_t tid) noexcept {
  m_page = nullptr;
  perf_event_attr attributes = own_user_mode(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
  attributes.context_switch = 1;
  attributes.sample_id_all = 1;
  attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  attributes.watermark = 1;  // nobody polls: let the kernel wake nobody
  attributes.wakeup_watermark = 1u << 30;
  const int fd = perf_event_open(attributes, tid, -1);
  if (fd < 0) return errno;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  int error = 0;
  for (const std::size_t pages : ring_pages) {
    void* const mapped = mmap(nullptr, (1 + pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    error = mapped == MAP_FAILED ? errno : 0;
    if (error != 0) continue;
    m_page = mapped;
    m_data_bytes = pages * page;
    break;
  }
  ::close(fd);
  return error;
}

void switch_ring::close() noexcept {
  if (m_page == nullptr) return;
  munmap(m_page, m_data_bytes + static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  m_page = nullptr;
}

void switch_ring::copy(std::uint64_t at, void* target, std::size_t bytes) const noexcept {
  const char* const data = static_cast<const char*>(m_page) + static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t begin = at & (m_data_bytes - 1);
  const std::size_t first = bytes < m_data_bytes - begin ? bytes : m_data_bytes - begin;
  std::memcpy(target, data + begin, first);
  std::memcpy(static_cast<char*>(target) + first, data, bytes - first);
}

std::uint64_t switch_ring::end() const noexcept {
  if (m_page == nullptr) return 0;
  // Acquire pairs with the kernel's barrier before it raises data_head.
  return std::atomic_ref(static_cast<perf_event_mmap_page*>(m_page)->data_head).load(std::memory_order_acquire);
}

bool switch_ring::next(record& target, std::uint64_t& lost, std::uint64_t end) noexcept {
  if (m_page == nullptr) return false;
  auto& control = *static_cast<perf_event_mmap_page*>(m_page);
  // Release gives the kernel the room back.
  const std::atomic_ref tail(control.data_tail);
  for (std::uint64_t at = tail.load(std::memory_order_relaxed); at < end;) {
    perf_event_header header;
    copy(at, &header, sizeof header);
    if (header.size < sizeof header) break;  // never, unless the ring is damaged
    bool has_found = false;
    if (header.type == PERF_RECORD_SWITCH && header.size >= sizeof header + sizeof(sample_id)) {
      sample_id id;
      copy(at + sizeof header, &id, sizeof id);
      const bool is_departure = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
      target = {id.time, id.cpu, is_departure, is_departure && (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0};
      has_found = true;
    } else if (header.type == PERF_RECORD_LOST) {
      std::uint64_t id_and_count[2];
      copy(at + sizeof header, id_and_count, sizeof id_and_count);
      lost += id_and_count[1];
    }
    at += header.size;
    tail.store(at, std::memory_order_release);
    if (has_found) return true;
  }
  return false;
}

int hardware_group::open(std::uint32_t tid) noexcept {
  constexpr std::uint64_t events[hardware_counters] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
                                                       PERF_COUNT_HW_CACHE_MISSES};
  m_opened = 0;
  for (unsigned i = 0; i < hardware_counters; ++i) {
    perf_event_attr attributes = own_user_mode(PERF_TYPE_HARDWARE, events[i]);
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    const int group = i > 0 ? m_descriptors[0] : -1;
    int fd = perf_event_open(attributes, tid, group);
    if (fd < 0 && i > 0) fd = perf_event_open(attributes, tid, -1);
    if (fd < 0 && i == 0) return errno;
    if (fd < 0) continue;
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, first_descriptor);
    if (high >= 0) {
      ::close(fd);
      fd = high;
    }
    if (ioctl(fd, PERF_EVENT_IOC_ID, &m_ids[i]) != 0) {
      const int error = errno;
      ::close(fd);
      if (i == 0) return error;
      continue;
    }
    m_descriptors[i] = fd;
    m_opened |= 1u << i;
  }
  return 0;
}

bool hardware_group::is_own(unsigned index) const noexcept {
  std::uint64_t id = 0;
  return (m_opened >> index & 1) != 0 && ioctl(m_descriptors[index], PERF_EVENT_IOC_ID, &id) == 0 && id == m_ids[index];
}

void hardware_group::close() noexcept {
  for (unsigned i = 0; i < hardware_counters; ++i)
    if (is_own(i)) ::close(m_descriptors[i]);
  m_opened = 0;
}

bool hardware_group::read(hardware_reading& reading) noexcept {
  if (!is_own(0)) return false;
  for (unsigned i = 0; i < hardware_counters; ++i) {
    reading.values[i] = std::nan("");
    std::uint64_t value_enabled_running[3];
    if (!is_own(i)) continue;
    if (::read(m_descriptors[i], value_enabled_running, sizeof value_enabled_running) != sizeof value_enabled_running)
      continue;
    const auto [value, enabled, running] = value_enabled_running;
    if (running == 0 && enabled != 0) continue;  // had no hardware at any time: unknown, not 0
    const double share = running == 0 ? 1.0 : static_cast<double>(enabled) / static_cast<double>(running);
    reading.values[i] = static_cast<double>(value) * share;
  }
  return true;
}

perf_refusal explain_perf(int error, const char* root) noexcept {
  perf_refusal refusal{};
  char path[320];
  char text[32];
  std::snprintf(path, sizeof path, "%s/proc/sys/kernel/perf_event_paranoid", root);
  const bool has_level = read_file(path, text, sizeof text) > 0;
  const int level = has_level ? std::atoi(text) : 0;
  if (error == EACCES || error == EPERM) {
    if (has_level && level > 2) {
      std::snprintf(refusal.why, sizeof refusal.why, "kernel.perf_event_paranoid is %d", level);
      refusal.remedy = "sudo sysctl kernel.perf_event_paranoid=2";
    } else {
      std::snprintf(refusal.why, sizeof refusal.why, "perf_event_open is not permitted, or no more memory may be locked");
      refusal.remedy =
          "in a container: --cap-add PERFMON and a seccomp profile that permits perf_event_open; "
          "else raise kernel.perf_event_mlock_kb";
    }
  } else if (error == ENOSYS) {
    std::snprintf(refusal.why, sizeof refusal.why, "the kernel has no perf_event_open");
    refusal.remedy = "use a kernel with CONFIG_PERF_EVENTS";
  } else if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP) {
    std::snprintf(refusal.why, sizeof refusal.why, "this processor or virtual machine offers no such counter");
    refusal.remedy = "run on the bare machine, or pass the counters on to the virtual machine";
  } else if (error == EMFILE || error == ENFILE) {
    std::snprintf(refusal.why, sizeof refusal.why, "no descriptor is left");
    refusal.remedy = "raise the limit on open files (ulimit -n)";
  } else {
    std::snprintf(refusal.why, sizeof refusal.why, "perf_event_open: error %d", error);
    refusal.remedy = "see man perf_event_open";
  }
  return refusal;
}

}  // namespace trimtab::observe
