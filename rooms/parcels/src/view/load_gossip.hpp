// Spreads the load of the localities of a job: a thread that begins the rounds, and the parcels that carry views.
//
// Any thread may call anything. The lock is never held while something is sent, because whoever sends may receive.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "trimtab/parcels/calls/dispatcher.hpp"
#include "trimtab/parcels/view/known_load.hpp"
#include "trimtab/parcels/view/load_sharing.hpp"
#include "trimtab/tasks/core/event_count.hpp"

namespace trimtab::parcels {

class load_gossip {
 public:
  // The dispatcher, which must live longer, is not used before start().
  load_gossip(dispatcher& messages, std::uint32_t localities, locality_number self, const load_sharing_options& settings,
              std::size_t most_bytes);
  ~load_gossip() { stop(); }
  load_gossip(const load_gossip&) = delete;
  load_gossip& operator=(const load_gossip&) = delete;

  // When parcels can be sent.
  void start();
  // Nothing is sent afterwards; views that come are still read. Once.
  void stop() noexcept;

  // Where a task goes that is runnable now.
  locality_number choose();
  // Throws std::out_of_range. value: finite.
  void set_value(std::uint32_t index, double value);
  std::vector<known_load> known() const;

  // By the thread that receives. answers: the sender wants what it does not know.
  void on_view(locality_number from, bytes_view content, bool answers);
  void set_gone(locality_number which);
  // A parcel was sent there, and perhaps messages.
  void on_parcel_sent(locality_number to) noexcept {
    const std::uint64_t sent = messages_to(to), counted = m_counted[to].load(std::memory_order_relaxed);
    if (sent - counted >= m_settings.messages && m_settings.messages != 0) [[unlikely]]
      count_messages(to, sent);
  }

 private:
  // round: an answer is wanted, and the parcel is a message of its own. answer: the same without an answer. along: it waits
  // for other parcels like those of the program.
  enum class sent_as : std::uint8_t { round, answer, along };
  static const action& action_of(sent_as why);

  std::uint64_t messages_to(locality_number to) const noexcept;
  void count_messages(locality_number to, std::uint64_t sent) noexcept;
  void send_view(locality_number to, sent_as why) noexcept;
  void watch() noexcept;
  std::vector<locality_number> begin_round(std::uint64_t since_begin_ns);
  void wake_from_silence() noexcept;

  dispatcher& m_messages;
  tasks::runtime& m_home;
  const load_sharing_options m_settings;
  const locality_number m_self;
  mutable std::mutex m_lock;  // of the next three
  load_sharing m_rules;
  std::vector<double> m_values;                       // of the program
  std::uint64_t m_periods = 0;                        // that have passed since the begin
  std::vector<std::atomic<std::uint64_t>> m_counted;  // messages by locality, when the view was sent there last
  std::atomic<bool> m_is_started{false}, m_is_ending{false};
  std::atomic<bool> m_is_silent{false}, m_must_wake{false};
  tasks::event_count m_pauses;
  std::thread m_thread;
};

}  // namespace trimtab::parcels
