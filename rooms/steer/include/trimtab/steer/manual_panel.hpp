// The way from a user's `trimtab top` into an engine: offers the knobs of its subjects in a mapped file (knob_panel of
// observe), turns requests into events of the next snapshot (manual_policy.hpp), and answers them with what became of them.
// A request that makes no sense is answered at once, and the engine never sees it.
// By the steering thread: add_to after all sources and before the step, decided for each decision of the step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trimtab/observe/knob_panel.hpp"
#include "trimtab/steer/board.hpp"
#include "trimtab/steer/snapshot.hpp"

namespace trimtab::steer {

class manual_panel {
 public:
  struct place {
    std::string folder;              // of the process in the run; "": nothing is recorded, and nothing can be turned
    std::string engine = {};         // "" of the process; otherwise which one of it, such as "runtime-1"
    std::uint64_t first_number = 0;  // what is added to numbers of decisions in the run's records
  };
  manual_panel(place panel_place, const board& knobs) : m_place(std::move(panel_place)), m_knobs(knobs) {}

  // recorded: the subject's number in the run's records; numbers: those of its knobs. A subject may appear again.
  void add(const subject_info& subject, std::uint32_t recorded, const std::vector<std::uint32_t>& numbers);
  void add_to(snapshot& now);
  void decided(const decision& decision_made, bool is_applied);

  // Why the file could not be made: an errno. 0: it was not needed yet, or is there.
  int failure() const noexcept { return m_failure; }

 private:
  struct entry {
    knob turned;
    subject_id subject = 0;
    std::uint32_t position = 0;  // its place among the subject's knobs
    bool has_left = false, is_by_hand = false;
  };
  struct waiting {
    std::size_t slot;
    observe::knob_wish wish;
    bool is_decided = false, is_applied = false;
    std::uint64_t decision = 0;
  };
  bool is_created();
  void describe(std::size_t slot);
  void show_values(subject_id subject);
  void answer_pending();
  void accept(std::size_t slot, const observe::knob_wish& wish, snapshot& now);

  const place m_place;
  const board& m_knobs;
  observe::knob_panel m_panel;
  int m_failure = 0;
  std::vector<entry> m_entries;                  // by slot
  std::map<std::uint32_t, std::size_t> m_slots;  // by the knob's number in the records
  std::vector<waiting> m_waiting;                // requests of the latest snapshot
  std::vector<subject_id> m_changed;             // subjects whose values may be others
};

}  // namespace trimtab::steer
