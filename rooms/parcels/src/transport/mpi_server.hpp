// The thread that makes all MPI calls.
//
// It receives into a ring of posted receives that take a piece from anybody. MPI matches pieces with receives in the order
// in which these were posted (MPI 4.1, 3.5), so only the oldest has to be tested, and pieces from one locality come in
// order. A piece is sent with MPI_Issend, which is complete when its receiver has a receive for it: what a slow receiver has
// not taken stays in the sender's ring, and not in MPI's memory.
//
// MPI has no way to sleep until something arrives. So the server polls: all the time for `spin_ns` after anything has
// happened, then with pauses of a quarter of the time since then, up to a millisecond. A try_send ends a pause.
#pragma once

#include <array>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "transport/mpi_session.hpp"
#include "transport/mpi_shared.hpp"

namespace trimtab::parcels::mpi {

class server {
 public:
  server(const library& mpi, const mpi_options& options) : m_mpi(mpi), m_options(options), m_session(m_mpi) {}
  ~server();  // after leave(), or the others lose this locality

  // Returns when all processes have done so. An error, or empty.
  std::string start();

  shared& common() noexcept { return m_shared; }
  receiver& receiving_end() noexcept { return m_receiver; }
  locality_number number() const noexcept { return m_session.number(); }
  const member& about(locality_number other) const noexcept { return m_session.members()[other]; }

 private:
  struct posted_receive {
    handle request;
    arrival* piece;
  };
  static constexpr std::size_t most_posted = 16;

  void run() noexcept;
  void serve() noexcept;
  bool advance() noexcept;
  void rest() noexcept;
  bool has_news() noexcept;

  void collect_announced() noexcept;
  bool advance_sends() noexcept;
  bool advance_stream(locality_number number) noexcept;
  bool start_pieces(locality_number number) noexcept;
  bool complete_pieces(locality_number number) noexcept;
  void lose(locality_number number, const std::string& reason) noexcept;
  std::string call_error(const char* function, int code) const;

  void post_receives() noexcept;
  arrival* free_piece() noexcept;
  std::size_t most_pieces() const noexcept;
  bool complete_receives() noexcept;
  bool take_piece(arrival& piece, const status_room& status) noexcept;

  bool all_have_ended() noexcept;
  bool has_broken_peers() noexcept;
  void end() noexcept;
  void cancel_receives() noexcept;
  void abandon() noexcept;

  library m_mpi;
  mpi_options m_options;
  session m_session;
  shared m_shared;
  receiver m_receiver{m_shared};
  std::promise<std::string> m_opened;
  std::thread m_thread;

  // The thread's own.
  std::vector<locality_number> m_active = {};  // whose streams have something unsent or under way
  std::array<posted_receive, most_posted> m_posted = {};
  std::size_t m_oldest_posted = 0, m_posted_count = 0;
  std::vector<std::unique_ptr<arrival>> m_pieces = {};  // all that there are
  arrival* m_free = nullptr;
  std::uint64_t m_last_move_ns = 0;
};

}  // namespace trimtab::parcels::mpi
