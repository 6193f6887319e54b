#include "trimtab/parcels/transport/mpi_transport.hpp"

#include <memory>
#include <utility>

#include "transport/mpi_server.hpp"
#include "trimtab/base/clock.hpp"

namespace trimtab::parcels {

namespace mpi {

namespace {

constexpr std::size_t least_largest_message = std::size_t{4} << 10, most_largest_message = std::size_t{64} << 20;

class mpi_transport final : public transport {
 public:
  mpi_transport(const library& mpi, const mpi_options& options)
      : m_server(mpi, options), m_shared(m_server.common()), m_largest(options.largest_message) {}

  std::string start() { return m_server.start(); }

  locality_number number() const noexcept override { return m_server.number(); }
  std::uint32_t size() const noexcept override { return m_shared.size(); }
  const char* name() const noexcept override { return "MPI"; }
  std::size_t largest_message() const noexcept override { return m_largest; }
  std::string_view host_of(locality_number other) const noexcept override { return m_server.about(other).host; }
  std::int64_t process_of(locality_number other) const noexcept override { return m_server.about(other).process; }

  send_status try_send(locality_number to, std::span<const bytes_view> parts) noexcept override;
  std::size_t receive(message_sink& sink, std::size_t limit) noexcept override {
    return m_server.receiving_end().receive(sink, limit);
  }
  void wait(std::uint64_t ns) noexcept override;
  void wake() noexcept override { m_shared.receiver_sleep.wake(); }
  bool leave(std::uint64_t ns) noexcept override;

 private:
  bool is_drained() noexcept;

  server m_server;
  shared& m_shared;
  std::size_t m_largest;
};

send_status mpi_transport::try_send(locality_number to, std::span<const bytes_view> parts) noexcept {
  peer& receiver_of_it = m_shared.at(to);
  if (receiver_of_it.is_gone.load()) return send_status::gone;
  std::size_t total = 0;
  for (const bytes_view part : parts) total += part.size();
  if (!receiver_of_it.stream.append(parts, total)) {
    receiver_of_it.was_refused.store(true);
    // The server may have made room before it could see the flag, and then it does not end anybody's wait.
    if (!receiver_of_it.stream.append(parts, total)) return send_status::no_room;
  }
  m_shared.announce(to);
  return send_status::sent;
}

void mpi_transport::wait(std::uint64_t ns) noexcept {
  if (!m_shared.receiver_sleep.announce()) return;
  if (m_server.receiving_end().has_pieces())
    m_shared.receiver_sleep.withdraw();
  else
    m_shared.receiver_sleep.sleep(ns);
}

bool mpi_transport::is_drained() noexcept {
  for (locality_number other = 0; other < size(); ++other)
    if (!m_shared.at(other).stream.is_empty() && !m_shared.at(other).is_gone.load()) return false;
  return true;
}

bool mpi_transport::leave(std::uint64_t ns) noexcept {
  const std::uint64_t start_ns = base::monotonic_ns();
  if (!m_shared.is_leaving.exchange(true))
    for (locality_number other = 0; other < size(); ++other) {
      if (other == number()) continue;
      m_shared.at(other).stream.append(frame_kind::leaving);
      m_shared.announce(other);
    }
  while (!is_drained()) {
    const std::uint64_t waited_ns = base::monotonic_ns() - start_ns;
    if (waited_ns >= ns) return false;
    if (!m_shared.leaver_sleep.announce()) continue;
    if (is_drained())
      m_shared.leaver_sleep.withdraw();
    else
      m_shared.leaver_sleep.sleep(ns - waited_ns);
  }
  return true;
}

}  // namespace

std::size_t receiver::receive(message_sink& sink, std::size_t limit) noexcept {
  std::size_t count = 0;
  arrival* piece = m_current.load(std::memory_order_relaxed);
  bool has_returned = false;
  while (count < limit) {
    if (piece == nullptr && !m_shared.arrived.is_empty()) piece = m_shared.arrived.take_all();
    if (piece == nullptr) break;
    count += m_shared.at(piece->from).incoming.read(*piece, sink, limit - count);
    if (piece->read < piece->bytes) break;
    arrival* const read_piece = std::exchange(piece, piece->next);
    if (!read_piece->memory) continue;  // news, which are no piece
    m_shared.returned.push(*read_piece);
    has_returned = true;
  }
  m_current.store(piece);
  if (!has_returned) return count;
  // The server may have no piece left to receive into, and a leaver need not wait for one that has left.
  m_shared.server_sleep.wake_if_asleep();
  m_shared.leaver_sleep.wake_if_asleep();
  return count;
}

}  // namespace mpi

opened_transport open_mpi(const mpi_options& options) {
  if (options.largest_message < mpi::least_largest_message || options.largest_message > mpi::most_largest_message)
    return {nullptr, "the largest message over MPI must have from 4096 to 67108864 bytes, not " +
                         std::to_string(options.largest_message)};
  mpi::loaded_library result = mpi::load_library(options.library, options.started_by);
  if (!result.error.empty()) return {nullptr, result.error};
  auto link = std::make_unique<mpi::mpi_transport>(result.mpi, options);
  if (std::string error = link->start(); !error.empty()) return {nullptr, error};
  return {std::move(link), {}};
}

}  // namespace trimtab::parcels
