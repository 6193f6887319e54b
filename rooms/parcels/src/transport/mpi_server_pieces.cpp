// How the server sends pieces of the streams, and receives them.
#include <algorithm>
#include <bit>
#include <memory>
#include <new>
#include <utility>

#include "transport/mpi_server.hpp"

namespace trimtab::parcels::mpi {

namespace {

constexpr int stream_tag = 1;

// How many pieces there may be when the receiver is slow. More while this locality leaves: then others may wait for room
// although nobody receives here any more.
constexpr std::size_t usual_pieces = 64, pieces_per_leaving_peer = 64, most_leaving_pieces = 16'384;

}  // namespace

void server::collect_announced() noexcept {
  for (std::size_t word = 0; word < m_shared.word_count(); ++word) {
    if (m_shared.announced(word).load() == 0) continue;
    for (std::uint64_t bits = m_shared.announced(word).exchange(0); bits != 0; bits &= bits - 1) {
      const auto number = static_cast<locality_number>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      if (!std::exchange(m_shared.at(number).is_active, true)) m_active.push_back(number);
    }
  }
}

bool server::advance_sends() noexcept {
  bool has_moved = false;
  for (std::size_t place = 0; place < m_active.size();) {
    const locality_number number = m_active[place];
    has_moved |= advance_stream(number);
    peer& receiver_of_it = m_shared.at(number);
    if (!receiver_of_it.is_broken && (receiver_of_it.started_count != 0 || !receiver_of_it.stream.next_piece().empty())) {
      ++place;
      continue;
    }
    receiver_of_it.is_active = false;
    m_active[place] = m_active.back();
    m_active.pop_back();
  }
  return has_moved;
}

bool server::advance_stream(locality_number number) noexcept {
  const bool has_completed = complete_pieces(number);
  return start_pieces(number) || has_completed;
}

bool server::start_pieces(locality_number number) noexcept {
  peer& to = m_shared.at(number);
  bool has_moved = false;
  while (!to.is_broken && to.started_count < peer::most_started) {
    const bytes_view piece = to.stream.next_piece();
    if (piece.empty()) break;
    auto& slot = to.started[(to.oldest + to.started_count) % peer::most_started];
    slot = {0, piece.size()};
    const int code = m_mpi.call.issend(piece.data(), static_cast<int>(piece.size()), m_mpi.table.byte_type,
                                       static_cast<int>(number), stream_tag, m_session.communicator(), &slot.request);
    if (code != success) return lose(number, call_error("MPI_Issend", code)), true;
    to.stream.piece_started(piece.size());
    ++to.started_count;
    has_moved = true;
  }
  return has_moved;
}

bool server::complete_pieces(locality_number number) noexcept {
  peer& to = m_shared.at(number);
  bool has_moved = false;
  while (!to.is_broken && to.started_count > 0) {
    auto& slot = to.started[to.oldest];
    int is_complete = 0;
    const int code = m_mpi.call.test(&slot.request, &is_complete, reinterpret_cast<void*>(m_mpi.table.status_ignore));
    if (code != success) return lose(number, call_error("MPI_Test", code)), true;
    if (is_complete == 0) break;
    to.oldest = (to.oldest + 1) % peer::most_started;
    --to.started_count;
    to.stream.piece_completed(slot.bytes);
    if (to.was_refused.load() && to.was_refused.exchange(false)) m_shared.receiver_sleep.wake();
    has_moved = true;
  }
  if (has_moved) m_shared.leaver_sleep.wake_if_asleep();
  return has_moved;
}

std::string server::call_error(const char* function, int code) const {
  return std::string(function) + " has failed: " + m_session.error_text(code);
}

void server::lose(locality_number number, const std::string& reason) noexcept {
  peer& lost = m_shared.at(number);
  if (std::exchange(lost.is_broken, true)) return;
  lost.lost_news.from = number;
  lost.lost_news.lost_reason = reason;
  lost.is_gone.store(true);
  m_shared.arrived.push(lost.lost_news);
  m_shared.receiver_sleep.wake();
  m_shared.leaver_sleep.wake_if_asleep();
}

std::size_t server::most_pieces() const noexcept {
  if (!m_shared.is_leaving.load()) return usual_pieces;
  return std::min(most_leaving_pieces, usual_pieces + pieces_per_leaving_peer * m_shared.size());
}

arrival* server::free_piece() noexcept {
  if (m_free == nullptr) m_free = m_shared.returned.take_all();
  if (m_free != nullptr) return std::exchange(m_free, m_free->next);
  if (m_pieces.size() >= most_pieces()) return nullptr;
  try {
    m_pieces.push_back(std::make_unique<arrival>());
    m_pieces.back()->memory.reset(new std::byte[piece_bytes]);
    return m_pieces.back().get();
  } catch (const std::bad_alloc&) {
    if (!m_pieces.empty() && !m_pieces.back()->memory) m_pieces.pop_back();
    return nullptr;
  }
}

void server::post_receives() noexcept {
  while (m_posted_count < most_posted) {
    arrival* const piece = free_piece();
    if (piece == nullptr) return;
    posted_receive& slot = m_posted[(m_oldest_posted + m_posted_count) % most_posted];
    slot = {0, piece};
    const int code = m_mpi.call.irecv(piece->memory.get(), static_cast<int>(piece_bytes), m_mpi.table.byte_type,
                                      m_mpi.table.any_source, stream_tag, m_session.communicator(), &slot.request);
    if (code != success) {
      for (locality_number number = 0; number < m_shared.size(); ++number)
        if (number != m_session.number()) lose(number, call_error("MPI_Irecv", code));
      piece->next = std::exchange(m_free, piece);
      return;
    }
    ++m_posted_count;
  }
}

bool server::complete_receives() noexcept {
  bool has_moved = false;
  for (std::size_t tests = m_posted_count; tests > 0; --tests) {
    posted_receive& oldest = m_posted[m_oldest_posted];
    int is_complete = 0;
    status_room status;
    const int code = m_mpi.call.test(&oldest.request, &is_complete, status.address());
    if (code == success && is_complete == 0) break;
    m_oldest_posted = (m_oldest_posted + 1) % most_posted;
    --m_posted_count;
    has_moved = true;
    if (code == success && take_piece(*oldest.piece, status)) continue;
    const auto source = static_cast<std::uint32_t>(status.source(m_mpi.table));
    if (source < m_shared.size())
      lose(source, code == success ? "it has sent a piece of a wrong size" : call_error("MPI_Irecv", code));
    oldest.piece->next = std::exchange(m_free, oldest.piece);
  }
  if (has_moved) m_shared.receiver_sleep.wake_if_asleep();
  return has_moved;
}

bool server::take_piece(arrival& piece, const status_room& status) noexcept {
  int bytes = 0;
  status_room copy = status;
  m_mpi.call.get_count(copy.address(), m_mpi.table.byte_type, &bytes);
  if (bytes <= 0 || bytes % 8 != 0 || static_cast<std::size_t>(bytes) > piece_bytes) return false;
  piece.from = static_cast<locality_number>(status.source(m_mpi.table));
  piece.bytes = static_cast<std::uint32_t>(bytes);
  piece.read = 0;
  m_shared.arrived.push(piece);
  return true;
}

}  // namespace trimtab::parcels::mpi
