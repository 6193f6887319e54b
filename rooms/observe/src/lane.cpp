#include "trimtab/observe/lane.hpp"

#include <sys/mman.h>

#include <cstring>

#include "trimtab/base/hash.hpp"
#include "trimtab/base/system_calls.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

namespace {

// A subject shorter than this on average is timed by sampling at profile level (one in `sampled_one_in`,
// the rest only counted), because two clock reads would cost more than a good part of it.
constexpr double sampled_below_ns = 1000.0;
constexpr std::uint64_t always_timed = 256;
constexpr std::uint64_t sampled_one_in = 16;

constexpr std::size_t profile_growth = 64 * sizeof(profile_row);

}  // namespace

// The cursor stands at the end of the room it knows of: a ring wraps, a stream takes what the sampler thread
// has made ready since, or drops (keep first) or wraps (keep last).
bool lane::make_room() noexcept {
  if (m_events == nullptr) return false;
  const std::uint64_t ready = m_ready.load(std::memory_order_acquire);
  if (const auto capacity = static_cast<std::uint64_t>(m_limit - m_events); ready > capacity) {
    if (m_is_ring) m_owner->warm_rest(*this, capacity);
    m_limit = m_events + ready;
    return true;
  }
  if (!m_is_ring) {
    if (m_owner->trace_is_full() && m_owner->options().kept == keep::last) {
      m_is_ring = true;
      std::atomic_ref(m_events_header->capacity).store(ready, std::memory_order_release);
    } else {
      std::atomic_ref(m_events_header->dropped).store(m_events_header->dropped + 1, std::memory_order_relaxed);
      return false;
    }
  }
  summarize_ring();
  m_cursor = m_events;
  return true;
}

profile_row* lane::add_row(std::uint64_t hash, const row_identity& identity) noexcept {
  file_header& head = *m_profile_header;
  if (identity.subject() == no_subject || (m_index_used * 2 > m_index_mask && !grow_index())) {
    head.dropped += 1;
    return nullptr;
  }
  if (head.written == head.capacity) {
    if (!grow_profile()) {
      head.dropped += 1;
      return nullptr;
    }
    head.capacity = (m_profile_file.size() - header_bytes) / sizeof(profile_row);
  }
  profile_row* const added = reinterpret_cast<profile_row*>(m_profile_file.data() + header_bytes) + head.written;
  identity.write(*added);
  added->min = ~std::uint64_t{0};
  std::atomic_ref(head.written).store(head.written + 1, std::memory_order_release);
  std::uint64_t i = hash;
  while (m_index[i & m_index_mask].row != nullptr) ++i;
  m_index[i & m_index_mask] = {hash, added};
  m_index_used += 1;
  return added;
}

std::uint64_t lane::outermost_regions() const noexcept {
  if (m_profile_header == nullptr) return 0;
  const std::uint64_t rows = std::atomic_ref(m_profile_header->written).load(std::memory_order_acquire);
  const auto* const begin = reinterpret_cast<profile_row*>(m_profile_file.data() + header_bytes);
  std::uint64_t regions = 0;
  for (const profile_row* row = begin; row != begin + rows; ++row)
    if (row->what == metric::region && row->in_region == no_subject && (row->flags & region_flags::sample) == 0)
      regions += std::atomic_ref(const_cast<std::uint64_t&>(row->count)).load(std::memory_order_relaxed);
  return regions;
}

// Tried once: whoever asks for a row that finds no room asks at each event.
bool lane::grow_profile() noexcept {
  if (m_is_profile_full) return false;
  const recorder::setup_cost cost(*m_owner);
  m_is_profile_full = m_profile_file.grow(m_profile_file.size() + profile_growth) != 0;
  return !m_is_profile_full;
}

// Tried once, too.
bool lane::grow_index() noexcept {
  if (m_is_index_full) return false;
  const std::uint64_t slots = (m_index_mask + 1) * 4;
  if (!base::may_call_system()) return false;
  void* fresh = mmap(nullptr, slots * sizeof(index_entry), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) {
    m_is_index_full = true;
    return false;
  }
  auto* table = static_cast<index_entry*>(fresh);
  for (std::uint64_t old = 0; old <= m_index_mask; ++old) {
    if (m_index[old].row == nullptr) continue;
    std::uint64_t i = m_index[old].hash;
    while (table[i & (slots - 1)].row != nullptr) ++i;
    table[i & (slots - 1)] = m_index[old];
  }
  munmap(m_index, (m_index_mask + 1) * sizeof(index_entry));
  m_index = table;
  m_index_mask = slots - 1;
  return true;
}

// Rows never move, so a place keeps what was found once until another scope needs it.
profile_row* lane::scope_row(std::uint32_t subject) noexcept {
  known_scope& scope = m_known_scopes[subject % max_known_scopes];
  if (scope.row == nullptr || scope.subject != subject) [[unlikely]]
    scope = {own_row(subject, metric::scope), subject};
  return scope.row;
}

void lane::scope_begin(std::uint32_t subject) noexcept {
  const std::uint32_t depth = m_scope_depth++;
  if (depth >= max_scopes) [[unlikely]] {
    m_profile_header->dropped += 1;
    return;
  }
  open_scope& scope = m_scopes[depth];
  profile_row* const counted = scope_row(subject);
  scope.subject = subject;
  scope.row = counted;
  scope.begin = 0;
  if (counted != nullptr && !m_owner->traces() && counted->timed >= always_timed &&
      static_cast<double>(counted->sum) < m_owner->ticks_of_ns(sampled_below_ns) * static_cast<double>(counted->timed) &&
      base::mix_fast(counted->count) % sampled_one_in != 0)
    return;
  scope.begin = base::now();
  record(event_kind::scope_begin, subject, 0, 0, 0, scope.begin);
}

void lane::scope_end(std::uint32_t subject) noexcept {
  if (m_scope_depth == 0) [[unlikely]]
    return;
  const std::uint32_t depth = --m_scope_depth;
  if (depth >= max_scopes) [[unlikely]]
    return;
  const open_scope& scope = m_scopes[depth];
  if (scope.subject != subject) [[unlikely]] {
    // Ends of another scope than the innermost: close down to the one that is meant, if it is open at all.
    for (std::uint32_t d = depth; d-- > 0;)
      if (m_scopes[d].subject == subject) {
        m_scope_depth = d + 1;
        scope_end(subject);
        return;
      }
    ++m_scope_depth;
    return;
  }
  if (scope.begin == 0) {
    scope.row->count += 1;
    return;
  }
  const base::ticks end = base::now();
  add(scope.row, end - scope.begin);
  record(event_kind::scope_end, subject, 0, 0, 0, end);
}

}  // namespace trimtab::observe
