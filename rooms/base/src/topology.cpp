#include "trimtab/base/topology.hpp"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "trimtab/base/read_file.hpp"
#include "trimtab/base/spin_lock.hpp"
#include "trimtab/base/system_calls.hpp"

namespace trimtab::base {

namespace {

constexpr std::size_t text_bytes = 16 * 1024;

enum class keeping : std::uint8_t { none, begun, done };
std::atomic<keeping> process_keeps{keeping::none};
cpu_mask kept_cpus;

// The line of a colon list (/proc/self/cgroup: "id:controllers:path") whose controllers hold `controller`
// ("" for v2). Returns its path, copied.
bool cgroup_path(const char* text, const char* controller, char* buffer, std::size_t bytes) noexcept {
  for (const char* line = text; *line != '\0';) {
    const char* const end = strchrnul(line, '\n');
    const char* const first = std::strchr(line, ':');
    const char* const second = first != nullptr && first < end ? std::strchr(first + 1, ':') : nullptr;
    if (second != nullptr && second < end) {
      const std::size_t length = static_cast<std::size_t>(second - first - 1);
      bool is_match = length == 0 && controller[0] == '\0';
      const std::size_t wanted = std::strlen(controller);
      for (const char* at = first + 1; !is_match && wanted > 0 && at < second;) {
        const char* comma = at;
        while (comma < second && *comma != ',') ++comma;
        is_match = static_cast<std::size_t>(comma - at) == wanted && std::strncmp(at, controller, wanted) == 0;
        at = comma + 1;
      }
      if (is_match) {
        const std::size_t path_length = static_cast<std::size_t>(end - second - 1);
        if (path_length >= bytes) return false;
        std::memcpy(buffer, second + 1, path_length);
        buffer[path_length] = '\0';
        return true;
      }
    }
    line = *end == '\0' ? end : end + 1;
  }
  return false;
}

// Where a cgroup hierarchy is mounted, and which cgroup its top shows (a container sees its own as the top).
struct mount_point {
  char at[512];
  char top[512];
};

// mountinfo: "id parent maj:min TOP AT options... - type source super-options"
bool find_mount(const char* mountinfo, const char* type, const char* controller, mount_point& directory) noexcept {
  for (const char* line = mountinfo; *line != '\0';) {
    const char* const end = strchrnul(line, '\n');
    char copy[2048];
    const auto length = static_cast<std::size_t>(end - line);
    if (length < sizeof copy) {
      std::memcpy(copy, line, length);
      copy[length] = '\0';
      char* const dash = std::strstr(copy, " - ");
      char is_type[64] = "", source[512] = "", options[512] = "";
      if (dash != nullptr && std::sscanf(dash, " - %63s %511s %511s", is_type, source, options) >= 1 &&
          std::strcmp(is_type, type) == 0) {
        bool is_match = controller[0] == '\0';
        char* rest = nullptr;
        for (char* word = strtok_r(options, ",", &rest); word != nullptr && !is_match; word = strtok_r(nullptr, ",", &rest))
          is_match = std::strcmp(word, controller) == 0;
        if (is_match && std::sscanf(copy, "%*s %*s %*s %511s %511s", directory.top, directory.at) == 2) return true;
      }
    }
    line = *end == '\0' ? end : end + 1;
  }
  return false;
}

// Quota that one cgroup directory sets, in CPUs; 0: none.
double quota_of(const char* directory, bool is_v2) noexcept {
  char path[2048];
  char text[128];
  if (is_v2) {
    std::snprintf(path, sizeof path, "%s/cpu.max", directory);
    double quota = 0, period = 0;
    if (read_file(path, text, sizeof text) <= 0 || std::sscanf(text, "%lf %lf", &quota, &period) != 2) return 0;
    return period > 0 ? quota / period : 0;  // "max 100000" does not scan
  }
  std::snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
  if (read_file(path, text, sizeof text) <= 0) return 0;
  const double quota = std::atof(text);
  std::snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
  if (quota <= 0 || read_file(path, text, sizeof text) <= 0) return 0;
  const double period = std::atof(text);
  return period > 0 ? quota / period : 0;
}

// True when `path` is `top` or lies below it.
bool is_within(const char* path, const char* top) noexcept {
  const std::size_t length = std::strlen(top);
  return std::strncmp(path, top, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

struct cgroup_place {
  char path[1600];
  std::size_t length;
  std::size_t shortest;  // of the mount's top: ancestors above it are not visible
};

// Callers take turns, and none waits for long: in the child of a fork the holder may not exist. Who has no turn sees no
// cgroup.
class table_turn {
 public:
  table_turn() noexcept {
    for (int i = 0; i < most_yields && !(m_has_turn = lock.try_lock()); ++i)
      if (may_call_system()) sched_yield();
  }
  ~table_turn() {
    if (m_has_turn) lock.unlock();
  }
  table_turn(const table_turn&) = delete;
  table_turn& operator=(const table_turn&) = delete;

  bool has_turn() const noexcept { return m_has_turn; }

 private:
  static constexpr int most_yields = 10'000;
  static inline constinit spin_lock lock;
  bool m_has_turn = false;
};

// The process's cgroups, and what is mounted where. For whom has a turn.
constinit char cgroups[text_bytes] = {}, mounts[4 * text_bytes] = {};

bool read_tables(const char* root) noexcept {
  char path[1024];
  std::snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  if (read_file(path, cgroups, sizeof cgroups) <= 0) return false;
  std::snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
  return read_file(path, mounts, sizeof mounts) > 0;
}

// By the tables.
bool locate(const char* root, bool is_v2, const char* controller, cgroup_place& place) noexcept {
  mount_point mount;
  char cgroup[512];
  if (!find_mount(mounts, is_v2 ? "cgroup2" : "cgroup", is_v2 ? "" : controller, mount)) return false;
  if (!cgroup_path(cgroups, is_v2 ? "" : controller, cgroup, sizeof cgroup)) return false;
  const bool is_top_shown = std::strcmp(mount.top, "/") == 0 || !is_within(cgroup, mount.top);
  const char* const relative = is_top_shown ? cgroup : cgroup + std::strlen(mount.top);
  const int length = std::snprintf(place.path, sizeof place.path, "%s%s%s", root, mount.at,
                                   std::strcmp(relative, "/") == 0 ? "" : relative);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof place.path) return false;
  place.length = static_cast<std::size_t>(length);
  place.shortest = std::strlen(root) + std::strlen(mount.at);
  return true;
}

// By the tables. Own cgroup first, then its ancestors; the least quota wins.
bool find_least(const char* root, bool is_v2, cgroup_directory& directory) noexcept {
  cgroup_place place;
  if (!locate(root, is_v2, "cpu", place)) return false;
  directory.is_v2 = is_v2;
  std::memcpy(directory.path, place.path, sizeof directory.path);
  directory.quota = quota_of(place.path, is_v2);
  for (std::size_t end = place.length; end > place.shortest;) {
    while (end > place.shortest && place.path[--end] != '/') {
    }
    place.path[end] = '\0';
    const double quota = quota_of(place.path, is_v2);
    if (quota > 0 && (directory.quota == 0 || quota < directory.quota)) {
      directory.quota = quota;
      std::memcpy(directory.path, place.path, sizeof directory.path);
    }
  }
  return true;
}

}  // namespace

std::uint32_t cpu_mask::count() const noexcept {
  std::uint32_t total = 0;
  for (const unsigned long word : bits) total += static_cast<std::uint32_t>(__builtin_popcountl(word));
  return total;
}

bool read_affinity(cpu_mask& cpus) noexcept {
  cpus = {};
  // The kernel refuses a mask smaller than its own: the largest fits all.
  return sched_getaffinity(0, sizeof cpus.bits, reinterpret_cast<cpu_set_t*>(cpus.bits)) == 0;
}

bool write_cpu_list(const cpu_mask& cpus, char* buffer, std::size_t room) noexcept {
  std::size_t used = 0;
  for (std::size_t first = 0; first < cpu_mask::most; ++first) {
    if (!cpus.has(first)) continue;
    std::size_t last = first;
    while (cpus.has(last + 1)) ++last;
    const char* const comma = used == 0 ? "" : ",";
    const int length = first == last ? std::snprintf(buffer + used, room - used, "%s%zu", comma, first)
                                     : std::snprintf(buffer + used, room - used, "%s%zu-%zu", comma, first, last);
    if (length < 0 || static_cast<std::size_t>(length) >= room - used) return false;
    used += static_cast<std::size_t>(length);
    first = last;
  }
  return used > 0;
}

void keep_allowed_cpus() noexcept {
  keeping expected = keeping::none;
  if (!process_keeps.compare_exchange_strong(expected, keeping::begun, std::memory_order_acquire)) return;
  process_keeps.store(read_affinity(kept_cpus) ? keeping::done : keeping::none, std::memory_order_release);
}

cpu_mask allowed_cpus() noexcept {
  if (process_keeps.load(std::memory_order_acquire) == keeping::done) return kept_cpus;
  cpu_mask allowed;
  if (!read_affinity(allowed)) std::memset(allowed.bits, 0xff, sizeof allowed.bits);
  return allowed;
}

bool find_cgroup(const char* root, bool is_v2, const char* controller, cgroup_directory& directory) noexcept {
  cgroup_place place;
  const table_turn turn;
  if (!turn.has_turn() || !read_tables(root) || !locate(root, is_v2, controller, place)) return false;
  directory.is_v2 = is_v2;
  directory.quota = quota_of(place.path, is_v2);
  std::memcpy(directory.path, place.path, sizeof directory.path);
  return true;
}

bool find_cpu_cgroup(const char* root, cgroup_directory& directory) noexcept {
  cgroup_directory v1;
  const table_turn turn;
  if (!turn.has_turn() || !read_tables(root)) return false;
  const bool has_v2 = find_least(root, true, directory);
  const bool has_v1 = find_least(root, false, v1);
  // With both mounted (hybrid) the cpu controller is in one of them; version 1, unless version 2 has a quota.
  const bool is_v1_better = has_v1 && (!has_v2 || directory.quota == 0 || (v1.quota > 0 && v1.quota < directory.quota));
  if (is_v1_better) directory = v1;
  return has_v1 || has_v2;
}

double read_cpu_quota(const char* root) noexcept {
  cgroup_directory directory;
  return find_cpu_cgroup(root, directory) ? directory.quota : 0;
}

cpu_limits read_cpu_limits(const char* root) noexcept {
  cpu_limits limits;
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  limits.online = online > 0 ? static_cast<std::uint32_t>(online) : 1;
  const std::uint32_t allowed = allowed_cpus().count();
  limits.affinity = allowed < cpu_mask::most ? allowed : limits.online;
  limits.quota = read_cpu_quota(root);
  limits.available = limits.affinity;
  if (limits.quota > 0 && limits.quota < limits.available) limits.available = limits.quota;
  return limits;
}

}  // namespace trimtab::base
