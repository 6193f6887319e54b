// The streams from all other localities: pieces in, messages out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "transport/mpi_frame.hpp"
#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels::mpi {

// A piece of the stream from one locality, or the news that nothing more can come from there. Belongs to one thread at a
// time.
struct arrival {
  arrival* next = nullptr;
  locality_number from = 0;
  std::uint32_t bytes = 0;
  std::uint32_t read = 0;                    // bytes of it that have been given to the receiver
  std::unique_ptr<std::byte[]> memory = {};  // piece_bytes, aligned to 16 as operator new does
  std::string lost_reason = {};              // not empty: it is this news
};

// The stream from one locality. Used by one thread at a time.
class inbox {
 public:
  // is_gone: set before the sink hears that no more messages come.
  void open(std::size_t largest_message, std::atomic<bool>& is_gone) noexcept {
    m_largest = largest_message;
    m_is_gone = &is_gone;
  }

  // Gives up to `limit` messages to the sink, and returns their number. All of the piece is read if it returns less.
  std::size_t read(arrival& piece, message_sink& sink, std::size_t limit) noexcept;

  bool has_ended() const noexcept { return m_has_ended; }  // the sender waits for our end

 private:
  enum class state : std::uint8_t { open, left, lost };

  std::size_t read_frame(arrival& piece, message_sink& sink) noexcept;
  std::size_t read_rest(arrival& piece, message_sink& sink) noexcept;
  std::size_t drop(arrival& piece, message_sink& sink, std::string_view reason) noexcept;
  void read_end(frame_kind kind, locality_number from, message_sink& sink) noexcept;
  void lose(locality_number from, message_sink& sink, std::string_view reason) noexcept;

  std::size_t m_largest = 0;
  std::atomic<bool>* m_is_gone = nullptr;
  state m_state = state::open;
  bool m_has_ended = false;
  std::unique_ptr<std::byte[]> m_message = {};  // one that is in several pieces
  std::size_t m_message_bytes = 0;              // of it; 0: there is none
  std::size_t m_copied = 0, m_frame_bytes = 0;  // with the filling
};

}  // namespace trimtab::parcels::mpi
