// When parcels that wait in a queue are sent as one message: pure rules, without a clock or a queue.
//
// Two ways. Strict, as published for HPX (Wagle, Kellar, Serio, Kaiser, "Methodology for adaptive active message coalescing
// in task based runtime systems", IPDPSW 2018): when the queue holds `count` parcels or after `wait`. Adaptive, the default
// here:
//
//   The queue never waits for a time. A parcel is sent at once while the receiver has handled everything that was sent
//   before, unless experience says that more parcels follow at once. Otherwise it waits until the receiver says that it has
//   handled everything, until the sender has nothing else to do, or until the queue is full.
//
// So a queue that holds parcels has a message under way whose acknowledgement will come, or a sender that is about to add
// more or to look; and batches are as long as the receiver and the network are slow (compare Nagle, RFC 896, and "smart
// batching").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace trimtab::parcels {

// How the parcels of one action, or all that have no settings of their own, are coalesced.
struct coalescing {
  enum class way : std::uint8_t { adaptive, strict };
  way rules = way::adaptive;
  // Strict.
  std::uint32_t count = 1;            // parcels, 1 or more; 1: each is a message
  std::uint32_t wait_us = 0;          // after the oldest parcel was queued; 0: without limit
  bool sends_before_waiting = false;  // also when a worker is about to wait
  // Adaptive: within a burst, so many parcels are sent together although the receiver has handled everything; 1: bursts are
  // not expected.
  std::uint32_t burst_parcels = 64;
  std::uint32_t most_bytes = 8 << 10;  // a full queue; both ways

  bool operator==(const coalescing&) const = default;
};

enum class flush_reason : std::uint8_t {
  none,          // it goes on waiting
  count,         // strict: as many parcels as it may hold
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
  bool is_all_handled = false;   // by the receiver: every message that was sent before
  std::uint64_t message_ns = 0;  // what one message costs sender and receiver together
};

// Why somebody looks at the queue.
enum class occasion : std::uint8_t {
  added,         // a parcel has just been queued
  acknowledged,  // the receiver has said what it has handled
  own_idle,      // who queued the last parcel finds nothing to do, or is about to wait
  other_idle,    // another one finds nothing to do
  time,          // now and then
};

flush_reason must_flush(const queue_state& queue, const coalescing& settings, occasion why) noexcept;

// When it must be sent at the latest, in ns after its oldest parcel was queued; 0: there is no such time.
inline std::uint64_t longest_wait_ns(const coalescing& settings) noexcept {
  return settings.rules == coalescing::way::strict ? settings.wait_us * std::uint64_t{1000} : 0;
}

// Whether the parcel that comes into an empty queue is followed by others before its sender looks up: learned from what has
// followed earlier ones. A wrong forecast makes one parcel late, so it is not made again for a while.
class burst_forecast {
 public:
  bool is_expected() const noexcept { return m_score > 0; }
  // A parcel came into the empty queue, `gap_ns` after the last one, and the sender has (not) looked for other work in
  // between.
  void first_added(std::uint64_t gap_ns, bool has_looked, std::uint64_t message_ns) noexcept {
    if (!has_looked) learn(gap_ns <= std::min(message_ns, longest_gap_ns));
  }
  // The queue was sent for this reason, while a burst was expected.
  void sent(std::uint32_t parcels, flush_reason why) noexcept {
    if (why == flush_reason::age && parcels <= 1)
      m_score = -patience;
    else if (why == flush_reason::sender_waits)
      learn(parcels > 1);
  }

 private:
  static constexpr std::int32_t most = 8, patience = 64;
  static constexpr std::uint64_t longest_gap_ns = 1'000;
  void learn(bool has_followed) noexcept {
    if (has_followed)
      m_score += m_score < most;
    else
      m_score -= m_score > -most;
  }
  std::int32_t m_score = 0;
};

}  // namespace trimtab::parcels
