// Parcels as calls: packs and sends them, and hands what arrives to the code of its action. One for each job.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/parcels/archive/archive.hpp"
#include "trimtab/parcels/calls/action.hpp"
#include "trimtab/parcels/calls/arrival_flow.hpp"
#include "trimtab/parcels/calls/call_table.hpp"
#include "trimtab/parcels/calls/mailbox.hpp"
#include "trimtab/parcels/coalescing/exchange.hpp"

namespace trimtab::tasks {
class runtime;
}

namespace trimtab::parcels {

class load_gossip;
class object_table;
class shared_tuning;

// all_reduce is a reduce and a broadcast.
enum class collective_operation : std::uint8_t { barrier, broadcast, reduce };
inline constexpr std::size_t collective_operations = 3;

// Arguments in the making, and what keeps them alive.
struct packed_arguments {
  byte_buffer bytes;
  writer into{bytes, large_blocks::kept};
  base::ticks begin = 0;  // when it was begun; 0: it is not timed
};

class dispatcher final : private parcel_sink {
 public:
  // gone: called when another locality sends nothing any more, with a reason if it was lost.
  dispatcher(tasks::runtime& home, std::function<void(locality_number, std::string_view)> gone);
  // For the exchange.
  parcel_sink& sink() noexcept { return *this; }
  // Before anything else.
  void connect(std::shared_ptr<exchange> traffic);
  // Of this locality. Before connect; the dispatcher keeps it, because tasks refer to it.
  void set_objects(std::shared_ptr<object_table> objects) noexcept { m_objects = std::move(objects); }
  object_table* objects() const noexcept { return m_objects.get(); }
  void set_tuning(std::shared_ptr<shared_tuning> tuning) noexcept { m_tuning = std::move(tuning); }
  shared_tuning* tuning() const noexcept { return m_tuning.get(); }

  // The views of this locality that spread by messages. Before connect; the dispatcher keeps it.
  void set_gossip(std::shared_ptr<load_gossip> gossip) noexcept { m_gossip = std::move(gossip); }
  load_gossip* gossip() const noexcept { return m_gossip.get(); }

  tasks::runtime& home() noexcept { return m_home; }
  exchange& traffic() noexcept { return *m_traffic; }
  locality_number number() const noexcept { return m_traffic->number(); }
  std::uint32_t size() const noexcept { return m_traffic->size(); }
  // Calls and letters that are waited for fail, now and later. Nothing is received any more.
  void fail_all(const char* reason);
  call_table& calls() noexcept { return m_calls; }
  mailbox& mail() noexcept { return m_mail; }

  // Sends a parcel whose arguments `write` writes. result: where the result goes; nullptr: there is none. trace: its number
  // in the trace; 0: it is not traced.
  template <class function>
  void send(locality_number to, const action& what, awaited_result* result, function&& write, std::uint64_t trace = 0);
  // The same without a result, for short arguments, and without ever waiting, so also for the thread that receives. False:
  // too much waits for that locality, and the parcel is not sent.
  template <class function>
  bool try_send(locality_number to, const action& what, function&& write);
  // Sends a result, or the exception in its place.
  template <class function>
  void reply(locality_number to, std::uint64_t call, function&& write);
  void reply_error(locality_number to, std::uint64_t call, const std::exception_ptr& error) noexcept;

  // Parcels of the program that were sent, and those that have been handled here, their tasks included.
  std::uint64_t sent() const;
  std::uint64_t handled() const;
  void note_handled() noexcept { m_traffic->note_handled(); }

  // Parcels that could not be handled, since their bytes were no arguments of their action.
  std::uint64_t refused() const noexcept { return m_refused.load(std::memory_order_relaxed); }

  // It sends nothing any more. From any thread.
  bool is_gone(locality_number other) const { return m_is_gone.at(other).load(std::memory_order_seq_cst); }

  // What has come, by action and locality. From any thread; they stay until the dispatcher ends.
  std::vector<const arrival_flow*> arrivals() const;
  // Of the parcels whose arguments were written, one in 16 is timed.
  std::uint64_t packed_timed() const noexcept { return m_packed_timed.load(std::memory_order_relaxed); }
  // Callers of collective operations have waited for other localities, together.
  void note_collective_wait(collective_operation which, base::ticks ticks) noexcept {
    m_collective_wait_ticks[static_cast<std::size_t>(which)].fetch_add(ticks, std::memory_order_relaxed);
  }
  base::ticks collective_wait_ticks(collective_operation which) const noexcept {
    return m_collective_wait_ticks[static_cast<std::size_t>(which)].load(std::memory_order_relaxed);
  }
  base::ticks packed_ticks() const noexcept { return m_packed_ticks.load(std::memory_order_relaxed); }

 private:
  struct known_action {
    const parcel_kind* kind = nullptr;
    const void* function = nullptr;
    std::string error;             // why it cannot be called
    arrival_flow* flow = nullptr;  // where there is a kind
  };

  void on_parcel(locality_number from, const parcel_header& header, bytes_view content) noexcept override;
  void on_gone(locality_number from, std::string_view reason) noexcept override;
  void define(locality_number from, bytes_view content);
  // Calls to that locality, and letters from there.
  void fail_what_awaits(locality_number other, const std::exception_ptr& error);
  arrival_flow* add_arrival_flow(locality_number from, const known_action& defined);
  const known_action& action_of(locality_number from, std::uint32_t number) const;
  void refuse(locality_number from, bool has_call, std::uint64_t call, const std::exception_ptr& error) noexcept;
  static const action& result_action();
  // A buffer of the calling thread's, or a new one.
  static std::unique_ptr<packed_arguments> take_scratch();
  static void put_back(std::unique_ptr<packed_arguments> packed) noexcept;
  void note_packed(base::ticks begin) noexcept;
  bool try_send_packed(locality_number to, outgoing& parcel, std::unique_ptr<packed_arguments> packed);
  void send_now(locality_number to, outgoing& parcel, std::unique_ptr<packed_arguments> packed);
  // awaits_result: parcel.call is one of m_calls.
  void send_packed(locality_number to, outgoing& parcel, std::unique_ptr<packed_arguments> packed, bool awaits_result);

  tasks::runtime& m_home;
  const std::function<void(locality_number, std::string_view)> m_gone;
  std::shared_ptr<object_table> m_objects;
  std::shared_ptr<load_gossip> m_gossip;  // nullptr: load is not shared
  std::shared_ptr<shared_tuning> m_tuning;
  std::shared_ptr<exchange> m_traffic;
  call_table m_calls;
  mailbox m_mail;
  std::vector<std::vector<known_action>> m_known;  // by locality and its number; of who receives
  std::vector<std::atomic<bool>> m_is_gone;
  std::atomic<std::uint64_t> m_refused{0};
  std::atomic<std::uint64_t> m_packed_timed{0};
  std::atomic<base::ticks> m_packed_ticks{0}, m_collective_wait_ticks[collective_operations] = {};
  mutable base::spin_lock m_arrivals_lock;
  std::vector<std::unique_ptr<arrival_flow>> m_arrivals;
};

template <class function>
void dispatcher::send(locality_number to, const action& what, awaited_result* result, function&& write,
                      std::uint64_t trace) {
  std::unique_ptr<packed_arguments> packed = take_scratch();
  write(packed->into);
  outgoing parcel{what};
  parcel.trace = trace;
  if (result != nullptr) {
    parcel.has_call = true;
    parcel.call = m_calls.add(to, *result);
  }
  send_packed(to, parcel, std::move(packed), result != nullptr);
}

template <class function>
bool dispatcher::try_send(locality_number to, const action& what, function&& write) {
  std::unique_ptr<packed_arguments> packed = take_scratch();
  write(packed->into);
  outgoing parcel{what};
  return try_send_packed(to, parcel, std::move(packed));
}

template <class function>
void dispatcher::reply(locality_number to, std::uint64_t call, function&& write) {
  std::unique_ptr<packed_arguments> packed = take_scratch();
  write(packed->into);
  outgoing parcel{result_action()};
  parcel.has_call = true;
  parcel.call = call;
  send_packed(to, parcel, std::move(packed), false);
}

}  // namespace trimtab::parcels
