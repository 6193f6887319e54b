#include "steering/loop_shares.hpp"

#include <algorithm>

namespace trimtab::openmp {

namespace {

constexpr std::uint64_t ceil_of(std::uint64_t value, std::uint64_t divisor) noexcept {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

}  // namespace

std::uint64_t mfsc_chunk(std::uint64_t trip, std::uint32_t threads, std::uint64_t smallest) noexcept {
  const std::uint64_t chunks = ticket_chunks(sharing::fac2, trip, threads, 1).tickets();
  return std::max(smallest, ceil_of(trip, std::max<std::uint64_t>(chunks, 1)));
}

std::uint64_t awf_chunk(std::uint64_t trip, std::uint64_t begun, std::uint32_t threads, double weight,
                        std::uint64_t smallest) noexcept {
  const std::uint64_t left = trip - begun;
  // What was left when the batch began: they end where half of it, half of that, ... is left.
  std::uint64_t batch = trip;
  while (batch / 2 >= left) batch /= 2;
  const double share = weight * static_cast<double>(batch) / (2.0 * threads);
  return std::min(left, std::max({static_cast<std::uint64_t>(share), smallest, std::uint64_t{1}}));
}

namespace {

std::uint32_t percent_of(sharing method, std::uint32_t given_percent) noexcept {
  constexpr std::uint32_t half = 50, of_sss = 75;
  if (!has_first_chunk(method)) return half;
  if (given_percent != first_percent_of_scheme) return std::min(given_percent, 100u);
  return method == sharing::sss ? of_sss : half;
}

}  // namespace

ticket_chunks::ticket_chunks(sharing method, std::uint64_t trip, std::uint32_t threads, std::uint64_t smallest,
                             std::uint32_t first_percent) noexcept
    : m_how(method), m_trip(trip), m_least(smallest), m_threads(threads), m_percent(percent_of(method, first_percent)) {
  if (method == sharing::tss) {
    const std::uint64_t first = std::max(share_of(trip), m_least);
    m_tickets = ceil_of(2 * trip, first + m_least);
    m_first = static_cast<double>(first);
    m_fall = m_tickets > 1 ? static_cast<double>(first - m_least) / static_cast<double>(m_tickets - 1) : 0;
    // So many make at least the trip; what the others have made already, the last must not begin.
    while (m_tickets > 1 && begin_of(m_tickets - 1) >= m_trip) --m_tickets;
    return;
  }
  m_at = first_batch();
  batch last = m_at;
  while (!is_last(last)) advance(last);
  m_tickets = last.ticket + ceil_of(trip - last.iteration, last.size);
}

std::uint64_t ticket_chunks::share_of(std::uint64_t left) const noexcept {
  return ceil_of(left * m_percent, 100 * m_threads);
}

ticket_chunks::batch ticket_chunks::first_batch() const noexcept { return {0, 0, std::max(share_of(m_trip), m_least)}; }

// The same share of what is left, but chunks of the least size go on to the end.
void ticket_chunks::advance(batch& chunk_batch) const noexcept {
  chunk_batch.ticket += m_threads;
  chunk_batch.iteration = std::min(chunk_batch.iteration + chunk_batch.size * m_threads, m_trip);
  chunk_batch.size = std::max(share_of(m_trip - chunk_batch.iteration), m_least);
}

std::uint64_t ticket_chunks::begin_of(std::uint64_t ticket) noexcept {
  if (ticket >= m_tickets) return m_trip;
  if (m_how == sharing::tss) {
    const auto t = static_cast<double>(ticket);
    return std::min(m_trip, static_cast<std::uint64_t>(t * m_first - m_fall * t * (t - 1) / 2));
  }
  if (ticket < m_at.ticket) m_at = first_batch();
  while (!is_last(m_at) && ticket >= m_at.ticket + m_threads) advance(m_at);
  return std::min(m_trip, m_at.iteration + (ticket - m_at.ticket) * m_at.size);
}

}  // namespace trimtab::openmp
