// ARCS as published (Chaimov 2017, chapter 7), for comparison: from the first sight of a region on, each of its entries is
// measured once under the next candidate; when the search is over, the best is kept. No guard and no proof: it keeps to no
// budget, measures nothing twice, and searches small regions as well.
//   online    Nelder-Mead, within the run
//   offline   every point, in one run; the history gives the best to the next
// Its search sets: schedule (the program's own, static, dynamic, guided), chunk and threads, as far as a subject has knobs
// of these names; other knobs and values are left alone. A subject that an earlier run has found something for is not
// searched.
#pragma once

#include <map>
#include <memory>

#include "trimtab/steer/policy.hpp"
#include "trimtab/steer/search.hpp"

namespace trimtab::steer {

enum class arcs_kind : std::uint8_t { online, offline };

class arcs : public policy {
 public:
  explicit arcs(arcs_kind kind, std::uint64_t seed = 1);
  ~arcs() override;
  std::string_view name() const noexcept override;
  bool is_guarded() const noexcept override { return false; }
  void observe(const view& now, std::vector<proposal>& out) override;

 private:
  class region;

  arcs_kind m_kind;
  std::uint64_t m_seed;
  std::map<subject_id, std::unique_ptr<region>> m_regions;
};

}  // namespace trimtab::steer
