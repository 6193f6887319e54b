// Outermost regions as subjects with a knob, where the user consents to numbers of threads of their own: "threads", 1, 2, 4,
// ... and the program's own number. The objective is seconds per region, from fork to join, with what it costs the next
// region to have more threads again. The rules are in team_sizes.hpp: in a program that was told its number of threads there
// are no such subjects.
//
// A region and its loops are one group: one of them is on trial at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trimtab/steer/board.hpp"
#include "trimtab/steer/record.hpp"
#include "trimtab/steer/settings.hpp"
#include "trimtab/steer/snapshot.hpp"

namespace trimtab::openmp {

// All by the steering thread, apart from what the board calls. One in a process, while the library loads.
class region_steering {
 public:
  // known: of earlier runs. includes_fixed: num_threads clauses and omp_set_num_threads may be brought down, too.
  region_steering(steer::board& knobs, steer::decision_record& record, const std::vector<steer::setting>& known,
                  bool includes_fixed);
  ~region_steering();
  region_steering(const region_steering&) = delete;
  region_steering& operator=(const region_steering&) = delete;

  // What happened since the last call.
  void add_to(steer::snapshot& now);
  // How settings name the subject; "": not one of these.
  std::string key_of(steer::subject_id subject) const;
  // The program ends: why nothing could be changed is told.
  void conclude() const;

 private:
  struct entry;
  bool make_known(entry& fresh, steer::snapshot& now);
  void measure(entry& of, steer::subject_state& state) const;
  void leave(steer::snapshot& now);

  steer::board& m_knobs;
  steer::decision_record& m_record;
  bool m_includes_fixed;
  bool m_is_over = false;                         // the program relies on a number
  std::vector<std::unique_ptr<entry>> m_entries;  // by site
};

}  // namespace trimtab::openmp
