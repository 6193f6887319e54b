#include "trimtab/observe/cpu_registry.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "cpu_registry_file.hpp"
#include "trimtab/base/file_size_limit.hpp"
#include "trimtab/base/read_file.hpp"
#include "trimtab/base/system_calls.hpp"

namespace trimtab::observe {

namespace {

using registry_file::record;

// What there is of a process by this pid: its start time, 0 when it is gone (or dead and not yet waited for).
std::uint64_t start_of(std::uint32_t pid) noexcept {
  char path[64], text[1024];
  std::snprintf(path, sizeof path, "/proc/%u/stat", pid);
  if (base::read_file(path, text, sizeof text) <= 0) return 0;
  const char* const name_end = std::strrchr(text, ')');  // the name may hold anything
  char state = 0;
  unsigned long long start = 0;
  if (name_end == nullptr ||
      std::sscanf(name_end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state,
                  &start) != 2)
    return 0;
  return state == 'Z' || state == 'X' ? 0 : start;
}

std::uint32_t own_pid_namespace() noexcept {
  struct stat status;
  return stat("/proc/self/ns/pid", &status) == 0 ? static_cast<std::uint32_t>(status.st_ino) : 0;
}

bool is_same(const record& entry, const cpu_member& member) noexcept {
  return entry.pid == member.pid && entry.start == member.start && entry.pid_namespace == member.pid_namespace;
}

enum class life { counts, is_stopped, is_over };

life life_of(const record& entry, const cpu_member& observer, std::uint64_t now_ns) noexcept {
  if (entry.beat_ns > now_ns + cpu_registry::fresh_ns) return life::is_over;  // of another clock
  const std::uint64_t age = now_ns > entry.beat_ns ? now_ns - entry.beat_ns : 0;
  if (age <= cpu_registry::fresh_ns) return life::counts;
  const bool can_check = observer.start != 0 && entry.pid_namespace != 0 && entry.pid_namespace == observer.pid_namespace;
  if (can_check && start_of(entry.pid) != entry.start) return life::is_over;
  if (age <= cpu_registry::stale_ns) return life::counts;
  return can_check ? life::is_stopped : life::is_over;
}

// The file, of the right size and owner; below 0: why is told.
int open_registry(const char* path, const char*& reason) noexcept {
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  struct stat status;
  if (fd < 0) {
    reason = "the registry cannot be opened";
    return fd;
  }
  reason = "";
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0 ||
      status.st_nlink != 1)  // a second name: it is also some other file of this user
    reason = "the registry is not this user's alone";
  else if (static_cast<std::uint64_t>(status.st_size) > registry_file::bytes)
    reason = "the registry is larger than its format";
  // New, or cut off: the rest is free records.
  else if (static_cast<std::uint64_t>(status.st_size) < registry_file::bytes && ftruncate(fd, registry_file::bytes) != 0)
    reason = "the registry has no room";
  if (reason[0] == '\0') return fd;
  close(fd);
  return -1;
}

// So that nobody checks it again. Who has taken the place since then is seen by another look; who takes it in between will
// notice.
void free_record(int fd, std::size_t place, const record& dead) noexcept {
  const auto offset = static_cast<off_t>(registry_file::offset_of(place));
  record now;
  if (pread(fd, &now, sizeof now, offset) != sizeof now || std::memcmp(&now, &dead, sizeof now) != 0) return;
  const record nobody;
  (void)!pwrite(fd, &nobody, sizeof nobody, offset);
}

struct errno_keeper {
  int saved = errno;
  ~errno_keeper() { errno = saved; }
};

}  // namespace

bool cpu_registry::path_for(unsigned uid, const char* otherwise, std::span<char> buffer) noexcept {
  const errno_keeper keeper;
  const char* const directory = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : otherwise;
  if (directory == nullptr || directory[0] == '\0') return false;
  const int length =
      std::snprintf(buffer.data(), buffer.size(), "%s/trimtab-cpus-%u.%u", directory, uid, registry_file::version);
  return length > 0 && static_cast<std::size_t>(length) < buffer.size();
}

std::string cpu_registry::default_path(const char* otherwise) {
  char path[sizeof m_path];
  return path_for(geteuid(), otherwise, path) ? path : "";
}

cpu_registry::cpu_registry(const char* path) noexcept {
  if (std::strlen(path) < sizeof m_path) std::strcpy(m_path, path);
}

void cpu_registry::identify() noexcept {
  const auto pid = static_cast<std::uint32_t>(getpid());
  if (m_members[0].pid == pid) return;
  m_members[0] = {};
  m_members[0].pid = pid;
  m_members[0].start = start_of(pid);
  m_members[0].pid_namespace = own_pid_namespace();
  m_place = most_members;
}

void cpu_registry::beat(std::uint64_t now_ns, std::uint32_t wanted, double used, const cpu_fold& allowed) noexcept {
  const errno_keeper keeper;
  const base::file_size_signal_held held;
  identify();
  m_count = 1;
  cpu_member& own_member = m_members[0];
  own_member.wanted = wanted < 1 ? 1 : wanted > registry_file::most_threads ? registry_file::most_threads : wanted;
  own_member.used = used >= 0 && used <= registry_file::most_threads ? used : 0;
  own_member.allowed = allowed;
  const int fd = open_registry(m_path, m_why_alone);
  if (fd < 0) return;
  if (!take_part(fd, now_ns)) m_count = 1;
  close(fd);
}

bool cpu_registry::take_part(int fd, std::uint64_t now_ns) noexcept {
  struct {
    registry_file::head head;
    record records[most_members];
  } all;
  const registry_file::head expected;
  if (pread(fd, &all, sizeof all, 0) != static_cast<ssize_t>(sizeof all)) {
    m_why_alone = "the registry cannot be read";
    return false;
  }
  static constexpr char zeros[sizeof all.head] = {};
  if (std::memcmp(&all.head, zeros, sizeof all.head) == 0) {
    // All who come first write the same.
    if (pwrite(fd, &expected, sizeof expected, 0) != static_cast<ssize_t>(sizeof expected)) {
      m_why_alone = "the registry cannot be written";
      return false;
    }
  } else if (all.head != expected) {
    m_why_alone = "the registry is of another version, or no registry";
    return false;
  }
  const cpu_member& own_member = m_members[0];
  std::size_t own_place = most_members, free_one = most_members;
  // From different beginnings, so that those who come together seldom choose the same.
  const std::size_t begin =
      base::mix(std::uint64_t{own_member.pid} << 32 ^ own_member.start ^ own_member.pid_namespace) % most_members;
  for (std::size_t i = 0; i < most_members; ++i) {
    const std::size_t place = (begin + i) % most_members;
    const record& entry = all.records[place];
    const bool is_record = registry_file::is_sound(entry);
    if (is_record && is_same(entry, own_member)) {
      own_place = place;
      continue;
    }
    const life now = is_record ? life_of(entry, own_member, now_ns) : life::is_over;
    if (now == life::is_over && is_record) free_record(fd, place, entry);
    if (now == life::is_over && free_one == most_members) free_one = place;
    if (now != life::counts || m_count == most_members) continue;
    m_members[m_count++] = {entry.start,  entry.pid, entry.pid_namespace, entry.wanted, entry.used_milli / 1000.0,
                            entry.allowed};
  }
  m_place = own_place != most_members ? own_place : free_one;
  if (m_place == most_members) {
    m_why_alone = "the registry is full";
    return false;
  }
  record own_record;
  own_record.pid = own_member.pid;
  own_record.pid_namespace = own_member.pid_namespace;
  own_record.start = own_member.start;
  own_record.beat_ns = now_ns;
  own_record.wanted = own_member.wanted;
  own_record.used_milli = static_cast<std::uint32_t>(std::lround(own_member.used * 1000));
  own_record.allowed = own_member.allowed;
  own_record.sum = registry_file::sum_of(own_record);
  if (pwrite(fd, &own_record, sizeof own_record, static_cast<off_t>(registry_file::offset_of(m_place))) == sizeof own_record)
    return true;
  m_why_alone = "the registry cannot be written";
  return false;
}

void cpu_registry::leave() noexcept {
  const errno_keeper keeper;
  const base::system_call_section section;
  if (!section.is_permitted()) return;
  const base::file_size_signal_held held;
  if (m_place == most_members || m_members[0].pid != static_cast<std::uint32_t>(getpid())) return;
  m_count = 1;
  const int fd = open_registry(m_path, m_why_alone);
  if (fd < 0) return;
  record entry;
  const auto offset = static_cast<off_t>(registry_file::offset_of(m_place));
  if (pread(fd, &entry, sizeof entry, offset) == sizeof entry && is_same(entry, m_members[0]))
    free_record(fd, m_place, entry);
  close(fd);
  m_place = most_members;
  m_why_alone = "has left";
}

}  // namespace trimtab::observe
