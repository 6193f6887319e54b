// ARCS as published (Chaimov 2017, chapter 7), for comparison: from the first sight of a region on, each of its entries is
// measured once under the next candidate; when the search is over, the best is kept. No guard and no proof: it keeps to no
// budget, measures nothing twice, and searches small regions as well.
//   online    Nelder-Mead, within the run
//   offline   every point, in one run; the history gives the best to the next
// One search for each region, over its number of threads, and the schedule and chunk that all its loops have together
// (ARCS sets them for the region): what it takes is the region's time. Where a region's number of threads may not be
// changed, each of its loops has a search of its own, by the loop's time.
//
// Its search sets: schedule (the program's own, static, dynamic, guided), chunk and threads (arcs.cpp), as far as a subject
// has knobs of these names and values; other knobs and values are left alone: up to 4 x 9 x 7 points. The best is kept, and
// so remembered, also where it is what the program does by itself. What an earlier run has found is not searched again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "trimtab/steer/policy.hpp"
#include "trimtab/steer/search.hpp"

namespace trimtab::steer {

enum class arcs_kind : std::uint8_t { online, offline };

class arcs : public policy {
 public:
  // is_known: an earlier run has found something for it.
  explicit arcs(arcs_kind kind, std::uint64_t seed = 1, std::function<bool(const subject_info&)> has_settings = {});
  ~arcs() override;
  std::string_view name() const noexcept override;
  bool is_guarded() const noexcept override { return false; }
  void observe(const view& now, std::vector<proposal>& out) override;

 private:
  class region;
  using members = std::vector<const subject_view*>;
  std::vector<members> regions_of(const view& now);
  bool is_known(const members& subjects) const;
  bool has_turn(const subject_view& subject);

  arcs_kind m_kind;
  std::uint64_t m_seed;
  std::function<bool(const subject_info&)> m_is_known;
  std::map<subject_id, std::unique_ptr<region>> m_regions;  // by their first member
  std::map<std::uint64_t, subject_id> m_turns;              // of loops of a group that are searched alone
  std::map<subject_id, std::size_t> m_waiting;              // measurements of a loop until it is searched alone
};

}  // namespace trimtab::steer
