// Everything that is on its way to one other locality: parcels that wait in queues, messages for which the transport had no
// room, and long parcels. Any thread may call anything; a spin lock, held for a copy of a parcel or the sending of one
// message, guards it.
//
// Parcels of one action arrive in the order in which they were added. So do those of all actions that are not apart.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/parcels/coalescing/flow.hpp"
#include "trimtab/parcels/coalescing/parcel_queue.hpp"
#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

// The bytes of a long parcel's arguments, and what keeps them alive until they are sent.
struct long_arguments {
  std::vector<bytes_view> parts;
  std::shared_ptr<const void> owner;
};

class outbox {
  using guard = std::lock_guard<base::spin_lock>;

 public:
  // ns_per_tick: of base::now(). standard: how parcels are coalesced whose action has no settings of its own.
  outbox(transport& link, locality_number to, double ns_per_tick, const coalescing& standard);
  outbox(const outbox&) = delete;
  outbox& operator=(const outbox&) = delete;

  struct added {
    // False: more than `limit` bytes wait for room, so the caller should receive before it adds more.
    bool has_room = true;
    bool is_sent = false;   // a message has left
    bool is_first = false;  // of its queue: nobody may know yet that there is something to send
    bool is_burst = false;  // more are expected at once
    // This parcel waits in a queue that was empty, and will be sent after so many ns at the latest; 0: without such a time,
    // or another parcel began to wait before it.
    std::uint64_t deadline_ns = 0;
    base::ticks at = 0;  // the time, if is_first, is_sent, or no burst is expected; else 0
  };
  // looks_soon: somebody will look soon, so that a parcel may wait for others that are expected (burst_forecast). It is read
  // when others can see the parcel, so who takes it back and then looks finds what has trusted it.
  added add(const outgoing& parcel, const parcel_adder& adder, const std::atomic<bool>& looks_soon);
  // The same for arguments that are longer than longest_queued_parcel. parcel.arguments is not used.
  bool add_long(const outgoing& parcel, long_arguments&& arguments, bool is_task = false);

  // Sends what must be sent by the rules. Returns the number of messages. own_idle and own_leaves: of the thread `looker`,
  // and for parcels of others as other_idle.
  std::uint32_t look(occasion why, std::uint64_t looker = 0);
  // Sends all that there is. The same.
  std::uint32_t flush(flush_reason why = flush_reason::asked);
  // Tells the other locality what was handled, by a message of its own, unless it knows or will hear by another message.
  // True: a message was sent.
  bool acknowledge();

  // By the thread that receives. Messages of ours that the other locality has handled, in all.
  void note_handled(std::uint64_t messages) noexcept;
  // One more of its messages has been handled here.
  void note_received() noexcept {
    m_received.store(m_received.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // Something may be sent now or later: parcels or acknowledgements.
  bool has_work() const noexcept { return m_pending.load(std::memory_order_acquire) != 0 || is_acknowledgement_due(); }
  bool is_overfull() const {
    const guard lock(m_lock);
    return m_waiting_bytes > limit;
  }
  bool has_parcels() const noexcept { return m_pending.load(std::memory_order_acquire) != 0; }
  bool is_acknowledgement_due() const noexcept {
    return m_received.load(std::memory_order_acquire) != m_acknowledged.load(std::memory_order_acquire);
  }
  // Until somebody must look, in ns: a queue must be sent because of its age, or its parcels wait for more of them; ~0:
  // nobody must.
  std::uint64_t ns_to_deadline() const;
  // What the other locality has handled of what was sent.
  bool is_all_handled() const noexcept {
    return m_handled.load(std::memory_order_acquire) == m_sent.load(std::memory_order_acquire);
  }
  // The other locality is gone: what waits is dropped, and what is added from now on.
  void close();

  // Settings for all kinds of traffic, or for one.
  void set_standard(const coalescing& settings);
  void set_standard(std::uint32_t traffic_kind, const coalescing& settings);
  // Of the present kind of traffic.
  coalescing standard() const;
  std::uint64_t message_ns() const noexcept { return m_message_ns.load(std::memory_order_relaxed); }

  // Parcels of the program that were added, in all.
  std::uint64_t program_parcels() const noexcept { return m_program_parcels.get(); }
  // Of these, those that came with others of that kind.
  std::uint64_t program_parcels(std::uint32_t traffic_kind) const noexcept { return m_parcels_of_kind[traffic_kind].get(); }
  const message_flow& messages() const noexcept { return m_messages; }
  // By action number; nullptr: none of that action.
  const parcel_flow* parcels_of(std::uint32_t action) const noexcept;
  // Times that a message was sent for this reason.
  std::uint64_t flushes(flush_reason reason) const noexcept { return m_flushes[static_cast<std::size_t>(reason)].get(); }

  static constexpr std::size_t limit = std::size_t{32} << 20;

 private:
  // A message that the transport did not take, or a long parcel.
  struct waiting_message {
    std::vector<std::byte> head;  // the whole message, or the head of a long parcel
    long_arguments arguments;
    std::uint64_t total = 0, sent = 0;       // bytes of a long parcel; total 0: a whole message
    std::vector<std::uint64_t> traced = {};  // numbers in the trace of its parcels, until it has begun to leave
  };
  struct own_queue {
    parcel_queue queue;
    std::uint32_t changes = 0;  // of the action, at the time of these settings
    coalescing settings;
  };

  own_queue* own_queue_of(const action& what);
  flush_reason reason_for(const parcel_queue& queue, const coalescing& settings, occasion why, bool is_burst) const;
  template <class function>
  void for_each_queue(function&& call);
  bool send(parcel_queue& queue, flush_reason why);
  // The same, with the time as of try_send.
  bool send(parcel_queue& queue, flush_reason why, base::ticks& current_time);
  bool send_waiting();
  send_status send_fragment(waiting_message& parcel, base::ticks& current_time);
  void note_left(std::span<const std::uint64_t> traced, std::uint32_t why, base::ticks begin) const noexcept;
  // Changes current_time, when it is called, to when it has sent.
  send_status try_send(std::span<const bytes_view> parts, base::ticks& current_time);
  void count_adder(std::uint64_t send_ticks, bool is_task) noexcept;
  void count_message(std::size_t bytes, base::ticks took);
  const coalescing& settings_of(const own_queue* own) const noexcept {
    return own != nullptr ? own->settings : m_standard[m_shared.traffic_kind];
  }
  void count_parcel(const action& what, std::size_t bytes, std::uint32_t traffic_kind);
  void pend(std::int32_t change) noexcept;
  std::uint64_t ns_between(base::ticks begin, base::ticks end) const noexcept;

  transport& m_link;
  const locality_number m_to;
  const double m_ns_per_tick;
  mutable base::spin_lock m_lock;  // of all that is not atomic
  std::array<coalescing, traffic_kinds> m_standard;
  parcel_queue m_shared;
  std::vector<std::unique_ptr<own_queue>> m_own;  // of actions that are apart
  std::deque<waiting_message> m_waiting;
  std::size_t m_waiting_bytes = 0;
  bool m_is_closed = false;
  std::atomic<std::uint32_t> m_pending{0};  // queues that hold parcels, and waiting messages
  std::atomic<std::uint64_t> m_sent{0}, m_handled{0}, m_received{0}, m_acknowledged{0};
  std::atomic<std::uint64_t> m_message_ns{500};
  std::uint64_t m_short_message_ns = 500;  // of those whose bytes cost next to nothing
  message_flow m_messages;
  flow_count m_flushes[flush_reasons];
  flow_count m_program_parcels, m_parcels_of_kind[traffic_kinds];
  std::vector<std::unique_ptr<parcel_flow>> m_parcels;
};

}  // namespace trimtab::parcels
