#include "trimtab/parcels/coalescing/exchange.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>

#include "trimtab/parcels/coalescing/clock.hpp"
#include "trimtab/tasks/core/asymmetric_fence.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::parcels {

namespace {

constexpr std::size_t messages_per_pass = 16;
// How long the own thread naps while others look after the messages: it comes back when they have all become busy. It sleeps
// no longer while parcels are being sent, so that these may wait for each other.
constexpr std::uint64_t nap_ns = longest_forecast_ns;
// Who sends and has not looked for so long looks once.
constexpr std::uint64_t look_ns = 5'000;
// An acknowledgement waits so long for a parcel that takes it along.
constexpr std::uint64_t most_acknowledgement_delay_ns = 1'000;
constexpr std::uint64_t looks_per_yield = 64;
constexpr std::uint64_t longest_watch_sleep_ns = 1'000'000'000;

std::atomic<std::uint64_t> exchanges_made{0};

// Whose counts the calling thread has at hand: an exchange's identity, not its address, which a later one may have again.
constinit thread_local std::uint64_t counts_owner = 0;
// As which thread the calling one acts in a simulation; 0: as itself.
constinit thread_local std::int64_t acting_thread = 0;

bool runs_in_task() noexcept { return tasks::worker::current() != nullptr; }

}  // namespace

exchange::exchange(std::unique_ptr<transport> link, parcel_sink& sink, double ns_per_tick, const coalescing& standard,
                   std::size_t most_parcel_bytes)
    : m_number(link->number()),
      m_link(std::move(link)),
      m_sink(sink),
      m_ns_per_tick(ns_per_tick),
      m_nap_ticks(static_cast<base::ticks>(static_cast<double>(nap_ns) / ns_per_tick)),
      m_look_ticks(static_cast<base::ticks>(static_cast<double>(look_ns) / ns_per_tick)),
      m_most_parcel_bytes(most_parcel_bytes),
      m_longest_queued(std::min(longest_queued_parcel, m_link->largest_message() / 4)),
      m_incoming(m_link->size()),
      m_work((m_link->size() + 63) / 64),
      m_identity(exchanges_made.fetch_add(1) + 1) {
  for (locality_number other = 0; other < m_link->size(); ++other) {
    m_outboxes.push_back(other == m_number ? nullptr : std::make_unique<outbox>(*m_link, other, ns_per_tick, standard));
    m_hosts.emplace_back(m_link->host_of(other));
    m_processes.push_back(m_link->process_of(other));
  }
}

exchange::~exchange() { abandon(); }

void exchange::open() noexcept { m_is_open.store(true, std::memory_order_release); }

void exchange::start() {
  open();
  m_thread = std::thread([this] { watch(); });
  pthread_setname_np(m_thread.native_handle(), "parcels");
}

void exchange::close() {
  m_is_ending.store(true, std::memory_order_seq_cst);
  m_is_open.store(false, std::memory_order_release);
  if (!m_thread.joinable()) return;
  m_naps.wake_all();
  m_link->wake();
  m_thread.join();
}

void exchange::stop() {
  close();
  for (const auto& box : m_outboxes)
    if (box != nullptr) box->close();
}

void exchange::abandon() {
  stop();
  // Who is receiving or waking now ends first; who comes later finds it closed.
  const std::lock_guard receiving(m_receiving);
  const std::lock_guard waking(m_waking);
  m_link.reset();
}

bool exchange::leave(std::uint64_t ns) {
  const std::uint64_t begin = current_monotonic_ns();
  const auto has_parcels = [&] {
    return std::any_of(m_outboxes.begin(), m_outboxes.end(), [](const auto& box) { return box && box->has_parcels(); });
  };
  while (has_parcels() && current_monotonic_ns() - begin < ns) {
    flush_all();
    if (!advance()) sched_yield();
  }
  const bool is_all_sent = !has_parcels();
  close();
  const std::uint64_t passed = current_monotonic_ns() - begin;
  const bool has_left = m_link->leave(passed < ns ? ns - passed : 0);
  stop();
  return has_left && is_all_sent;
}

exchange::thread_counts& exchange::counts_of(std::int64_t thread) {
  const std::lock_guard guard(m_threads_lock);
  const auto known =
      std::find_if(m_threads.begin(), m_threads.end(), [&](const auto& one) { return one->thread == thread; });
  if (known != m_threads.end()) return **known;
  m_threads.push_back(std::make_unique<thread_counts>());
  thread_counts& added = *m_threads.back();
  added.thread = thread;
  added.identity = m_threads.size();
  return added;
}

void exchange::act_as(std::int64_t thread) noexcept {
  counts_owner = 0;
  acting_thread = thread;
}

exchange::thread_counts& exchange::own_counts() noexcept {
  static thread_local thread_counts* counts = nullptr;
  if (counts_owner != m_identity || counts == nullptr) [[unlikely]] {
    counts = &counts_of(acting_thread != 0 ? acting_thread : gettid());
    counts_owner = m_identity;
  }
  return *counts;
}

std::vector<const exchange::thread_counts*> exchange::threads() const {
  const std::lock_guard guard(m_threads_lock);
  std::vector<const thread_counts*> result;
  result.reserve(m_threads.size());
  for (const auto& one : m_threads) result.push_back(one.get());
  return result;
}

void exchange::set_work(locality_number other) noexcept {
  std::atomic<std::uint64_t>& word = m_work[other / 64];
  const std::uint64_t bit = std::uint64_t{1} << (other % 64);
  // Pairs with for_each_with_work, which clears the bit and then asks the outbox: either that finds the work, or this finds
  // the bit cleared.
  tasks::full_fence();
  if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_seq_cst);
}

// Calls call(locality, outbox) for those that may have something to do, and forgets those that have nothing.
template <class function>
void exchange::for_each_with_work(function&& call) {
  for (std::size_t index = 0; index < m_work.size(); ++index) {
    for (std::uint64_t left = m_work[index].load(std::memory_order_acquire); left != 0; left &= left - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(left));
      const auto other = static_cast<locality_number>(index * 64 + bit);
      call(other, *m_outboxes[other]);
      if (m_outboxes[other]->has_work()) continue;
      // Cleared before it is asked again: who gives it work sets the bit afterwards.
      m_work[index].fetch_and(~(std::uint64_t{1} << bit), std::memory_order_seq_cst);
      if (m_outboxes[other]->has_work()) set_work(other);
    }
  }
}

void exchange::announce_deadline(std::uint64_t ns) noexcept {
  // Pairs with rest(): either this sees until when the thread sleeps, or the thread sees the queue.
  tasks::full_fence();
  const std::uint64_t until = m_sleeps_until.load(std::memory_order_seq_cst);
  if (until == 0 || until <= current_monotonic_ns() + ns) return;
  m_naps.wake_all();
  const std::lock_guard guard(m_waking);
  if (m_link != nullptr) m_link->wake();
}

outbox::added exchange::add(locality_number other, const outgoing& parcel, const thread_counts& counts) {
  const outbox::added result = m_outboxes[other]->add(parcel, {counts.identity, counts.looks, runs_in_task()}, m_looks_soon);
  if (result.is_first) {
    set_work(other);
    if (!m_has_sent.load(std::memory_order_relaxed)) m_has_sent.store(true, std::memory_order_relaxed);
  }
  return result;
}

void exchange::send(locality_number other, const outgoing& parcel) {
  thread_counts& counts = own_counts();
  const outbox::added result = add(other, parcel, counts);
  // Who computes in between looks itself now and then: a parcel that waits may wait for an acknowledgement that has come
  // already.
  if ((!result.is_burst || result.is_sent) && result.at != 0 && result.at - counts.last_look > m_look_ticks)
    advance_within_send(counts.counts);
  if (result.deadline_ns != 0) announce_deadline(result.deadline_ns);
  if (!result.has_room) [[unlikely]]
    wait_for_room(other);
}

bool exchange::try_send(locality_number other, const outgoing& parcel) {
  if (m_outboxes[other]->is_overfull()) return false;
  const outbox::added result = add(other, parcel, own_counts());
  if (result.deadline_ns != 0) announce_deadline(result.deadline_ns);
  return true;
}

void exchange::advance_within_send(background_counts& counts) noexcept {
  const std::uint64_t before = counts.receive_ticks.get() + counts.send_ticks.get();
  advance(occasion::own_leaves);
  if (runs_in_task()) counts.within_send_ticks.add(counts.receive_ticks.get() + counts.send_ticks.get() - before);
}

// Who sends far more than can be received helps: its own messages may be what the other one waits for.
void exchange::wait_for_room(locality_number other) {
  while (m_is_open.load(std::memory_order_acquire) && m_outboxes[other]->is_overfull()) {
    if (!advance()) sched_yield();
    m_outboxes[other]->look(occasion::time);
  }
}

void exchange::send_long(locality_number other, const outgoing& parcel, long_arguments&& arguments) {
  std::size_t bytes = 0;
  for (const bytes_view part : arguments.parts) bytes += part.size();
  if (bytes > m_most_parcel_bytes)
    throw std::length_error("trimtab: a parcel of action " + parcel.what.name + " has " + std::to_string(bytes) +
                            " bytes, at most " + std::to_string(m_most_parcel_bytes) + " are allowed");
  const bool has_room = m_outboxes[other]->add_long(parcel, std::move(arguments), runs_in_task());
  set_work(other);
  if (!has_room) wait_for_room(other);
}

void exchange::set_standard(const coalescing& settings) {
  for (const auto& box : m_outboxes)
    if (box != nullptr) box->set_standard(settings);
}

void exchange::set_standard(std::uint32_t traffic_kind, const coalescing& settings) {
  for (const auto& box : m_outboxes)
    if (box != nullptr) box->set_standard(traffic_kind, settings);
}

void exchange::flush_all() {
  for (const auto& box : m_outboxes)
    if (box != nullptr) box->flush();
}

std::size_t exchange::receive(thread_counts& counts) noexcept {
  if (!m_receiving.try_lock()) return 0;
  const std::lock_guard guard(m_receiving, std::adopt_lock);
  if (!m_is_open.load(std::memory_order_acquire)) return 0;
  m_receiver = &counts;
  const base::ticks begin = current_ticks();
  const std::size_t messages = m_link->receive(*this, messages_per_pass);
  if (messages != 0) {
    counts.counts.receive_ticks.add(current_ticks() - begin);
    counts.counts.messages.add(messages);
  }
  return messages;
}

bool exchange::look_after(thread_counts& counts, occasion why, bool acknowledges_all) noexcept {
  const std::uint64_t self = counts.identity;
  std::uint32_t messages = 0;
  const base::ticks begin = current_ticks();
  for_each_with_work([&](locality_number other, outbox& box) {
    messages += box.look(why, self);
    const base::ticks since = m_incoming[other].unacknowledged_since.load(std::memory_order_relaxed);
    if (since == 0 || !box.is_acknowledgement_due()) return;
    const auto waited_ns = static_cast<double>(begin > since ? begin - since : 0) * m_ns_per_tick;
    const std::uint64_t delay_ns = std::min(box.message_ns(), most_acknowledgement_delay_ns);
    if (acknowledges_all || waited_ns >= static_cast<double>(delay_ns)) messages += box.acknowledge();
  });
  if (messages != 0) counts.counts.send_ticks.add(current_ticks() - begin);
  return messages != 0;
}

void exchange::note_look(base::ticks current_time) noexcept {
  // Not at every look: the line is shared by all who look.
  if (current_time - m_last_look.load(std::memory_order_relaxed) > m_nap_ticks / 16)
    m_last_look.store(current_time, std::memory_order_relaxed);
}

bool exchange::is_looked_after() const noexcept {
  return current_ticks() - m_last_look.load(std::memory_order_seq_cst) < m_nap_ticks;
}

bool exchange::advance() noexcept { return advance(occasion::own_idle); }

bool exchange::advance(occasion why) noexcept {
  if (!m_is_open.load(std::memory_order_acquire)) return false;
  thread_counts& counts = own_counts();
  if (why == occasion::own_idle) counts.looks += 1;
  counts.last_look = current_ticks();
  note_look(counts.last_look);
  if (receive(counts) != 0) return true;
  look_after(counts, why, false);
  // What it waits for may have to be done on this CPU, by a locality whose worker was put here, too: without this each of
  // the two would look in vain until it sleeps.
  if (why == occasion::own_idle && counts.looks % looks_per_yield == 0 && !is_simulated()) sched_yield();
  return false;
}

bool exchange::before_sleep() noexcept {
  if (!m_is_open.load(std::memory_order_acquire)) return false;
  thread_counts& counts = own_counts();
  if (receive(counts) != 0) return true;
  look_after(counts, occasion::own_leaves, true);
  // seq_cst, before the thread is woken: it then sees that nobody looks (or that another one has looked since).
  m_last_look.store(0, std::memory_order_seq_cst);
  m_naps.wake_all();
  return false;
}

std::uint64_t exchange::ns_to_deadline() const noexcept {
  std::uint64_t result = longest_watch_sleep_ns;
  for (const auto& box : m_outboxes)
    if (box != nullptr) result = std::min(result, box->ns_to_deadline());
  return result;
}

bool exchange::look_around(thread_counts& counts) noexcept {
  if (receive(counts) != 0) return true;
  look_after(counts, occasion::own_leaves, true);
  return false;
}

// Says until when the own thread rests. Returns for how many ns it may; 0: not at all.
std::uint64_t exchange::begin_rest(bool must_nap) noexcept {
  const bool has_sent = m_has_sent.exchange(false, std::memory_order_relaxed);
  const std::uint64_t ns = must_nap || has_sent ? nap_ns : longest_watch_sleep_ns;
  m_sleeps_until.store(current_monotonic_ns() + ns, std::memory_order_seq_cst);
  m_looks_soon.store(ns <= nap_ns, std::memory_order_relaxed);
  // Pairs with announce_deadline and outbox::add.
  tasks::full_fence();
  const std::uint64_t until_deadline = std::min(ns, ns_to_deadline());
  return m_is_ending.load(std::memory_order_seq_cst) ? 0 : until_deadline;
}

exchange::rest_plan exchange::look_as_own_thread() noexcept {
  m_sleeps_until.store(0, std::memory_order_relaxed);
  const bool must_nap = is_looked_after();
  if (!must_nap && look_around(own_counts())) return {false, 0};
  return {must_nap, begin_rest(must_nap)};
}

// Naps while others look after the messages, otherwise looks after them, and sleeps in the transport if there is nothing to
// do.
void exchange::rest(thread_counts& counts) noexcept {
  const std::uint32_t key = m_naps.prepare();
  const bool must_nap = is_looked_after();
  if (!must_nap) {
    m_naps.cancel();
    if (look_around(counts)) return;
  }
  const std::uint64_t ns = begin_rest(must_nap);
  if (must_nap && ns == 0)
    m_naps.cancel();
  else if (must_nap)
    m_naps.wait(key, ns);
  else if (ns != 0)
    m_link->wait(ns);
  m_sleeps_until.store(0, std::memory_order_relaxed);
}

void exchange::watch() noexcept {
  thread_counts& counts = own_counts();
  while (!m_is_ending.load(std::memory_order_seq_cst)) rest(counts);
}

void exchange::on_message(locality_number from, bytes_view bytes) noexcept {
  incoming& source = m_incoming[from];
  message_header header;
  if (source.is_gone) return;
  if (bytes.size() < sizeof header) return malformed(from, "a message shorter than its header");
  std::memcpy(&header, bytes.data(), sizeof header);
  outbox& box = *m_outboxes[from];
  box.note_handled(header.handled);
  // Pairs with outbox::add: either that finds that everything has been handled, or this finds its parcel.
  tasks::full_fence();
  m_receiver->counts.bytes.add(bytes.size());
  if (header.parcels != 0) {
    const bytes_view content = bytes.subspan(sizeof header);
    if (header.kind == message_header::content::whole)
      on_whole(from, header, content);
    else if (header.kind == message_header::content::fragment)
      on_fragment(from, content);
    else
      return malformed(from, "a message of an unknown kind");
    if (!box.is_acknowledgement_due()) source.unacknowledged_since.store(current_ticks(), std::memory_order_relaxed);
    box.note_received();
    set_work(from);
  }
  if (box.has_parcels()) box.look(occasion::acknowledged);
}

void exchange::on_whole(locality_number from, const message_header& header, bytes_view parcels) noexcept {
  for (std::uint32_t i = 0; i < header.parcels; ++i) {
    parcel_header parcel;
    if (parcels.size() < sizeof parcel) return malformed(from, "a message that ends within a parcel's header");
    std::memcpy(&parcel, parcels.data(), sizeof parcel);
    parcels = parcels.subspan(sizeof parcel);
    if (parcels.size() < parcel.bytes) return malformed(from, "a message that ends within a parcel");
    m_sink.on_parcel(from, parcel, parcels.first(parcel.bytes));
    parcels = parcels.subspan(parcel.bytes);
  }
  if (!parcels.empty()) return malformed(from, "a message with bytes behind its last parcel");
  m_receiver->counts.parcels.add(header.parcels);
}

void exchange::on_fragment(locality_number from, bytes_view content) noexcept {
  incoming& source = m_incoming[from];
  fragment_header fragment;
  if (content.size() < sizeof fragment) return malformed(from, "a fragment shorter than its header");
  std::memcpy(&fragment, content.data(), sizeof fragment);
  content = content.subspan(sizeof fragment);
  if (fragment.total < sizeof(parcel_header) ||
      fragment.total - sizeof(parcel_header) > m_most_parcel_bytes + most_parcel_numbers)
    return malformed(from, "a parcel that is longer than allowed");
  if (fragment.offset != source.received || content.size() > fragment.total - fragment.offset)
    return malformed(from, "a fragment that does not follow the one before it");
  try {
    if (fragment.offset == 0) source.long_parcel.resize(fragment.total);
  } catch (...) {
    return malformed(from, "a parcel for which this locality has no memory");
  }
  if (source.long_parcel.size() != fragment.total) return malformed(from, "fragments of different lengths");
  std::memcpy(source.long_parcel.data() + fragment.offset, content.data(), content.size());
  source.received += content.size();
  if (source.received < fragment.total) return;
  parcel_header header;
  std::memcpy(&header, source.long_parcel.data(), sizeof header);
  const std::vector<std::byte> whole = std::move(source.long_parcel);
  source.long_parcel.clear();
  source.received = 0;
  m_sink.on_parcel(from, header, bytes_view(whole).subspan(sizeof header));
  m_receiver->counts.parcels.add();
}

void exchange::malformed(locality_number from, const char* what) noexcept {
  char reason[160];
  std::snprintf(reason, sizeof reason, "it sent %s", what);
  gone(from, reason);
}

void exchange::on_left(locality_number from) noexcept { gone(from, {}); }

void exchange::on_lost(locality_number from, std::string_view reason) noexcept { gone(from, reason); }

void exchange::gone(locality_number from, std::string_view reason) noexcept {
  if (m_incoming[from].is_gone) return;
  m_incoming[from].is_gone = true;
  m_outboxes[from]->close();
  m_sink.on_gone(from, reason);
}

}  // namespace trimtab::parcels
