#include "trimtab/tasks/algorithms/chunking.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace trimtab::tasks::detail {

namespace {

// Of ordered chunks: enough of them for many workers, each long enough to be worth handing out.
constexpr std::size_t ordered_count = 256;
constexpr std::size_t ordered_least = 256;

std::size_t size_of(const chunking& chunks, std::size_t length, std::uint32_t workers) {
  switch (chunks.strategy()) {
    case chunking::kind::fixed:
      return chunks.size() != 0 ? chunks.size() : std::max<std::size_t>(1, (length + workers - 1) / workers);
    case chunking::kind::ordered:
      return chunks.size() != 0 ? chunks.size() : std::max(ordered_least, (length + ordered_count - 1) / ordered_count);
    default:
      break;
  }
  if (chunks.size() == 0)
    throw std::invalid_argument(
        std::string("trimtab: ") +
        (chunks.strategy() == chunking::kind::guided ? "guided_chunks::min_size" : "dynamic_chunks::size") +
        " is 0, expected at least 1");
  return chunks.size();
}

}  // namespace

chunk_source::chunk_source(const chunking& chunks, std::size_t length, std::uint32_t workers)
    : m_length(length),
      m_size(size_of(chunks, length, workers)),
      m_count(length / m_size + (length % m_size != 0)),
      m_workers(workers),
      m_is_dealt(chunks.strategy() == chunking::kind::fixed) {
  if (chunks.strategy() == chunking::kind::guided) {
    for (std::size_t end = 0; end != length;) {
      const std::size_t left = length - end;
      end += std::min(left, std::max(m_size, left / (2 * std::size_t{workers})));
      m_ends.push_back(end);
    }
    m_count = m_ends.size();
  }
  if (m_is_dealt) m_are_claimed = std::make_unique<std::atomic<bool>[]>(workers);
}

chunk_source::chunk chunk_source::chunk_at(std::size_t number) const noexcept {
  if (!m_ends.empty()) return {number == 0 ? 0 : m_ends[number - 1], m_ends[number], number};
  const std::size_t first = number * m_size;
  return {first, first + std::min(m_size, m_length - first), number};
}

bool chunk_source::cursor::claim() noexcept {
  for (; m_tried < m_source.m_workers; ++m_tried) {
    const std::uint32_t part = (m_preferred + m_tried) % m_source.m_workers;
    if (part >= m_source.m_count || m_source.m_are_claimed[part].exchange(true, std::memory_order_relaxed)) continue;
    m_next = part;
    return true;
  }
  return false;
}

bool chunk_source::cursor::next(chunk& piece) noexcept {
  if (!m_source.m_is_dealt) {
    const std::size_t number = m_source.m_given.fetch_add(1, std::memory_order_relaxed);
    if (number >= m_source.m_count) return false;
    piece = m_source.chunk_at(number);
    return true;
  }
  if (!m_has_part || m_next >= m_source.m_count) {
    m_has_part = claim();
    if (!m_has_part) return false;
  }
  piece = m_source.chunk_at(m_next);
  m_next += m_source.m_workers;
  return true;
}

}  // namespace trimtab::tasks::detail
