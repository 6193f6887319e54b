// Knobs that the program itself has declared (trimtab.h). A work is a subject from its first event on, with all knobs that
// it has by then. With a knob that is declared later it is withdrawn, and offered again with all of them. The objective is
// the mean cost of the events that are measured together.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "trimtab/observe/program_knobs.hpp"
#include "trimtab/steer/knob_source.hpp"
#include "trimtab/steer/settings.hpp"

namespace trimtab::session {

class program_knobs final : public steer::knob_source {
 public:
  program_knobs(steer::knob_registry& registry, const std::vector<steer::setting>& settings);
  void begin() override;
  void add_to(steer::snapshot& now) override;
  // Works without an event are told: nothing could be learnt of them.
  void conclude() override;
  void after_fork() noexcept override { observe::the_program_works.leave(); }

 private:
  struct entry {
    observe::program_work* work;
    std::size_t offered_knobs = 0;          // 0: it is not a subject
    std::vector<steer::knob_value> values;  // under the board's lock, while it is a subject
  };
  void offer(entry& loop_entry, const std::vector<observe::declared_knob>& knobs, steer::snapshot& now);
  void look_at(entry& loop_entry, steer::snapshot& now);

  steer::knob_registry& m_registry;
  const std::string m_prefix;  // of keys
  std::vector<observe::known_value> m_known;
  std::deque<entry> m_entries;  // in the order of the works; they stay where they are
};

}  // namespace trimtab::session
