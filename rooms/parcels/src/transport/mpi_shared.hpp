// What the server's thread and the threads that use the transport have in common.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "transport/mpi_abi.hpp"
#include "transport/mpi_inbox.hpp"
#include "transport/mpi_outbox.hpp"
#include "transport/mpi_sleep.hpp"

namespace trimtab::parcels::mpi {

// Pieces that one thread hands to another, which takes all of them at once.
class handover {
 public:
  void push(arrival& piece) noexcept {
    piece.next = m_last.load(std::memory_order_relaxed);
    while (!m_last.compare_exchange_weak(piece.next, &piece)) {
    }
  }
  // In the order in which they were pushed.
  arrival* take_all() noexcept {
    arrival* first = nullptr;
    for (arrival* piece = m_last.exchange(nullptr); piece != nullptr;) {
      arrival* const before = piece->next;
      piece->next = first;
      first = piece;
      piece = before;
    }
    return first;
  }
  bool is_empty() const noexcept { return m_last.load() == nullptr; }

 private:
  std::atomic<arrival*> m_last{nullptr};
};

struct peer {
  outbox stream;
  std::atomic<bool> is_gone{false};      // nothing more is taken over for it
  std::atomic<bool> was_refused{false};  // a try_send had no room: somebody may wait for it

  // The receiver's thread.
  inbox incoming;

  // The server's thread.
  struct started_piece {
    handle request;
    std::size_t bytes;
  };
  // More would send pieces earlier, but smaller ones.
  static constexpr std::size_t most_started = 4;
  std::array<started_piece, most_started> started = {};
  std::size_t oldest = 0, started_count = 0;
  bool is_active = false;
  bool is_broken = false;  // MPI has returned an error
  arrival lost_news = {};
};

class shared {
 public:
  // False: no memory.
  bool open(std::uint32_t size, std::size_t largest_message) noexcept {
    m_size = size;
    m_peers.reset(new (std::nothrow) peer[size]);
    m_announced.reset(new (std::nothrow) std::atomic<std::uint64_t>[word_count()]());
    if (!m_peers || !m_announced) return false;
    for (std::uint32_t number = 0; number < size; ++number) {
      m_peers[number].incoming.open(largest_message, m_peers[number].is_gone);
      if (!m_peers[number].stream.open(largest_message)) return false;
    }
    return true;
  }

  std::uint32_t size() const noexcept { return m_size; }
  peer& at(locality_number number) noexcept { return m_peers[number]; }
  std::size_t word_count() const noexcept { return (m_size + 63) / 64; }
  std::atomic<std::uint64_t>& announced(std::size_t word) noexcept { return m_announced[word]; }

  // The stream to that locality has grown. Whoever finds the bit set knows that the server has not looked at the stream
  // since.
  void announce(locality_number number) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << number % 64;
    std::atomic<std::uint64_t>& word = m_announced[number / 64];
    if ((word.load() & bit) == 0) word.fetch_or(bit);
    server_sleep.wake_if_asleep();
  }

  handover arrived, returned;
  sleep_word server_sleep, receiver_sleep, leaver_sleep;
  std::atomic<bool> is_leaving{false}, is_ending{false};

 private:
  std::uint32_t m_size = 0;
  std::unique_ptr<peer[]> m_peers = {};
  std::unique_ptr<std::atomic<std::uint64_t>[]> m_announced = {};
};

// The receiving end. Used by one thread at a time.
class receiver {
 public:
  explicit receiver(shared& common) : m_shared(common) {}

  std::size_t receive(message_sink& sink, std::size_t limit) noexcept;
  bool has_pieces() const noexcept { return m_current.load() != nullptr || !m_shared.arrived.is_empty(); }  // any thread

 private:
  shared& m_shared;
  std::atomic<arrival*> m_current{nullptr};
};

}  // namespace trimtab::parcels::mpi
