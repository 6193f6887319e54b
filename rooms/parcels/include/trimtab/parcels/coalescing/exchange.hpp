// The traffic of one locality: an outbox for each other locality, the receiving of messages, and the thread that does both
// while no worker looks after it.
//
// Who receives: workers of the task runtime that find no task, and threads that wait (background_work), one at a time. A
// thread of its own does it while all workers run tasks or sleep: it naps as long as somebody else has looked in the
// meantime, and otherwise sleeps in the transport until something comes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "trimtab/parcels/coalescing/outbox.hpp"
#include "trimtab/parcels/transport/transport.hpp"
#include "trimtab/tasks/core/background_work.hpp"
#include "trimtab/tasks/core/event_count.hpp"

namespace trimtab::parcels {

// Who gets what has arrived. Called by one thread at a time.
class parcel_sink {
 public:
  // A parcel; the bytes are valid during the call. Parcels of one message come one after the other.
  virtual void on_parcel(locality_number from, const parcel_header& header, bytes_view content) noexcept = 0;
  // The other locality sends nothing any more. reason: empty, or why it was lost.
  virtual void on_gone(locality_number from, std::string_view reason) noexcept = 0;

 protected:
  ~parcel_sink() = default;
};

// What one thread has spent on messages, in clock ticks and counts. One writer.
struct background_counts {
  flow_count receive_ticks;      // reading messages, making tasks, handling what needs no task
  flow_count send_ticks;         // sending while it looked after queues; what add() sends is in the flows
  flow_count within_send_ticks;  // of these two, what a task did that was sending a parcel
  flow_count messages, parcels;  // received
  flow_count handled;            // parcels of the program, whose tasks have ended
  flow_count bytes;
};

class exchange final : public tasks::background_work, private message_sink {
 public:
  // ns_per_tick: of base::now(). most_parcel_bytes: longer parcels are refused, here and from others.
  exchange(std::unique_ptr<transport> link, parcel_sink& sink, double ns_per_tick, const coalescing& standard,
           std::size_t most_parcel_bytes);
  ~exchange() override;

  // Begins to receive, with a thread of its own.
  void start();

  // For simulations, which call in one thread what several threads do (coalescing/clock.hpp).
  // Begins to receive, without a thread of its own.
  void open() noexcept;
  // From now on the calling thread counts as this one; 0: as itself again.
  static void act_as(std::int64_t thread) noexcept;
  // What the own thread does between two rests, and how it rests then: at most so many ns, in a nap that before_sleep and an
  // earlier deadline end, or asleep in the transport. 0 ns: it looks again at once.
  struct rest_plan {
    bool is_nap = false;
    std::uint64_t ns = 0;
  };
  rest_plan look_as_own_thread() noexcept;

  // Sends what waits, tells the others that this locality leaves, and ends the thread. At most `ns` nanoseconds. False: not
  // everything could be sent. Nothing is received afterwards, and what is sent is dropped. The transport, which others may
  // still read counts of, stays until abandon().
  bool leave(std::uint64_t ns);
  // The others see that this locality is lost, unless it has left. What is sent afterwards is dropped.
  void abandon();

  locality_number number() const noexcept { return m_number; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(m_outboxes.size()); }
  std::string_view host_of(locality_number other) const noexcept { return m_hosts[other]; }
  std::int64_t process_of(locality_number other) const noexcept { return m_processes[other]; }

  // Sends or queues a parcel for another locality. From any thread. Waits, and receives meanwhile, while far too much waits
  // for that locality.
  void send(locality_number to, const outgoing& parcel);
  // The same without ever waiting, so also for the thread that receives, for arguments up to longest_queued. False: far too
  // much waits for that locality, and the parcel is not sent.
  bool try_send(locality_number to, const outgoing& parcel);
  // Where the arguments are longer than longest_queued. Throws std::length_error above most_parcel_bytes.
  void send_long(locality_number to, const outgoing& parcel, long_arguments&& arguments);
  std::size_t longest_queued() const noexcept { return m_longest_queued; }

  // How parcels are coalesced, to all localities, whose action has no settings of its own.
  void set_standard(const coalescing& settings);
  void set_standard(std::uint32_t traffic_kind, const coalescing& settings);
  // Sends what waits.
  void flush(locality_number to) { m_outboxes[to]->flush(); }
  void flush_all();

  // background_work
  bool advance() noexcept override;
  bool before_sleep() noexcept override;
  bool expects_more() const noexcept override { return m_is_open.load(std::memory_order_acquire); }

  // Of another locality; not of this one.
  outbox& to(locality_number other) noexcept { return *m_outboxes[other]; }
  const outbox& to(locality_number other) const noexcept { return *m_outboxes[other]; }
  // By thread: names and counts. They stay until the exchange ends.
  struct thread_counts {
    std::int64_t thread = 0;     // as of gettid
    std::uint64_t identity = 0;  // from 1
    std::uint64_t looks = 0;     // of the thread itself: how often it has had nothing else to do
    base::ticks last_look = 0;   // the same: when it did so last
    background_counts counts;
  };
  std::vector<const thread_counts*> threads() const;
  // A parcel of the program has been handled by the calling thread.
  void note_handled() noexcept { own_counts().counts.handled.add(); }

 private:
  struct incoming {
    std::vector<std::byte> long_parcel;
    std::uint64_t received = 0;                        // bytes of it
    std::atomic<base::ticks> unacknowledged_since{0};  // 0: everything is acknowledged
    bool is_gone = false;
  };

  void on_message(locality_number from, bytes_view bytes) noexcept override;
  void on_left(locality_number from) noexcept override;
  void on_lost(locality_number from, std::string_view reason) noexcept override;
  void gone(locality_number from, std::string_view reason) noexcept;
  void on_whole(locality_number from, const message_header& header, bytes_view parcels) noexcept;
  void on_fragment(locality_number from, bytes_view content) noexcept;
  void malformed(locality_number from, const char* what) noexcept;

  // Returns the number of messages.
  std::size_t receive(thread_counts& counts) noexcept;
  bool advance(occasion why) noexcept;
  void advance_within_send(background_counts& counts) noexcept;
  // acknowledges_all: also what was received only just now.
  bool look_after(thread_counts& counts, occasion why, bool acknowledges_all) noexcept;
  void note_look(base::ticks current_time) noexcept;
  bool is_looked_after() const noexcept;
  void watch() noexcept;
  bool look_around(thread_counts& counts) noexcept;
  std::uint64_t begin_rest(bool must_nap) noexcept;
  void rest(thread_counts& counts) noexcept;
  std::uint64_t ns_to_deadline() const noexcept;
  void announce_deadline(std::uint64_t ns) noexcept;
  thread_counts& own_counts() noexcept;
  thread_counts& counts_of(std::int64_t thread);
  void set_work(locality_number other) noexcept;
  outbox::added add(locality_number other, const outgoing& parcel, const thread_counts& counts);
  void wait_for_room(locality_number other);
  template <class function>
  void for_each_with_work(function&& call);

  // Ends the own thread.
  void close();
  // What is sent from now on is dropped, too.
  void stop();

  const locality_number m_number;
  std::unique_ptr<transport> m_link;  // until it is abandoned
  std::vector<std::string> m_hosts;   // of all localities
  std::vector<std::int64_t> m_processes;
  parcel_sink& m_sink;
  const double m_ns_per_tick;
  const base::ticks m_nap_ticks, m_look_ticks;
  const std::size_t m_most_parcel_bytes, m_longest_queued;
  std::vector<std::unique_ptr<outbox>> m_outboxes;  // nullptr: of this locality itself
  std::vector<incoming> m_incoming;                 // of who receives
  // A bit for each locality whose outbox may have something to do: set by who gives it something, cleared by who looks.
  std::vector<std::atomic<std::uint64_t>> m_work;
  base::spin_lock m_waking;  // while another thread than the own one wakes the transport
  base::spin_lock m_receiving;
  thread_counts* m_receiver = nullptr;  // who holds it
  std::atomic<bool> m_is_open{false}, m_is_ending{false};
  // When somebody else than the own thread has looked for messages, about; 0: whoever did so sleeps now.
  std::atomic<base::ticks> m_last_look{0};
  tasks::event_count m_naps;                     // of the own thread, while others look
  std::atomic<bool> m_looks_soon{false};         // the own thread, within longest_forecast_ns
  std::atomic<bool> m_has_sent{false};           // somebody, since the own thread asked
  std::atomic<std::uint64_t> m_sleeps_until{0};  // the own thread, by CLOCK_MONOTONIC in ns; 0: it is awake
  const std::uint64_t m_identity;                // of this exchange, among all of the process
  mutable base::spin_lock m_threads_lock;
  std::vector<std::unique_ptr<thread_counts>> m_threads;
  std::thread m_thread;
};

}  // namespace trimtab::parcels
