// The rules by which localities share load: what each reports of itself and when, who gets its view, who is answered, and
// where a task goes that has become runnable.
//
// Views spread by gossip, by push and pull: in each round a locality sends a random other one what that may not know, and
// gets back what it does not know itself (A. Demers and others, "Epidemic algorithms for replicated database maintenance",
// PODC 1987). A locality is silent while it has nothing new, and others know what it knows.
//
// Pure: no thread, no lock, no clock. One thread at a time. Jobs use it by load_gossip, simulations directly.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trimtab/parcels/view/job_view.hpp"
#include "trimtab/parcels/view/placement.hpp"
#include "trimtab/parcels/view/view_spreader.hpp"

namespace trimtab::parcels {

// The same in all localities.
struct load_sharing_options {
  // A locality reports its load anew after this time, in us, 100 or more.
  std::uint32_t period_us = 4'000;
  // In each period it sends its view so many times, 1 or more, to so many random localities.
  std::uint32_t rounds = 3;
  std::uint32_t fan_out = 1;
  // Of so many messages to a locality, one takes the view along; 0: none does.
  std::uint32_t messages = 16;
  // By this the own locality's chance is multiplied when a task is placed, 0 or more. Above 1, fewer tasks move.
  double local_preference = 1;
  // Values of the program that travel with the load.
  std::uint32_t values = 0;
  // Of all random choices.
  std::uint64_t seed = 1;
};

// What is wrong with them; empty: nothing.
std::string problem_of(const load_sharing_options& settings);

class load_sharing {
 public:
  // most_bytes: of a message with a view. Throws std::invalid_argument.
  load_sharing(std::uint32_t localities, locality_number self, const load_sharing_options& settings, std::size_t most_bytes);

  struct own_state {
    double tasks = 0;  // running and eligible
    double workers = 1;
    std::uint64_t finished = 0;  // tasks that have ended
    std::span<const double> values = {};
  };
  // A round begins, so many periods after the last one. Returns who gets the view now.
  std::vector<locality_number> begin_round(const own_state& state, std::uint64_t periods);
  // Nothing has happened here in the last period, and the others know what is known here.
  bool is_silent() const;

  // So many messages have been sent to that locality. True: the view is to go along with the next one.
  bool on_messages(locality_number to, std::uint64_t count) { return m_spreader.on_messages(to, count); }

  // The content of a message to that locality. When it has been sent: note_sent. What could not be sent is sent later.
  std::vector<job_view::written_entry> write(byte_buffer& into, locality_number to) const { return m_view.write(into, to); }
  void note_sent(locality_number to, std::span<const job_view::written_entry> entries);
  // A view has come. True: there is something that the sender may not know, so it gets an answer. Throws
  // malformed_message, and has then changed nothing.
  bool merge(bytes_view content, locality_number from);

  // Where a task goes. own_tasks: running and eligible, now.
  locality_number choose(double own_tasks);
  // A locality has left or is lost: it gets nothing any more.
  void set_gone(locality_number which) { m_spreader.set_gone(which); }

  const job_view& view() const noexcept { return m_view; }
  bool is_gone(locality_number which) const { return m_spreader.is_gone(which); }
  // Of the values in a view: these come first, then the program's.
  static constexpr std::uint32_t tasks_value = 0, workers_value = 1, placed_value = 2, own_values = 3;

 private:
  bool is_changed(const own_state& state) const;
  double count_senders() const;

  job_view m_view;
  view_spreader m_spreader;
  placement m_placement;
  std::uint64_t m_finished = 0;  // when the last version was made
  bool m_is_active = true;
  std::vector<double> m_values;  // of the version that is made
  std::vector<placement_load> m_loads;
};

}  // namespace trimtab::parcels
