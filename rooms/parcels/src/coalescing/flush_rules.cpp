#include "trimtab/parcels/coalescing/flush_rules.hpp"

#include <algorithm>

namespace trimtab::parcels {

namespace {

// Another worker that is idle does not take parcels away from one that is just queueing more: sending them costs both.
constexpr std::uint64_t least_foreign_age_ns = 2000;

flush_reason strict_reason(const queue_state& queue, const coalescing& settings, occasion why) noexcept {
  if (queue.parcels >= settings.count) return flush_reason::count;
  if (settings.wait_us != 0 && queue.age_ns >= settings.wait_us * std::uint64_t{1000}) return flush_reason::time;
  if (settings.sends_before_waiting && (why == occasion::own_idle || why == occasion::own_leaves))
    return flush_reason::sender_waits;
  return flush_reason::none;
}

flush_reason adaptive_reason(const queue_state& queue, const coalescing& settings, occasion why) noexcept {
  const bool has_batch = queue.parcels >= queue.batch, has_room = queue.under_way < settings.most_under_way;
  if (why == occasion::own_leaves || (why == occasion::own_idle && has_room)) return flush_reason::sender_waits;
  if (why == occasion::acknowledged && queue.is_awaited && has_room) return flush_reason::sender_waits;
  const bool waits_for_more = queue.is_burst && !has_batch && (why == occasion::added || why == occasion::other_idle);
  if (queue.under_way == 0 && !waits_for_more) return flush_reason::handled;
  if (why == occasion::added && has_batch && has_room) return flush_reason::batch;
  if ((why == occasion::other_idle || why == occasion::own_idle || why == occasion::time) &&
      queue.age_ns >= std::max(queue.message_ns, least_foreign_age_ns))
    return flush_reason::age;
  return flush_reason::none;
}

}  // namespace

const char* text_of(flush_reason reason) noexcept {
  constexpr const char* texts[flush_reasons] = {"none",    "count",        "batch", "time", "full",
                                                "handled", "sender waits", "age",   "asked"};
  return texts[static_cast<std::size_t>(reason)];
}

std::uint32_t batch_of(const coalescing& settings, std::uint64_t message_ns, std::uint64_t parcel_ns) noexcept {
  if (settings.batch != 0) return settings.batch;
  const std::uint64_t cost = std::max<std::uint64_t>(parcel_ns, 1) * std::max(settings.message_share, 1u);
  const std::uint64_t parcels = 100 * message_ns / cost;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(parcels, 1, 1 << 20));
}

flush_reason must_flush(const queue_state& queue, const coalescing& settings, occasion why) noexcept {
  if (queue.parcels == 0) return flush_reason::none;
  if (queue.bytes >= settings.most_bytes) return flush_reason::full;
  return settings.rules == coalescing::way::strict ? strict_reason(queue, settings, why)
                                                   : adaptive_reason(queue, settings, why);
}

}  // namespace trimtab::parcels
