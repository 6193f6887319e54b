#include "view/load_gossip.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "trimtab/parcels/coalescing/clock.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::parcels {

namespace {

// While a locality is silent, it looks so often whether it has got work: a look takes some microseconds.
constexpr std::uint64_t longest_pause_ns = 50'000'000;

void receive_round(const arrival& parcel) {
  if (load_gossip* const gossip = parcel.receiver.gossip()) gossip->on_view(parcel.from, parcel.arguments, true);
}
void receive_answer(const arrival& parcel) {
  if (load_gossip* const gossip = parcel.receiver.gossip()) gossip->on_view(parcel.from, parcel.arguments, false);
}

constexpr parcel_kind round_kind{.signature = 5, .receive = receive_round, .is_internal = true, .label = "load"};
constexpr parcel_kind answer_kind{.signature = 6, .receive = receive_answer, .is_internal = true, .label = "load, answered"};
constexpr parcel_kind along_kind{
    .signature = 7, .receive = receive_answer, .is_internal = true, .label = "load, along with others"};

// At once, and in a queue of its own: in that of the program's parcels it would change what is expected of these.
action& action_of_its_own(const parcel_kind& kind) {
  action& result = action_registry::of_process().find_or_add(kind, nullptr);
  result.set({.rules = coalescing::way::strict, .count = 1}, true);
  return result;
}

}  // namespace

load_gossip::load_gossip(dispatcher& messages, std::uint32_t localities, locality_number self,
                         const load_sharing_options& settings, std::size_t most_bytes)
    : m_messages(messages),
      m_home(messages.home()),
      m_settings(settings),
      m_self(self),
      m_rules(localities, self, settings, most_bytes),
      m_values(settings.values),
      m_counted(localities) {
  begin_round(0);
}

const action& load_gossip::action_of(sent_as why) {
  static const action& round = action_of_its_own(round_kind);
  static const action& answer = action_of_its_own(answer_kind);
  static const action& along = action_registry::of_process().find_or_add(along_kind, nullptr);
  return why == sent_as::round ? round : why == sent_as::answer ? answer : along;
}

void load_gossip::start() {
  m_is_started.store(true, std::memory_order_seq_cst);
  m_thread = std::thread([this] { watch(); });
  pthread_setname_np(m_thread.native_handle(), "load");
}

void load_gossip::stop() noexcept {
  m_is_ending.store(true, std::memory_order_seq_cst);
  m_pauses.wake_all();
  if (m_thread.joinable()) m_thread.join();
}

std::vector<locality_number> load_gossip::begin_round(std::uint64_t since_begin_ns) {
  const load_sharing::own_state state{static_cast<double>(m_home.running_and_eligible()),
                                      static_cast<double>(m_home.active_workers()), m_home.finished(), m_values};
  const std::uint64_t periods = since_begin_ns / (m_settings.period_us * std::uint64_t{1000});
  const std::lock_guard guard(m_lock);
  const std::uint64_t passed = periods - m_periods;
  m_periods = periods;
  std::vector<locality_number> peers = m_rules.begin_round(state, passed);
  m_is_silent.store(m_rules.is_silent(), std::memory_order_seq_cst);
  return peers;
}

void load_gossip::watch() noexcept {
  const std::uint64_t round_ns = m_settings.period_us * std::uint64_t{1000} / m_settings.rounds;
  const std::uint64_t begin = current_monotonic_ns();
  std::uint64_t pause = round_ns;
  try {
    while (!m_is_ending.load(std::memory_order_seq_cst)) {
      for (const locality_number peer : begin_round(current_monotonic_ns() - begin)) send_view(peer, sent_as::round);
      const std::uint32_t key = m_pauses.prepare();
      const bool must_wake = m_must_wake.exchange(false, std::memory_order_seq_cst);
      const bool is_silent = m_is_silent.load(std::memory_order_seq_cst);
      pause = is_silent && !must_wake ? std::max(round_ns, std::min(2 * pause, longest_pause_ns)) : round_ns;
      if (m_is_ending.load(std::memory_order_seq_cst))
        m_pauses.cancel();
      else
        m_pauses.wait(key, pause);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trimtab: locality %u does not report its load any more: %s\n", m_self, error.what());
  }
}

// Whoever gives a silent locality something to tell.
void load_gossip::wake_from_silence() noexcept {
  if (!m_is_silent.exchange(false, std::memory_order_seq_cst)) return;
  m_must_wake.store(true, std::memory_order_seq_cst);
  m_pauses.wake_all();
}

void load_gossip::send_view(locality_number to, sent_as why) noexcept {
  if (m_is_ending.load(std::memory_order_seq_cst) || !m_is_started.load(std::memory_order_seq_cst)) return;
  try {
    byte_buffer content;
    std::vector<job_view::written_entry> entries;
    {
      const std::lock_guard guard(m_lock);
      if (m_rules.is_gone(to)) return;
      entries = m_rules.write(content, to);
    }
    m_counted[to].store(messages_to(to), std::memory_order_relaxed);
    if (!m_messages.try_send(to, action_of(why), [&](writer& into) { into.write_bytes(content.view()); })) return;
    const std::lock_guard guard(m_lock);
    m_rules.note_sent(to, entries);
  } catch (...) {
    // It was not sent, so it is sent later.
    return;
  }
}

std::uint64_t load_gossip::messages_to(locality_number to) const noexcept {
  return m_messages.traffic().to(to).messages().messages.get();
}

void load_gossip::count_messages(locality_number to, std::uint64_t sent) noexcept {
  const std::uint64_t counted = m_counted[to].exchange(sent, std::memory_order_relaxed);
  // Another thread may have counted them meanwhile.
  if (sent <= counted || m_is_ending.load(std::memory_order_seq_cst)) return;
  bool takes_view = false;
  {
    const std::lock_guard guard(m_lock);
    takes_view = m_rules.on_messages(to, sent - counted);
  }
  if (takes_view) send_view(to, sent_as::along);
}

locality_number load_gossip::choose() {
  const auto own_tasks = static_cast<double>(m_home.running_and_eligible());
  wake_from_silence();
  const std::lock_guard guard(m_lock);
  return m_rules.choose(own_tasks);
}

void load_gossip::set_value(std::uint32_t index, double value) {
  {
    const std::lock_guard guard(m_lock);
    m_values.at(index) = value;
  }
  wake_from_silence();
}

std::vector<known_load> load_gossip::known() const {
  std::vector<known_load> result;
  const std::lock_guard guard(m_lock);
  const job_view& view = m_rules.view();
  for (locality_number number = 0; number < view.size(); ++number) {
    const job_view::entry& entry = view.of(number);
    known_load& added = result.emplace_back();
    added.number = number;
    added.is_known = entry.version != 0;
    added.is_present = !m_rules.is_gone(number);
    added.tasks = entry.values[load_sharing::tasks_value];
    added.workers = entry.values[load_sharing::workers_value];
    added.age = entry.age;
    added.values.assign(entry.values.begin() + load_sharing::own_values, entry.values.end());
  }
  // What is known here is newer than what is told.
  known_load& own = result[m_self];
  own.tasks = static_cast<double>(m_home.running_and_eligible());
  own.values = m_values;
  own.age = 0;
  return result;
}

void load_gossip::on_view(locality_number from, bytes_view content, bool answers) {
  bool has_news = false;
  {
    const std::lock_guard guard(m_lock);
    has_news = m_rules.merge(content, from);
  }
  if (has_news && answers) send_view(from, sent_as::answer);
  wake_from_silence();
}

void load_gossip::set_gone(locality_number which) {
  const std::lock_guard guard(m_lock);
  m_rules.set_gone(which);
}

}  // namespace trimtab::parcels
