#include "trimtab/parcels/coalescing/outbox.hpp"

#include <trimtab.h>

#include <algorithm>

#include "trimtab/parcels/coalescing/clock.hpp"
#include "trimtab/tasks/core/asymmetric_fence.hpp"
#include "trimtab/tasks/core/recording.hpp"

namespace trimtab::parcels {

namespace {

// What a parcel may take in a queue besides its arguments.
constexpr std::size_t most_parcel_overhead = 2 * sizeof(parcel_header) + most_parcel_numbers + sizeof(action_definition);

constexpr std::size_t most_short_bytes = 512;

// Traces have the same numbers.
static_assert(static_cast<int>(flush_reason::none) == TRIMTAB_LEFT_NONE);
static_assert(static_cast<int>(flush_reason::count) == TRIMTAB_LEFT_COUNT);
static_assert(static_cast<int>(flush_reason::batch) == TRIMTAB_LEFT_BATCH);
static_assert(static_cast<int>(flush_reason::time) == TRIMTAB_LEFT_TIME);
static_assert(static_cast<int>(flush_reason::full) == TRIMTAB_LEFT_FULL);
static_assert(static_cast<int>(flush_reason::handled) == TRIMTAB_LEFT_HANDLED);
static_assert(static_cast<int>(flush_reason::sender_waits) == TRIMTAB_LEFT_SENDER_WAITS);
static_assert(static_cast<int>(flush_reason::age) == TRIMTAB_LEFT_AGE);
static_assert(static_cast<int>(flush_reason::asked) == TRIMTAB_LEFT_ASKED);

// Shorter times between two parcels are none that their sender computes in.
constexpr std::uint64_t least_pause_ns = 1'000;
// Of a queue with many parcels, the clock is read at one in so many.
constexpr std::uint32_t clock_reads = 8;
bool may_be_paced(const parcel_queue& queue) noexcept {
  return queue.parcels() <= clock_reads || queue.parcels() % clock_reads == 0;
}

}  // namespace

outbox::outbox(transport& link, locality_number to, double ns_per_tick, const coalescing& standard)
    : m_link(link), m_to(to), m_ns_per_tick(ns_per_tick) {
  m_standard.fill(standard);
}

std::uint64_t outbox::ns_between(base::ticks begin, base::ticks end) const noexcept {
  return static_cast<std::uint64_t>(static_cast<double>(end - begin) * m_ns_per_tick);
}

outbox::own_queue* outbox::own_queue_of(const action& what) {
  if (!what.is_apart.load(std::memory_order_acquire)) return nullptr;
  if (m_own.size() <= what.number) m_own.resize(what.number + 1);
  auto& own = m_own[what.number];
  if (own == nullptr) {
    own = std::make_unique<own_queue>();
    own->settings = what.settings();
  }
  const std::uint32_t changes = what.changes.load(std::memory_order_acquire);
  if (own->changes != changes) {
    own->settings = what.settings();
    own->changes = changes;
  }
  return own.get();
}

flush_reason outbox::reason_for(const parcel_queue& queue, const coalescing& settings, occasion why, bool is_burst) const {
  const bool reads_age = why != occasion::added || longest_wait_ns(settings) != 0;
  queue_state state;
  state.parcels = queue.parcels();
  state.bytes = queue.bytes();
  state.age_ns = reads_age && !queue.is_empty() ? ns_between(queue.oldest(), current_ticks()) : 0;
  state.is_awaited = queue.awaited_since != 0;
  state.under_way = m_sent.load(std::memory_order_relaxed) - m_handled.load(std::memory_order_acquire) + m_waiting.size();
  state.batch = queue.batch;
  state.is_burst = is_burst;
  state.message_ns = message_ns();
  return must_flush(state, settings, why);
}

template <class function>
void outbox::for_each_queue(function&& call) {
  call(m_shared, settings_of(nullptr));
  for (const auto& own : m_own)
    if (own != nullptr) call(own->queue, own->settings);
}

void outbox::pend(std::int32_t change) noexcept {
  // Release: who sees that nothing is pending sees what was sent. Written under the lock.
  m_pending.store(m_pending.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(change), std::memory_order_release);
}

outbox::added outbox::add(const outgoing& parcel, const parcel_adder& adder, const std::atomic<bool>& looks_soon) {
  const guard lock(m_lock);
  if (m_is_closed) return {};
  own_queue* const own = own_queue_of(parcel.what);
  parcel_queue& queue = own != nullptr ? own->queue : m_shared;
  const std::size_t most_added = parcel.arguments.size() + most_parcel_overhead;
  if (queue.bytes() + most_added > m_link.largest_message()) send(queue, flush_reason::full);
  const bool is_first = queue.is_empty();
  base::ticks current_time = 0;
  if (is_first) {
    pend(1);
    current_time = current_ticks();
    queue.expect_first(adder, current_time, m_ns_per_tick, message_ns());
    queue.traffic_kind = traffic_kind_of(queue.forecast().burst_parcels());
    queue.batch = batch_of(settings_of(own), m_short_message_ns, queue.parcel_ns());
    // Pairs with exchange::on_message: it notes what was handled, and then looks whether parcels are pending. And with
    // exchange::rest, for looks_soon.
    tasks::full_fence();
  }
  queue.add(parcel, adder);
  count_parcel(parcel.what, parcel.arguments.size(), queue.traffic_kind);
  const coalescing& settings = settings_of(own);
  const bool is_burst = looks_soon.load(std::memory_order_relaxed) && queue.forecast().is_expected();
  const flush_reason why = reason_for(queue, settings, occasion::added, is_burst);
  const bool is_adaptive = settings.rules == coalescing::way::adaptive;
  if (!is_first && (why != flush_reason::none || (is_adaptive && !is_burst && may_be_paced(queue))))
    current_time = current_ticks();
  bool is_sent = false;
  if (why != flush_reason::none) {
    const std::uint64_t send_ticks = m_messages.send_ticks.get();
    is_sent = send(queue, why, current_time);
    count_adder(m_messages.send_ticks.get() - send_ticks, adder.is_task);
  }
  // Who sends one now and then has to look whether what was sent before has been handled; not who sends one at once after
  // the other.
  if (!is_first && why == flush_reason::none && current_time != 0 &&
      ns_between(queue.oldest(), current_time) < queue.parcels() * least_pause_ns)
    current_time = 0;
  const bool waits_alone = is_first && !queue.is_empty();
  return {m_waiting_bytes <= limit,
          is_sent,
          is_first,
          is_burst && is_adaptive,
          waits_alone ? longest_wait_ns(settings) : 0,
          current_time};
}

void outbox::count_adder(std::uint64_t send_ticks, bool is_task) noexcept {
  m_messages.adder_send_ticks.add(send_ticks);
  if (is_task) m_messages.task_send_ticks.add(send_ticks);
}

bool outbox::add_long(const outgoing& parcel, long_arguments&& arguments, bool is_task) {
  const guard lock(m_lock);
  if (m_is_closed) return true;
  own_queue* const own = own_queue_of(parcel.what);
  parcel_queue& queue = own != nullptr ? own->queue : m_shared;
  const bool was_empty = queue.is_empty();
  queue.define(parcel.what);
  if (was_empty && !queue.is_empty()) pend(1);
  if (!queue.is_empty()) send(queue, flush_reason::full);
  waiting_message waiting{head_of(parcel), std::move(arguments)};
  std::size_t bytes = 0;
  for (const bytes_view part : waiting.arguments.parts) bytes += part.size();
  waiting.total = waiting.head.size() + bytes;
  if (parcel.trace != 0) [[unlikely]]
    waiting.traced.push_back(parcel.trace);
  count_parcel(parcel.what, bytes, queue.traffic_kind);
  m_waiting_bytes += waiting.total;
  m_waiting.push_back(std::move(waiting));
  pend(1);
  const std::uint64_t send_ticks = m_messages.send_ticks.get();
  send_waiting();
  count_adder(m_messages.send_ticks.get() - send_ticks, is_task);
  return m_waiting_bytes <= limit;
}

std::uint32_t outbox::look(occasion why, std::uint64_t looker) {
  if (!has_parcels()) return 0;
  const guard lock(m_lock);
  std::uint32_t messages = send_waiting();
  for_each_queue([&](parcel_queue& queue, const coalescing& settings) {
    if (queue.is_empty()) return;
    const bool is_own = why == occasion::own_idle || why == occasion::own_leaves;
    const occasion seen = is_own && queue.last_adder() != looker ? occasion::other_idle : why;
    const flush_reason reason = reason_for(queue, settings, seen, queue.forecast().is_expected());
    if (reason != flush_reason::none)
      messages += send(queue, reason);
    else if (seen == occasion::own_idle && queue.awaited_since == 0)
      queue.awaited_since = current_ticks();
  });
  return messages;
}

std::uint32_t outbox::flush(flush_reason why) {
  if (!has_parcels()) return 0;
  const guard lock(m_lock);
  std::uint32_t messages = send_waiting();
  for_each_queue([&](parcel_queue& queue, const coalescing&) {
    if (!queue.is_empty()) messages += send(queue, why);
  });
  return messages;
}

bool outbox::acknowledge() {
  const guard lock(m_lock);
  if (!is_acknowledgement_due() || m_is_closed || !m_waiting.empty()) return false;
  const message_header header{message_header::content::whole, 0, 0, m_received.load(std::memory_order_acquire)};
  if (m_link.try_send(m_to, std::as_bytes(std::span(&header, 1))) != send_status::sent) return false;
  m_acknowledged.store(header.handled, std::memory_order_release);
  m_messages.bare_acknowledgements.add();
  return true;
}

void outbox::note_handled(std::uint64_t messages) noexcept {
  // Release: who finds everything handled sees what that brought.
  if (messages > m_handled.load(std::memory_order_relaxed)) m_handled.store(messages, std::memory_order_release);
}

std::uint64_t outbox::ns_to_deadline() const {
  constexpr std::uint64_t never = ~std::uint64_t{0};
  if (!has_parcels()) return never;
  const guard lock(m_lock);
  std::uint64_t result = never;
  const_cast<outbox&>(*this).for_each_queue([&](const parcel_queue& queue, const coalescing& settings) {
    if (queue.is_empty()) return;
    const std::uint64_t longest =
        settings.rules == coalescing::way::adaptive ? longest_forecast_ns : longest_wait_ns(settings);
    if (longest == 0) return;
    const std::uint64_t age = ns_between(queue.oldest(), current_ticks());
    const bool must_look = settings.rules == coalescing::way::strict;
    result = std::min(result, age < longest ? longest - age : must_look ? 0 : longest);
  });
  return result;
}

void outbox::close() {
  const guard lock(m_lock);
  m_is_closed = true;
  m_waiting.clear();
  m_waiting_bytes = 0;
  for_each_queue([](parcel_queue& queue, const coalescing&) { queue.clear(); });
  m_acknowledged.store(m_received.load(std::memory_order_relaxed), std::memory_order_relaxed);
  m_pending.store(0, std::memory_order_release);
}

void outbox::set_standard(const coalescing& settings) {
  const guard lock(m_lock);
  m_standard.fill(settings);
}

void outbox::set_standard(std::uint32_t traffic_kind, const coalescing& settings) {
  const guard lock(m_lock);
  m_standard.at(traffic_kind) = settings;
}

coalescing outbox::standard() const {
  const guard lock(m_lock);
  return settings_of(nullptr);
}

const parcel_flow* outbox::parcels_of(std::uint32_t action) const noexcept {
  const guard lock(m_lock);
  return action < m_parcels.size() ? m_parcels[action].get() : nullptr;
}

void outbox::count_parcel(const action& what, std::size_t bytes, std::uint32_t traffic_kind) {
  if (m_parcels.size() <= what.number) m_parcels.resize(what.number + 1);
  auto& flow = m_parcels[what.number];
  if (flow == nullptr) flow = std::make_unique<parcel_flow>();
  if (!what.kind->is_internal) {
    m_program_parcels.add();
    m_parcels_of_kind[traffic_kind].add();
  }
  flow->parcels.add();
  flow->bytes.add(bytes);
  flow->sizes.add(bytes);
}

void outbox::count_message(std::size_t bytes, base::ticks took) {
  m_messages.messages.add();
  m_messages.bytes.add(bytes);
  m_messages.sizes.add(bytes);
  m_messages.send_ticks.add(took);
  // What the receiver spends is about as much. Averaged over some sixteen messages; one that was interrupted counts little.
  const double ns = std::min(2 * static_cast<double>(took) * m_ns_per_tick, 100'000.0);
  const auto averaged = [ns](std::uint64_t mean) {
    return static_cast<std::uint64_t>(static_cast<double>(mean) + (ns - static_cast<double>(mean)) / 16);
  };
  m_message_ns.store(averaged(message_ns()), std::memory_order_relaxed);
  if (bytes <= most_short_bytes) m_short_message_ns = averaged(m_short_message_ns);
}

send_status outbox::try_send(std::span<const bytes_view> parts, base::ticks& current_time) {
  const base::ticks begin = current_time;
  const send_status status = m_link.try_send(m_to, parts);
  current_time = current_ticks();
  if (status != send_status::sent) return status;
  m_sent.store(m_sent.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  std::size_t bytes = 0;
  for (const bytes_view part : parts) bytes += part.size();
  count_message(bytes, current_time - begin);
  return status;
}

// The last message that was sent has these parcels. begin: when it was handed to the transport.
void outbox::note_left(std::span<const std::uint64_t> traced, std::uint32_t why, base::ticks begin) const noexcept {
  if (traced.empty() || is_simulated()) [[likely]]
    return;
  tasks::recording::parcels_left(traced, why, m_sent.load(std::memory_order_relaxed), begin);
}

bool outbox::send(parcel_queue& queue, flush_reason why) {
  base::ticks current_time = current_ticks();
  return send(queue, why, current_time);
}

// False: nothing was sent now.
bool outbox::send(parcel_queue& queue, flush_reason why, base::ticks& current_time) {
  const std::uint64_t received = m_received.load(std::memory_order_acquire);
  m_flushes[static_cast<std::size_t>(why)].add();
  queue.learn(current_time, m_ns_per_tick, why);
  m_messages.ages.add(ns_between(queue.oldest(), current_time));
  if (queue.awaited_since != 0) m_messages.queued_wait_ticks.add(current_time - queue.awaited_since);
  bool is_sent = false;
  if (m_waiting.empty()) {
    const bytes_view message = queue.message(received);
    const base::ticks begin = current_time;
    const send_status status = try_send({&message, 1}, current_time);
    is_sent = status == send_status::sent;
    if (is_sent) {
      m_acknowledged.store(received, std::memory_order_release);
      note_left(queue.traced(), static_cast<std::uint32_t>(why), begin);
    }
    if (status != send_status::no_room) queue.clear();
    queue.note_sent(current_time);
  }
  // What was in the queue and now waits for room is pending all the time: who looks without the lock must not find nothing.
  if (queue.is_empty()) {
    pend(-1);
  } else {
    m_waiting_bytes += queue.bytes();
    std::vector<std::uint64_t> traced = queue.traced();
    m_waiting.push_back({queue.take_message(received), {}, 0, 0, std::move(traced)});
  }
  return is_sent;
}

// True: something was sent.
bool outbox::send_waiting() {
  bool is_any_sent = false;
  while (!m_waiting.empty()) {
    waiting_message& first = m_waiting.front();
    base::ticks current_time = current_ticks();
    const base::ticks begin = current_time;
    send_status status;
    if (first.total != 0) {
      status = send_fragment(first, current_time);
    } else {
      const bytes_view message = first.head;
      status = try_send({&message, 1}, current_time);
    }
    if (status == send_status::no_room) break;
    is_any_sent |= status == send_status::sent;
    if (status == send_status::sent) {
      note_left(first.traced, first.total != 0 ? TRIMTAB_LEFT_NONE : TRIMTAB_LEFT_ROOM, begin);
      first.traced.clear();
    }
    if (status == send_status::sent && first.sent < first.total) continue;
    m_waiting_bytes -= first.total != 0 ? first.total : first.head.size();
    m_waiting.pop_front();
    pend(-1);
  }
  return is_any_sent;
}

namespace {

// Adds the part of `source` that lies from `begin` to `end`, both counted from `offset`, where the source begins.
void add_part_between(std::vector<bytes_view>& parts, bytes_view source, std::uint64_t offset, std::uint64_t begin,
                      std::uint64_t end) {
  const std::uint64_t first = std::max(begin, offset), last = std::min(end, offset + source.size());
  if (first < last) parts.push_back(source.subspan(first - offset, last - first));
}

}  // namespace

send_status outbox::send_fragment(waiting_message& parcel, base::ticks& current_time) {
  const struct {
    message_header header;
    fragment_header fragment;
  } head{{message_header::content::fragment, 0, 1, m_received.load(std::memory_order_acquire)}, {parcel.total, parcel.sent}};
  const std::uint64_t begin = parcel.sent, end = std::min(parcel.total, begin + m_link.largest_message() - sizeof head);
  std::vector<bytes_view> parts{std::as_bytes(std::span(&head, 1))};
  std::uint64_t offset = 0;
  add_part_between(parts, parcel.head, offset, begin, end);
  offset += parcel.head.size();
  for (const bytes_view source : parcel.arguments.parts) {
    add_part_between(parts, source, offset, begin, end);
    offset += source.size();
  }
  const send_status status = try_send(parts, current_time);
  if (status != send_status::sent) return status;
  m_acknowledged.store(head.header.handled, std::memory_order_release);
  parcel.sent = end;
  return status;
}

}  // namespace trimtab::parcels
