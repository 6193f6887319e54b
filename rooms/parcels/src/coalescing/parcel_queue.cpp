#include "trimtab/parcels/coalescing/parcel_queue.hpp"

#include <algorithm>
#include <cstring>

#include "trimtab/parcels/coalescing/clock.hpp"

namespace trimtab::parcels {

namespace {

constexpr std::uint32_t least_parcels_timed = 4;

std::size_t bytes_of_numbers(const outgoing& parcel) noexcept {
  return (parcel.has_call ? sizeof parcel.call : 0) + (parcel.trace != 0 ? sizeof parcel.trace : 0);
}

parcel_header header_of(const outgoing& parcel) noexcept {
  const std::uint32_t marks =
      (parcel.has_call ? parcel_header::has_call : 0) | (parcel.trace != 0 ? parcel_header::has_trace : 0);
  return {static_cast<std::uint32_t>(parcel.arguments.size() + bytes_of_numbers(parcel)), parcel.what.number | marks};
}

// Returns the first byte behind them.
std::byte* write_head(std::byte* target, const parcel_header& header, const outgoing& parcel) noexcept {
  std::memcpy(target, &header, sizeof header);
  target += sizeof header;
  if (parcel.has_call) {
    std::memcpy(target, &parcel.call, sizeof parcel.call);
    target += sizeof parcel.call;
  }
  if (parcel.trace != 0) [[unlikely]] {
    std::memcpy(target, &parcel.trace, sizeof parcel.trace);
    target += sizeof parcel.trace;
  }
  return target;
}

}  // namespace

void parcel_queue::append(const void* bytes, std::size_t count) {
  const auto* const first = static_cast<const std::byte*>(bytes);
  m_message.insert(m_message.end(), first, first + count);
}

void parcel_queue::define(const action& what) {
  if (what.number < m_is_defined.size() && m_is_defined[what.number]) [[likely]]
    return;
  if (m_parcels == 0) m_oldest = current_ticks();
  const parcel_header header{sizeof(action_definition), definition_action};
  const action_definition definition{what.number, 0, what.portable_kind, what.portable_function, what.kind->signature};
  append(&header, sizeof header);
  append(&definition, sizeof definition);
  m_parcels += 1;
  m_definitions += 1;
  if (m_is_defined.size() <= what.number) m_is_defined.resize(what.number + 1);
  m_is_defined[what.number] = true;
}

void parcel_queue::expect_first(const parcel_adder& adder, base::ticks current_time, double ns_per_tick,
                                std::uint64_t message_ns) {
  const bool has_looked = adder.identity != m_last.identity || adder.looks != m_last.looks;
  const double gap_ns = static_cast<double>(current_time - m_last_event) * ns_per_tick;
  m_forecast.first_added(static_cast<std::uint64_t>(gap_ns), has_looked, message_ns);
  m_last_event = current_time;
  m_oldest = current_time;
}

void parcel_queue::learn(base::ticks current_time, double ns_per_tick, flush_reason why) noexcept {
  const base::ticks end = awaited_since != 0 ? awaited_since : current_time;
  const double gap_ns = static_cast<double>(end - m_oldest) * ns_per_tick / (std::max(parcels(), 2u) - 1);
  if (parcels() == 0) return;
  m_forecast.sent(parcels(), static_cast<std::uint64_t>(gap_ns), why);
  const bool has_filled = why == flush_reason::count || why == flush_reason::batch || why == flush_reason::full;
  if (parcels() < least_parcels_timed || !has_filled) return;
  const auto mean = static_cast<double>(m_parcel_ns);
  m_parcel_ns = static_cast<std::uint64_t>(std::clamp(mean + (gap_ns - mean) / 8, 10.0, 10'000.0));
}

void parcel_queue::add(const outgoing& parcel, const parcel_adder& adder) {
  define(parcel.what);
  const parcel_header header = header_of(parcel);
  const std::size_t position = m_message.size();
  m_message.resize(position + sizeof header + header.bytes);
  std::byte* const target = write_head(m_message.data() + position, header, parcel);
  if (!parcel.arguments.empty()) std::memcpy(target, parcel.arguments.data(), parcel.arguments.size());
  if (parcel.trace != 0) [[unlikely]]
    m_traced.push_back(parcel.trace);
  m_parcels += 1;
  m_last = adder;
  awaited_since = 0;
}

bytes_view parcel_queue::message(std::uint64_t handled) noexcept {
  const message_header header{message_header::content::whole, 0, m_parcels, handled};
  std::memcpy(m_message.data(), &header, sizeof header);
  return m_message;
}

std::vector<std::byte> parcel_queue::take_message(std::uint64_t handled) {
  static_cast<void>(message(handled));
  std::vector<std::byte> result = std::move(m_message);
  m_message.clear();
  clear();
  return result;
}

void parcel_queue::clear() noexcept {
  m_message.resize(sizeof(message_header));
  m_parcels = m_definitions = 0;
  m_traced.clear();
  awaited_since = 0;
}

std::vector<std::byte> head_of(const outgoing& parcel) {
  const parcel_header header = header_of(parcel);
  std::vector<std::byte> head(sizeof header + bytes_of_numbers(parcel));
  write_head(head.data(), header, parcel);
  return head;
}

}  // namespace trimtab::parcels
