// When parcels that wait in a queue are sent as one message: pure rules, without a clock or a queue.
//
// Two ways. Strict, as published for HPX (Wagle, Kellar, Serio, Kaiser, "Methodology for adaptive active message coalescing
// in task based runtime systems", IPDPSW 2018): when the queue holds `count` parcels or after `wait`. Adaptive, the default
// here:
//
//   The queue never waits for a time. A parcel is sent at once while the receiver has handled everything that was sent
//   before, unless experience says that more parcels follow at once. Otherwise it waits until the receiver says that it has
//   handled everything, until the sender has nothing else to do, or until the queue holds a batch. At most two messages are
//   under way, one that the receiver handles and one that it finds then, unless a queue is full.
//
// So a queue that holds parcels has a message under way whose acknowledgement will come, or a sender that is about to add
// more or to look; and batches are as long as the receiver and the network are slow (compare Nagle, RFC 896, and "smart
// batching"). A batch has so many parcels that the message's cost is a small share of theirs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace trimtab::parcels {

// How the parcels of one action, or all that have no settings of their own, are coalesced.
struct coalescing {
  enum class way : std::uint8_t { adaptive, strict };
  way rules = way::adaptive;
  // Strict.
  std::uint32_t count = 1;            // parcels, 1 or more; 1: each is a message
  std::uint32_t wait_us = 0;          // after the oldest parcel was queued; 0: without limit
  bool sends_before_waiting = false;  // also when a worker is about to wait
  // Adaptive: parcels of a batch; 0: so many that a message costs message_share of what queueing them costs, in percent.
  std::uint32_t batch = 0;
  std::uint32_t message_share = 8;     // above 0
  std::uint32_t most_under_way = 2;    // adaptive: messages that the receiver has not handled, 1 or more
  std::uint32_t most_bytes = 8 << 10;  // a full queue; both ways

  bool operator==(const coalescing&) const = default;
};

enum class flush_reason : std::uint8_t {
  none,          // it goes on waiting
  count,         // strict: as many parcels as it may hold
  batch,         // adaptive: as many as make up for a message
  time,          // strict: the oldest has waited long enough
  full,          // as many bytes as it may hold
  handled,       // the receiver has handled everything that was sent before
  sender_waits,  // who queued the last parcel has nothing else to do
  age,           // somebody has nothing else to do, and the parcels have waited longer than a message costs
  asked,         // the program has asked, or the job ends
};
inline constexpr std::size_t flush_reasons = static_cast<std::size_t>(flush_reason::asked) + 1;
const char* text_of(flush_reason reason) noexcept;

// What is known of a queue that holds parcels.
struct queue_state {
  std::uint32_t parcels = 0;
  std::size_t bytes = 0;
  std::uint64_t age_ns = 0;      // of the oldest parcel
  bool is_burst = false;         // more parcels are expected at once (burst_forecast)
  bool is_awaited = false;       // who queued the last parcel has found nothing else to do
  std::uint64_t under_way = 0;   // messages that the receiver has not handled, as far as is known
  std::uint32_t batch = 1;       // parcels (batch_of)
  std::uint64_t message_ns = 0;  // what one message costs sender and receiver together
};

// Why somebody looks at the queue.
enum class occasion : std::uint8_t {
  added,         // a parcel has just been queued
  acknowledged,  // the receiver has said what it has handled
  own_idle,      // who queued the last parcel finds nothing to do, or is about to wait; it will look again at once
  own_leaves,    // who queued the last parcel looks up from its work for a moment, or is about to sleep
  other_idle,    // another one finds nothing to do
  time,          // now and then
};

// So many parcels make a batch: a message that costs message_ns, and parcels that cost parcel_ns each to queue.
std::uint32_t batch_of(const coalescing& settings, std::uint64_t message_ns, std::uint64_t parcel_ns) noexcept;

flush_reason must_flush(const queue_state& queue, const coalescing& settings, occasion why) noexcept;

// When it must be sent at the latest, in ns after its oldest parcel was queued; 0: there is no such time.
inline std::uint64_t longest_wait_ns(const coalescing& settings) noexcept {
  return settings.rules == coalescing::way::strict ? settings.wait_us * std::uint64_t{1000} : 0;
}

// Kinds of traffic, which may each be coalesced by settings of their own: by how many parcels a sender queues between two
// looks. Wide classes, because smaller batches also make a sender look more often.
inline constexpr std::uint32_t least_bursts[] = {1, 2, 64, 2048};
inline constexpr auto traffic_kinds = static_cast<std::uint32_t>(std::size(least_bursts));
constexpr std::uint32_t traffic_kind_of(std::uint32_t burst_parcels) noexcept {
  std::uint32_t kind = traffic_kinds - 1;
  while (kind > 0 && burst_parcels < least_bursts[kind]) --kind;
  return kind;
}

// Adaptive: somebody looks within that time at parcels that wait for others.
inline constexpr std::uint64_t longest_forecast_ns = 250'000;

// Whether the parcel that comes into an empty queue is followed by others before its sender looks up: learned from what has
// followed earlier ones. A wrong forecast makes one parcel late, so it is not made again for a while.
class burst_forecast {
 public:
  bool is_expected() const noexcept { return m_score > 0; }
  // Parcels that a sender queues between two looks, in the mean of some four bursts; at least 1.
  std::uint32_t burst_parcels() const noexcept { return std::max((m_sixteenths + 8) / 16, std::max(m_parcels, 1u)); }
  // A parcel came into the empty queue, `gap_ns` after the last one or after the last message was sent, and the sender has
  // (not) looked for other work in between.
  void first_added(std::uint64_t gap_ns, bool has_looked, std::uint64_t message_ns) noexcept {
    if (!has_looked && gap_ns <= std::min(message_ns, longest_gap_ns)) return;
    if (m_parcels != 0) {
      learn(m_parcels > 1);
      m_sixteenths = m_sixteenths - m_sixteenths / 4 + 4 * std::min(m_parcels, most_parcels);
    }
    m_parcels = 0;
  }
  // The queue was sent for this reason. gap_ns: between its parcels, and with one between it and the sending.
  void sent(std::uint32_t parcels, std::uint64_t gap_ns, flush_reason why) noexcept {
    const bool has_waited_for_nothing = why == flush_reason::age || why == flush_reason::sender_waits;
    if (gap_ns <= longest_gap_ns)
      m_parcels += parcels;
    else if (m_parcels == 0 && has_waited_for_nothing)
      m_parcels = 1;
    if (gap_ns > longest_gap_ns && why == flush_reason::age && is_expected()) m_score = -patience;
  }

 private:
  static constexpr std::int32_t most = 8, followed = 3, patience = 64;
  static constexpr std::uint64_t longest_gap_ns = 1'000;
  static constexpr std::uint32_t most_parcels = 1 << 20;
  // To wait for nothing costs little where the sender soon has nothing else to do; a message more costs both.
  void learn(bool has_followed) noexcept {
    m_score = has_followed ? std::min(m_score + followed, most) : std::max(m_score - 1, std::min(m_score, -most));
  }
  std::uint32_t m_parcels = 0;      // since the sender looked last
  std::uint32_t m_sixteenths = 16;  // of parcels a burst
  std::int32_t m_score = 0;
};

}  // namespace trimtab::parcels
