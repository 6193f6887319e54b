#include "transport/shared_segment.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iterator>

#include "transport/doorbell.hpp"
#include "transport/process_fence.hpp"
#include "transport/process_watch.hpp"
#include "trimtab/base/clock.hpp"
#include "trimtab/base/hash.hpp"

namespace trimtab::parcels {
namespace {

// Four different mixes of all bytes. It keeps members of other jobs out. It need not resist an attacker: whoever can read
// this file can read the messages, too.
void digest_secret(const std::string& secret, std::uint64_t (&digest)[4]) {
  for (std::uint64_t lane = 0; lane < std::size(digest); ++lane) {
    std::uint64_t state = base::mix(lane ^ (secret.size() << 8));
    for (const char byte : secret) state = base::mix(state ^ static_cast<unsigned char>(byte)) + lane;
    digest[lane] = state;
  }
}

// In constant time.
bool is_equal(const std::uint64_t (&one)[4], const std::uint64_t (&other)[4]) {
  std::uint64_t difference = 0;
  for (std::size_t lane = 0; lane < std::size(one); ++lane) difference |= one[lane] ^ other[lane];
  return difference == 0;
}

std::string seconds_text(std::uint64_t ns) {
  std::string text = std::to_string(ns / 1'000'000'000) + "." + std::to_string(ns / 100'000'000 % 10);
  return text + " s";
}

bool is_ring_size(std::uint64_t bytes) {
  return bytes >= smallest_ring && bytes <= largest_ring && (bytes & (bytes - 1)) == 0;
}

}  // namespace

shared_segment::~shared_segment() {
  if (m_memory != nullptr) munmap(m_memory, m_layout.total());
  if (m_descriptor >= 0) close(m_descriptor);
}

std::string shared_segment::system_error(const char* action) const {
  return m_path + ": cannot " + action + ": " + std::strerror(errno);
}

std::string shared_segment::join(const membership& self, const shm_options& options) {
  m_path = options.path;
  if (self.size == 0 || self.number >= self.size || self.size > 4096)
    return "locality " + std::to_string(self.number) + " cannot be in a job of size " + std::to_string(self.size) +
           " (1 to 4096)";
  if (!is_ring_size(options.ring_bytes))
    return "a ring of " + std::to_string(options.ring_bytes) + " bytes: expected a power of two from 16 KiB to 256 MiB";
  m_descriptor = open(m_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (m_descriptor < 0) return system_error("open it");
  if (std::string error = lock(self); !error.empty()) return error;
  std::string error = join_locked(self, options);
  flock(m_descriptor, LOCK_UN);
  return error;
}

// The lock goes with its holder, even if that is killed. But the holder may be stopped, so nobody waits longer than its
// patience.
std::string shared_segment::lock(const membership& self) {
  const std::uint64_t end_ns = base::monotonic_ns() + self.patience_ns;
  while (flock(m_descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return system_error("lock it");
    if (base::monotonic_ns() > end_ns)
      return m_path + ": another process has held its lock for " + seconds_text(self.patience_ns);
    const timespec pause{0, 200'000};
    nanosleep(&pause, nullptr);
  }
  return {};
}

std::string shared_segment::join_locked(const membership& self, const shm_options& options) {
  struct stat state = {};
  if (fstat(m_descriptor, &state) != 0) return system_error("look at it");
  segment_header present = {};
  const ssize_t size = pread(m_descriptor, static_cast<void*>(&present), sizeof present, 0);
  if (size < 0) return system_error("read it");
  if (static_cast<std::size_t>(size) < sizeof present || present.magic == 0) {
    if (std::string error = make(self, options); !error.empty()) return error;
  } else {
    if (std::string error = check(present, self); !error.empty()) return error;
    m_layout = segment_layout(self.size, present.ring_bytes);
    if (static_cast<std::uint64_t>(state.st_size) != m_layout.total())
      return m_path + ": has " + std::to_string(state.st_size) + " bytes, expected " + std::to_string(m_layout.total());
  }
  if (std::string error = map(); !error.empty()) return error;
  return enter(self);
}

std::string shared_segment::make(const membership& self, const shm_options& options) {
  m_layout = segment_layout(self.size, options.ring_bytes);
  // Where a file system is full, the first access to a new page would end the process (SIGBUS). Memory files have no limit
  // (0).
  struct statvfs space = {};
  const std::uint64_t total = m_layout.total();
  if (fstatvfs(m_descriptor, &space) == 0 && space.f_blocks != 0 && space.f_bavail * space.f_frsize < total)
    return m_path + ": the job may need " + std::to_string(total) + " bytes and there is room for " +
           std::to_string(space.f_bavail * space.f_frsize) + ": choose smaller rings";
  // First to nothing: whoever began this and was killed may have left something.
  if (ftruncate(m_descriptor, 0) != 0 || ftruncate(m_descriptor, static_cast<off_t>(total)) != 0)
    return system_error("give it its size");
  segment_header made = {};
  made.version = segment_version;
  made.size = self.size;
  made.ring_bytes = options.ring_bytes;
  digest_secret(self.secret, made.secret);
  if (pwrite(m_descriptor, static_cast<const void*>(&made), sizeof made, 0) != sizeof made) return system_error("write it");
  if (pwrite(m_descriptor, &segment_magic, sizeof segment_magic, offsetof(segment_header, magic)) != sizeof segment_magic)
    return system_error("write it");
  return {};
}

std::string shared_segment::check(const segment_header& present, const membership& self) const {
  if (present.magic != segment_magic) return m_path + ": is not a file of shared-memory messages";
  if (present.version != segment_version)
    return m_path + ": has version " + std::to_string(present.version) + ", expected " + std::to_string(segment_version);
  std::uint64_t expected[4];
  digest_secret(self.secret, expected);
  if (!is_equal(present.secret, expected)) return m_path + ": belongs to a job with another secret";
  if (present.size != self.size)
    return m_path + ": belongs to a job of size " + std::to_string(present.size) + ", expected size " +
           std::to_string(self.size);
  if (!is_ring_size(present.ring_bytes))
    return m_path + ": is damaged: rings of " + std::to_string(present.ring_bytes) + " bytes";
  return {};
}

std::string shared_segment::map() {
  void* memory = mmap(nullptr, m_layout.total(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, m_descriptor, 0);
  if (memory == MAP_FAILED) return system_error("map it");
  m_memory = static_cast<std::byte*>(memory);
  return {};
}

std::string shared_segment::enter(const membership& self) {
  member_slot& own = slot(self.number);
  if (own.state.load(std::memory_order_relaxed) != presence::absent)
    return m_path + ": locality " + std::to_string(self.number) + " is there already (process " +
           std::to_string(own.process) + ")";
  own.process = getpid();
  own.start_time = start_time_of(own.process);
  own.has_membarrier = process_fence::register_process();
  gethostname(own.host, sizeof own.host);
  own.host[sizeof own.host - 1] = 0;
  own.state.store(presence::member, std::memory_order_release);
  header().arrivals.fetch_add(1, std::memory_order_release);
  futex_wake_all(header().arrivals);
  return {};
}

std::optional<locality_number> shared_segment::first_absent() const {
  for (locality_number member = 0; member < m_layout.size(); ++member)
    if (slot(member).state.load(std::memory_order_acquire) == presence::absent) return member;
  return std::nullopt;
}

std::string shared_segment::wait_for_all(std::uint64_t patience_ns) {
  const std::uint64_t begin_ns = base::monotonic_ns();
  while (true) {
    const std::uint32_t arrivals = header().arrivals.load(std::memory_order_acquire);
    const std::optional<locality_number> absent = first_absent();
    if (!absent) return {};
    const std::uint64_t waited_ns = base::monotonic_ns() - begin_ns;
    if (waited_ns >= patience_ns)
      return m_path + ": locality " + std::to_string(*absent) + " of " + std::to_string(m_layout.size()) +
             " did not come within " + seconds_text(patience_ns);
    futex_wait(header().arrivals, arrivals, patience_ns - waited_ns);
  }
}

}  // namespace trimtab::parcels
