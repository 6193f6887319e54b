// The ring of one CPU in which the kernel puts the records of all scheduler tracepoints: man 2 perf_event_open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trimtab::kernel {

class perf_ring {
 public:
  struct opened;
  // ids: of tracepoints, at least one. bytes: of the ring, a power of two and of at least one page. What is wrong is in the
  // error.
  static opened open(std::uint16_t cpu, std::span<const std::uint64_t> ids, std::size_t bytes);
  perf_ring() = default;
  ~perf_ring();
  perf_ring(perf_ring&& other) noexcept;
  perf_ring& operator=(perf_ring&& other) noexcept;

  std::uint16_t cpu() const noexcept { return m_cpu; }
  // Becomes readable when a quarter of the ring is full.
  int descriptor() const noexcept { return m_events.front(); }
  // The kernel begins, or ends, to write. False: errno.
  bool enable() noexcept;
  bool disable() noexcept;
  // Calls take(record) for each whole record, with its header, and frees their room. Returns how many there were.
  template <class function>
  std::size_t read(function&& take);

 private:
  std::span<const std::byte> record_at(std::uint64_t position) noexcept;
  std::uint64_t head() const noexcept;
  std::uint64_t tail() const noexcept;
  void free_up_to(std::uint64_t position) noexcept;
  void close() noexcept;

  std::uint16_t m_cpu = 0;
  std::vector<int> m_events;  // the first has the ring
  void* m_mapping = nullptr;
  std::size_t m_mapping_bytes = 0, m_bytes = 0;
  std::vector<std::byte> m_joined;  // a record that goes around the end
};

struct perf_ring::opened {
  perf_ring ring;
  int error = 0;                 // errno; 0: none
  bool is_about_memory = false;  // smaller ones may be possible
  std::string problem;           // in words
};

template <class function>
std::size_t perf_ring::read(function&& take) {
  const std::uint64_t end = head();
  std::uint64_t position = tail();
  std::size_t count = 0;
  while (position != end) {
    const std::span<const std::byte> record = record_at(position);
    if (record.empty()) {
      position = end;  // it makes no sense: what follows is lost
      break;
    }
    take(record);
    position += record.size();
    ++count;
  }
  free_up_to(position);
  return count;
}

}  // namespace trimtab::kernel
