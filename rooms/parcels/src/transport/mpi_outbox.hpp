// The stream to one other locality, from try_send to MPI: a ring of bytes. try_send copies messages in at one end, MPI sends
// straight from the ring. While MPI is busy with earlier pieces the stream grows, and then many small messages travel
// together.
//
//      m_freed          m_started        m_written        m_freed + capacity
//   free  |  MPI has them   |    unsent      |       free      |
//
// Two threads: the writer (calls of try_send do not overlap) and the server.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/mpi_frame.hpp"
#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels::mpi {

class outbox {
 public:
  outbox() = default;
  ~outbox();
  outbox(const outbox&) = delete;
  outbox& operator=(const outbox&) = delete;

  // Memory is used only where messages have been. False: there is none.
  bool open(std::size_t largest_message) noexcept;

  // The writer. False: no room for the message of that many bytes in total. There is always room for one frame of each of
  // the other kinds.
  bool append(std::span<const bytes_view> parts, std::size_t total) noexcept;
  void append(frame_kind kind) noexcept;

  // The server.
  bytes_view next_piece() const noexcept;  // empty: all is with MPI
  void piece_started(std::size_t bytes) noexcept { m_started += bytes; }
  void piece_completed(std::size_t bytes) noexcept { m_freed.fetch_add(bytes); }
  // MPI may go on reading: the memory stays.
  void abandon() noexcept { m_memory = nullptr; }

  // Any thread.
  bool is_empty() const noexcept { return m_freed.load() == m_written.load(); }

 private:
  void copy_in(const void* bytes, std::size_t size) noexcept;

  std::byte* m_memory = nullptr;
  std::size_t m_capacity = 0;      // a power of two
  std::uint64_t m_writing = 0;     // the writer's m_written, within a frame
  std::uint64_t m_known_free = 0;  // the writer's last look at m_freed
  // Sequentially consistent with sleep_word and the flags of the server; the store also releases the bytes of the frames.
  alignas(64) std::atomic<std::uint64_t> m_written{0};
  alignas(64) std::atomic<std::uint64_t> m_freed{0};
  std::uint64_t m_started = 0;  // the server's
};

}  // namespace trimtab::parcels::mpi
