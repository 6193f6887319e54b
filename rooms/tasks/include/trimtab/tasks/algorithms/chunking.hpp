// How the algorithms divide a range. Chunks are contiguous, and results of chunks are combined in their order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "trimtab/tasks/core/spawn.hpp"

namespace trimtab::tasks {

// Chunks of `size`, assigned to the workers in turn beforehand. 0: one chunk per worker. A worker gets the same chunks each
// time, so their data is still in its cache or memory. Other workers take chunks that it does not start.
struct static_chunks {
  std::size_t size = 0;
};
// Chunks of `size`; the next one goes to the worker that is free first.
struct dynamic_chunks {
  std::size_t size = 1;
};
// Large chunks first: each is half of an even share of the remaining indices, at least `min_size`.
struct guided_chunks {
  std::size_t min_size = 1;
};
// As dynamic_chunks, with bounds that depend only on the length of the range (or on `size`): results of reductions are the
// same with any number of workers, bit by bit.
struct ordered_chunks {
  std::size_t size = 0;
};
// Halves the range while other workers are idle, and runs pieces of some tens of microseconds, whose size is found by timing
// them. A range that takes less time than sharing it costs is not divided. Bounds differ from call to call.
struct adaptive_chunks {};

// One of these, chosen at run time.
class chunking {
 public:
  enum class kind : std::uint8_t { adaptive, fixed, dynamic, guided, ordered };

  constexpr chunking(adaptive_chunks = {}) noexcept {}
  constexpr chunking(static_chunks options) noexcept : m_size(options.size), m_kind(kind::fixed) {}
  constexpr chunking(dynamic_chunks options) noexcept : m_size(options.size), m_kind(kind::dynamic) {}
  constexpr chunking(guided_chunks options) noexcept : m_size(options.min_size), m_kind(kind::guided) {}
  constexpr chunking(ordered_chunks options) noexcept : m_size(options.size), m_kind(kind::ordered) {}

  constexpr kind strategy() const noexcept { return m_kind; }
  constexpr std::size_t size() const noexcept { return m_size; }

 private:
  std::size_t m_size = 0;
  kind m_kind = kind::adaptive;
};

// Options of a call of an algorithm.
struct loop_options {
  chunking chunks = {};
  // Tested between pieces; if stop was requested, the algorithm throws `stopped`.
  std::stop_token stop = {};
  // The name of its tasks in reports, of static storage. nullptr: they are named by the algorithm and the place of the call.
  const annotation* name = nullptr;
};

namespace detail {

// The chunks of one range, for several workers at a time. Not for adaptive chunks.
class chunk_source {
 public:
  struct chunk {
    std::size_t first, last, number;
  };

  // Throws std::invalid_argument for a size of 0 if that has no meaning.
  chunk_source(const chunking& chunks, std::size_t length, std::uint32_t workers);

  std::size_t count() const noexcept { return m_count; }
  std::uint32_t workers() const noexcept { return m_workers; }

  // The view of one worker. preferred: the part of static chunks that it takes first.
  class cursor {
   public:
    cursor(chunk_source& source, std::uint32_t preferred) noexcept : m_source(source), m_preferred(preferred) {}
    // False: no chunk is left.
    bool next(chunk& piece) noexcept;

   private:
    bool claim() noexcept;
    chunk_source& m_source;
    std::uint32_t m_preferred;
    std::uint32_t m_tried = 0;
    std::size_t m_next = 0;
    bool m_has_part = false;
  };

 private:
  chunk chunk_at(std::size_t number) const noexcept;

  std::size_t m_length;
  std::size_t m_size;
  std::size_t m_count;
  std::uint32_t m_workers;
  bool m_is_dealt;
  std::vector<std::size_t> m_ends;                     // guided
  std::unique_ptr<std::atomic<bool>[]> m_are_claimed;  // dealt: parts, one a worker
  alignas(64) std::atomic<std::size_t> m_given{0};
};

}  // namespace detail
}  // namespace trimtab::tasks
