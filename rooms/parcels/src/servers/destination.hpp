// What servers and clients of this locality share about one other locality.
#pragma once

#include <atomic>
#include <cstdint>

#include "trimtab/parcels/transport/transport.hpp"
#include "trimtab/tasks/core/queues.hpp"

namespace trimtab::parcels {

// Order without a lock: while `unsent` is above 0, only the server `owner` sends there; at 0 the client may do it itself.
// There is one client at a time, because calls of try_send to one locality do not overlap. So `unsent` grows only by the
// client that reads it. The server lowers it after its call of the inner transport, with release, and the client reads it
// with acquire: the two calls do not overlap.
struct alignas(64) destination {
  std::atomic<std::uint32_t> unsent{0};  // messages in servers
  std::atomic<std::uint32_t> owner{0};   // server that has them; written by the client, while unsent is 0 or without order
  std::atomic<bool> is_gone{false};
  // Somebody sends there now. Only without order there can be two: a client beside a server, or two servers.
  std::atomic<bool> is_sending{false};
  // A client was refused, and wants to know when `unsent` is at most wanted - 1; 0: nobody waits. The client writes it and
  // then reads `unsent`, the server does it the other way round, in one total order: so one of them sees the other.
  std::atomic<std::uint32_t> wanted{0};
  std::uint32_t turn = 0;  // choices of a server so far; of the client

  // Counted by the client.
  tasks::single_writer_count served, sent_directly, held_for_order, held_for_flow;

  // False: somebody else sends there.
  bool begin_sending() noexcept { return !is_sending.exchange(true, std::memory_order_acquire); }
  void end_sending() noexcept { is_sending.store(false, std::memory_order_release); }

  // True: the client that waits for this must be woken.
  bool end_message() noexcept {
    const std::uint32_t rest = unsent.fetch_sub(1, std::memory_order_seq_cst) - 1;
    const std::uint32_t level = wanted.load(std::memory_order_seq_cst);
    return level != 0 && rest < level && wanted.exchange(0, std::memory_order_relaxed) != 0;
  }
  // True: it need not wait, after all.
  bool want_at_most(std::uint32_t level) noexcept {
    wanted.store(level + 1, std::memory_order_seq_cst);
    return unsent.load(std::memory_order_seq_cst) <= level;
  }
};

}  // namespace trimtab::parcels
