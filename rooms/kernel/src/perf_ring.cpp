#include "perf_ring.hpp"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "trimtab/kernel/record_decoder.hpp"

namespace trimtab::kernel {

namespace {

int open_event(std::uint64_t id, std::uint16_t cpu, std::size_t ring_bytes) noexcept {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_TRACEPOINT;
  attributes.size = sizeof attributes;
  attributes.config = id;
  attributes.sample_period = 1;
  attributes.sample_type = record_decoder::sample_type();
  attributes.disabled = 1;
  attributes.sample_id_all = 1;
  attributes.watermark = 1;
  attributes.wakeup_watermark = static_cast<std::uint32_t>(ring_bytes / 4);
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, -1, int{cpu}, -1, PERF_FLAG_FD_CLOEXEC));
}

perf_event_mmap_page& page_of(void* mapping) noexcept { return *static_cast<perf_event_mmap_page*>(mapping); }

}  // namespace

perf_ring::opened perf_ring::open(std::uint16_t cpu, std::span<const std::uint64_t> ids, std::size_t bytes) {
  opened result;
  perf_ring& ring = result.ring;
  ring.m_cpu = cpu;
  const auto fail = [&](const char* what) {
    result.error = errno;
    result.problem = std::string(what) + " on CPU " + std::to_string(cpu) + ": " + std::strerror(result.error);
    ring.close();
  };
  for (const std::uint64_t id : ids) {
    const int event = open_event(id, cpu, bytes);
    if (event < 0) {
      fail("the scheduler's events cannot be opened");
      return result;
    }
    ring.m_events.push_back(event);
    if (ring.m_events.size() == 1) {
      const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
      void* const mapping = mmap(nullptr, page_bytes + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
      if (mapping == MAP_FAILED) {
        result.is_about_memory = true;
        fail("there is no memory for the scheduler's events");
        return result;
      }
      ring.m_mapping = mapping;
      ring.m_mapping_bytes = page_bytes + bytes;
      ring.m_bytes = bytes;
    } else if (ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, ring.descriptor()) != 0) {
      fail("the scheduler's events cannot share a ring");
      return result;
    }
  }
  return result;
}

perf_ring::~perf_ring() { close(); }

perf_ring::perf_ring(perf_ring&& other) noexcept { *this = std::move(other); }

perf_ring& perf_ring::operator=(perf_ring&& other) noexcept {
  if (this == &other) return *this;
  close();
  m_cpu = other.m_cpu;
  m_events = std::exchange(other.m_events, {});
  m_mapping = std::exchange(other.m_mapping, nullptr);
  m_mapping_bytes = other.m_mapping_bytes;
  m_bytes = other.m_bytes;
  return *this;
}

void perf_ring::close() noexcept {
  if (m_mapping != nullptr) munmap(m_mapping, m_mapping_bytes);
  m_mapping = nullptr;
  for (const int event : m_events) ::close(event);
  m_events.clear();
}

bool perf_ring::enable() noexcept {
  return std::ranges::all_of(m_events, [](int event) { return ioctl(event, PERF_EVENT_IOC_ENABLE, 0) == 0; });
}

bool perf_ring::disable() noexcept {
  return std::ranges::all_of(m_events, [](int event) { return ioctl(event, PERF_EVENT_IOC_DISABLE, 0) == 0; });
}

std::uint64_t perf_ring::head() const noexcept { return __atomic_load_n(&page_of(m_mapping).data_head, __ATOMIC_ACQUIRE); }
std::uint64_t perf_ring::tail() const noexcept { return page_of(m_mapping).data_tail; }
void perf_ring::free_up_to(std::uint64_t position) noexcept {
  __atomic_store_n(&page_of(m_mapping).data_tail, position, __ATOMIC_RELEASE);
}

std::span<const std::byte> perf_ring::record_at(std::uint64_t position) noexcept {
  const std::byte* const data = static_cast<const std::byte*>(m_mapping) + page_of(m_mapping).data_offset;
  // Records are multiples of 8 bytes, so a header does not go around the end.
  const std::size_t first = position & (m_bytes - 1);
  perf_event_header header;
  std::memcpy(&header, data + first, sizeof header);
  if (header.size < sizeof header) return {};
  if (first + header.size <= m_bytes) return {data + first, header.size};
  const std::size_t before_end = m_bytes - first;
  m_joined.resize(header.size);
  std::memcpy(m_joined.data(), data + first, before_end);
  std::memcpy(m_joined.data() + before_end, data, header.size - before_end);
  return m_joined;
}

}  // namespace trimtab::kernel
