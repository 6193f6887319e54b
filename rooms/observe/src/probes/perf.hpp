// perf_event_open, as far as the probes need it; the one place that knows linux/perf_event.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trimtab::observe {

// The context switches of one thread of this process, as the kernel writes them. Holds no descriptor: the
// mapping keeps the event alive, and a child of fork does not have it.
class switch_ring {
 public:
  struct record {
    std::uint64_t mono_ns;  // CLOCK_MONOTONIC
    std::uint32_t cpu;
    bool is_out;
    bool is_preempted;  // with is_out: was still runnable
  };

  // Returns 0 or an errno. The memory that may be locked is limited: takes a smaller ring if it must.
  int open(std::uint32_t tid) noexcept;
  void close() noexcept;
  // In a forked child, where the mapping does not exist.
  void forget() noexcept { m_page = nullptr; }
  bool is_open() const noexcept { return m_page != nullptr; }

  // How far the kernel has written by now. Whoever reads up to there comes to an end, even where reading makes switches.
  std::uint64_t end() const noexcept;
  // The next record before `end`, oldest first; false when there is none. Adds records that the kernel had no room for to
  // lost.
  bool next(record& target, std::uint64_t& lost, std::uint64_t end) noexcept;

 private:
  void copy(std::uint64_t at, void* target, std::size_t bytes) const noexcept;

  void* m_page;
  std::size_t m_data_bytes;  // a power of two
};

inline constexpr unsigned hardware_counters = 3;  // cycles, instructions, cache misses
struct hardware_reading {
  // Scaled up where the kernel had to share the hardware; NaN: that one is not counted.
  double values[hardware_counters];
};

// The counters of one thread, user mode alone. Holds descriptors and checks before each use that they are
// still its own: programs close what they do not know.
class hardware_group {
 public:
  int open(std::uint32_t tid) noexcept;  // 0 or an errno; at least the first counter, or nothing
  void close() noexcept;
  bool read(hardware_reading& reading) noexcept;  // false: not open, or the program closed it
  bool is_open() const noexcept { return m_opened != 0; }

 private:
  bool is_own(unsigned index) const noexcept;

  int m_descriptors[hardware_counters];
  std::uint64_t m_ids[hardware_counters];
  unsigned m_opened;  // bit i: counter i
};

// Why perf_event_open refused with `error`, and what helps.
struct perf_refusal {
  char why[128];
  const char* remedy;
};
perf_refusal explain_perf(int error, const char* root) noexcept;

}  // namespace trimtab::observe
