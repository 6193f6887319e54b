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

#include "trimtab/steer/knob_source.hpp"
#include "trimtab/steer/settings.hpp"

namespace trimtab::openmp {

// All by the steering thread, apart from what the board calls. One in a process, while the library loads.
class region_steering final : public steer::knob_source {
 public:
  // known: of earlier runs. includes_fixed: num_threads clauses and omp_set_num_threads may be brought down, too.
  region_steering(steer::knob_registry& registry, const std::vector<steer::setting>& settings, bool includes_fixed);
  ~region_steering() override;
  region_steering(const region_steering&) = delete;
  region_steering& operator=(const region_steering&) = delete;

  void add_to(steer::snapshot& now) override;
  // Reports why nothing could be changed.
  void conclude() override;

 private:
  struct entry;
  bool make_known(entry& fresh, steer::snapshot& now);
  void measure(entry& subject_entry, steer::subject_state& state) const;
  void leave(steer::snapshot& now);

  steer::knob_registry& m_registry;
  bool m_includes_fixed;
  bool m_is_over = false;                         // the program relies on a number
  std::vector<std::unique_ptr<entry>> m_entries;  // by site
};

}  // namespace trimtab::openmp
