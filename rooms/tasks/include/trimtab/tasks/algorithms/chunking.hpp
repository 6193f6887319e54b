// How the algorithms cut a range into pieces. Chunks are contiguous, and results of chunks are combined in their order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "trimtab/tasks/core/spawn.hpp"

namespace trimtab::tasks {

// Chunks of `size`, dealt out in turn beforehand. 0: one chunk a worker. A worker is given the same ones each time if it
// comes for them, so that what lies in its cache or memory is found again; what it does not come for, others take.
struct static_chunks {
  std::size_t size = 0;
};
// Chunks of `size`, the next one to whoever is free.
struct dynamic_chunks {
  std::size_t size = 1;
};
// Large chunks first: each half of an even share of what is left, at least `min_size`.
struct guided_chunks {
  std::size_t min_size = 1;
};
// As dynamic, with bounds that depend on the length of the range alone (or on `size`): what is combined is the same with
// any number of workers, bit by bit.
struct ordered_chunks {
  std::size_t size = 0;
};
// Halves as long as others have nothing to do, in pieces of some tens of microseconds, as found by timing them. Nothing
// is cut where the whole takes less than it costs to share it. Bounds are not the same each time.
struct adaptive_chunks {};

// One of them, chosen at run time.
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

// What a call of an algorithm may be told.
struct loop_options {
  chunking chunks = {};
  // Asked between pieces; the algorithm then throws `stopped`.
  std::stop_token stop = {};
  // Of static storage: what its tasks are called in reports. nullptr: by the algorithm and the place of the call.
  const annotation* name = nullptr;
};

namespace detail {

// The chunks of one range, for several participants at a time. Not adaptive ones.
class chunk_source {
 public:
  struct chunk {
    std::size_t first, last, number;
  };

  // Throws std::invalid_argument for a size of 0 where that has no meaning.
  chunk_source(const chunking& chunks, std::size_t length, std::uint32_t workers);

  std::size_t count() const noexcept { return m_count; }
  std::uint32_t workers() const noexcept { return m_workers; }

  // One participant's view. preferred: the part of static chunks that it takes first.
  class cursor {
   public:
    cursor(chunk_source& source, std::uint32_t preferred) noexcept : m_source(source), m_preferred(preferred) {}
    // False: nothing is left.
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
