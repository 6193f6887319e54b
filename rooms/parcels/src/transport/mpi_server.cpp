#include "transport/mpi_server.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <limits>
#include <system_error>

#include "trimtab/base/clock.hpp"
#include "trimtab/base/signals_held.hpp"

namespace trimtab::parcels::mpi {

namespace {

constexpr std::uint64_t spin_ns = 20'000;  // longer than a message takes to and fro, shorter than a scheduler's slice
constexpr std::uint64_t shortest_pause_ns = 10'000, longest_pause_ns = 1'000'000;
constexpr std::uint64_t timer_slack_ns = 1'000;  // the kernel's usual 50 us are longer than the first pauses

struct deaf_sink final : message_sink {
  void on_message(locality_number, bytes_view) noexcept override {}
  void on_left(locality_number) noexcept override {}
  void on_lost(locality_number, std::string_view) noexcept override {}
};

}  // namespace

std::string server::start() {
  const base::signals_held none_for_the_thread;
  try {
    m_thread = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return std::string("the thread for MPI cannot be started: ") + error.what();
  }
  return m_opened.get_future().get();
}

server::~server() {
  if (!m_thread.joinable()) return;
  m_shared.is_ending.store(true);
  m_shared.server_sleep.wake();
  m_thread.join();
}

void server::run() noexcept {
  pthread_setname_np(pthread_self(), "trimtab-mpi");
  prctl(PR_SET_TIMERSLACK, timer_slack_ns, 0, 0, 0);
  const std::string error =
      m_session.open(m_options, [&](std::uint32_t size) { return m_shared.open(size, m_options.largest_message); });
  const bool is_open = error.empty();
  m_opened.set_value(error);
  if (!is_open) return m_session.close();
  serve();
  end();
}

void server::serve() noexcept {
  m_last_move_ns = base::monotonic_ns();
  while (!m_shared.is_ending.load()) {
    if (advance())
      m_last_move_ns = base::monotonic_ns();
    else
      rest();
  }
}

bool server::advance() noexcept {
  collect_announced();
  const bool has_sent = advance_sends();
  post_receives();
  return complete_receives() || has_sent;
}

void server::rest() noexcept {
  const std::uint64_t idle_ns = base::monotonic_ns() - m_last_move_ns;
  if (idle_ns < spin_ns) {
    sched_yield();
    return;
  }
  if (!m_shared.server_sleep.announce()) return;
  if (has_news())
    m_shared.server_sleep.withdraw();
  else
    m_shared.server_sleep.sleep(std::clamp(idle_ns / 4, shortest_pause_ns, longest_pause_ns));
}

bool server::has_news() noexcept {
  if (!m_shared.returned.is_empty()) return true;
  for (std::size_t word = 0; word < m_shared.word_count(); ++word)
    if (m_shared.announced(word).load() != 0) return true;
  return false;
}

bool server::has_broken_peers() noexcept {
  for (locality_number number = 0; number < m_shared.size(); ++number)
    if (m_shared.at(number).is_broken) return true;
  return false;
}

bool server::all_have_ended() noexcept {
  for (locality_number number = 0; number < m_shared.size(); ++number) {
    if (number == m_session.number()) continue;
    const peer& other = m_shared.at(number);
    if (!other.incoming.has_ended() || !other.stream.is_empty()) return false;
  }
  return true;
}

void server::end() noexcept {
  m_shared.is_leaving.store(true);
  for (locality_number number = 0; number < m_shared.size(); ++number) {
    if (number == m_session.number()) continue;
    m_shared.at(number).stream.append(frame_kind::ending);
    m_shared.announce(number);
  }
  deaf_sink nobody;
  const std::uint64_t start_ns = base::monotonic_ns();
  m_last_move_ns = start_ns;
  while (!all_have_ended()) {
    const std::uint64_t now_ns = base::monotonic_ns();
    if (has_broken_peers() || now_ns - start_ns > m_options.patience_ns) return abandon();
    const bool has_moved = advance();
    m_receiver.receive(nobody, std::numeric_limits<std::size_t>::max());
    if (has_moved)
      m_last_move_ns = now_ns;
    else
      rest();
  }
  cancel_receives();
  m_session.close();
}

void server::cancel_receives() noexcept {
  for (; m_posted_count > 0; --m_posted_count, m_oldest_posted = (m_oldest_posted + 1) % most_posted) {
    handle& request = m_posted[m_oldest_posted].request;
    m_mpi.call.cancel(&request);
    m_mpi.call.wait(&request, reinterpret_cast<void*>(m_mpi.table.status_ignore));
  }
}

// MPI may still read from the rings and write to the pieces, if the program goes on to use it.
void server::abandon() noexcept {
  for (locality_number number = 0; number < m_shared.size(); ++number) m_shared.at(number).stream.abandon();
  for (auto& piece : m_pieces) static_cast<void>(piece.release());
}

}  // namespace trimtab::parcels::mpi
