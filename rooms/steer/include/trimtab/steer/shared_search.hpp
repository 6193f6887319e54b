// One search for several members that run the same program: each is given candidates to measure, so that several are
// measured at the same time. Pure: no clock, no threads, no transport; one thread.
//
//   exploring    each free member measures the incumbent and then a candidate; the search learns the ratio of the two, so
//                that members of different speeds can be compared. If there are more members than candidates, several
//                measure parts of one candidate.
//                Where the search ends, the neighbours of its best point are measured, too.
//   confirming   the best candidates once more, with more measurements: what was best by luck falls back
//   proving      candidate and incumbent in pairs, by each member in random order, until the pairs of all members together
//                prove the gain (trial.hpp)
//   verifying    all members run with the candidate, and with the incumbent, at the same time: no member may gain at the
//                expense of others
//   settled      kept by all, or undone; members measure the level now and then, and if it drifts the search begins anew
//
// A candidate is asked for again if its member leaves, and if it is late.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trimtab/steer/budget.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/search.hpp"
#include "trimtab/steer/shared_order.hpp"
#include "trimtab/steer/trial.hpp"

namespace trimtab::steer {

struct shared_search_options {
  search_kind kind = search_kind::parallel_rank_order;
  std::uint64_t seed = 1;
  std::uint32_t most_evaluations = 0;  // candidates of one search; 0: what suits its kind
  double alpha = 0.05;                 // false acceptances, of all proofs together
  double least_gain = 0.02;
  std::uint32_t per_candidate = 3;  // measurements, of all members together
  std::uint32_t per_reference = 2;  // of the incumbent, before each candidate
  std::uint32_t finalists = 3;      // candidates that are measured once more
  std::uint32_t per_finalist = 4;   // measurements, of all members together
  std::uint32_t most_proofs = 2;    // of one search
  double clearly_worse = 1.5;       // a candidate this much above the incumbent is not measured further
  double patience_s = 2;            // a member that is silent for longer is not waited for
  double recheck_s = 1;             // between two measurements of the level, once settled
  double drift = 0.25;              // of the level, as a logarithm
  std::uint64_t first_order = 0;    // orders have numbers above this one: of a search that follows another one
  double drift_after_s = 2;         // since it settled; doubles each time
};

class shared_search {
 public:
  enum class phase : std::uint8_t { exploring, confirming, proving, verifying, settled };

  // The knobs' initial values are the incumbent.
  explicit shared_search(std::vector<knob> knobs, const shared_search_options& options = {});

  // Times never fall. A member that leaves, or is lost, may join again.
  void join(member_number member, double time_s);
  void leave(member_number member);
  // Of an order that is not the member's latest: ignored.
  void report(member_number member, const shared_report& reported, double time_s);
  // Orders for all members that can have one. To be called after each of the above, and from time to time.
  std::vector<std::pair<member_number, shared_order>> give_out(double time_s);

  phase state() const noexcept { return m_phase; }
  // All members have said that they run with what is accepted, and nothing is searched.
  bool is_settled_everywhere() const;
  const knob_values& accepted() const noexcept { return m_accepted; }
  std::uint32_t evaluations() const noexcept { return m_evaluations; }  // candidates measured, of all searches
  std::uint32_t searches() const noexcept { return m_generation; }      // that have begun
  const paired_trial& trial() const noexcept { return m_trial; }        // the latest proof
  std::string_view name() const noexcept { return m_search->name(); }

 private:
  // A candidate that is being measured.
  struct candidate {
    point at;
    knob_values values;
    std::uint32_t wanted = 0;     // measurements
    std::uint32_t given_out = 0;  // that members are asked for and have not reported
    std::vector<double> ratios;   // to the incumbent; one for each measurement
    std::uint32_t left() const noexcept {
      const std::size_t asked = ratios.size() + given_out;
      return asked < wanted ? static_cast<std::uint32_t>(wanted - asked) : 0;
    }
  };
  struct member_state {
    std::uint64_t order = 0;  // outstanding; 0: none
    double given_s = 0;
    order_purpose purpose = order_purpose::undo;
    std::uint32_t measurements = 0;  // of the candidate
    point at;                        // the candidate of that order
    bool is_late = false;
    bool is_repeated = false;              // its part has been given to another member as well
    level reference;                       // of the incumbent
    knob_values afterwards;                // of that order
    knob_values runs_with;                 // as it has reported
    std::vector<bool> is_candidate_first;  // of each pair of that order
    bool is_in_turn = false;               // it takes part in the verification
    std::vector<double> logs[2];           // there: of what it has measured of the incumbent, of the candidate
    std::uint32_t rechecks = 0;            // since it settled
    double settled_level = 0, rechecked_s = 0;
  };
  using orders = std::vector<std::pair<member_number, shared_order>>;

  void begin_search();
  void note_late(double time_s);
  double patience() const;
  candidate* find(const point& at);
  void release(member_state& member);

  void explore(double time_s, orders& out);
  void fill();
  void add_candidate(const point& at, std::uint32_t measurements);
  std::uint32_t part() const;
  candidate* next_candidate(double time_s);
  void take_ratio(member_state& member, const shared_report& reported);
  void complete(double time_s);
  bool add_neighbours();
  void end_exploring(double time_s);
  void prove_next(double time_s);

  void begin_proof(const knob_values& values);
  std::uint32_t pairs_of_order() const;
  void prove(double time_s, orders& out);
  void take_pairs(const member_state& member, const shared_report& reported);
  void judge(double time_s);
  void accept(double time_s);

  void begin_verification();
  void begin_turn();
  const knob_values& values_of_turn() const;
  void give_turn(double time_s, orders& out);
  void verify(double time_s, orders& out);
  void take_turn(member_state& member, const shared_report& reported);
  void end_turn(double time_s);

  void settle(double time_s);
  void keep_watch(double time_s, orders& out);
  void catch_up(double time_s, orders& out);
  void take_level(member_state& member, const shared_report& reported, double time_s);
  bool has_drifted(double time_s) const;

  shared_order order_for(order_purpose purpose, const knob_values& afterwards) const;
  void give(member_number number, shared_order order, double time_s, orders& out);
  std::string why() const;

  const std::vector<knob> m_knobs;
  const shared_search_options m_options;
  random_source m_random;
  std::uint32_t m_settle = 0;
  knob_values m_accepted;
  std::map<member_number, member_state> m_members;
  std::uint64_t m_orders = 0;       // the number of the latest
  std::uint64_t m_first_order = 0;  // orders of this search, or of this proof, have higher numbers
  phase m_phase = phase::exploring;

  std::unique_ptr<search> m_search;
  std::vector<candidate> m_candidates;  // being measured
  point m_looked_around;                // its neighbours have been measured
  std::vector<search::found> m_told;    // to this search; when confirming: in that phase
  std::uint32_t m_evaluations = 0, m_generation = 0;
  level m_order_s;  // how long orders take
  double m_longest_order_s = 0;

  std::vector<search::found> m_finalists;  // best first
  std::size_t m_next_finalist = 0;
  knob_values m_candidate;  // that is being proved
  paired_trial m_trial;
  std::uint32_t m_proofs = 0;  // of all searches
  std::uint32_t m_proofs_of_search = 0;
  bool m_has_failed = false;  // the candidate could not be applied, or could not be measured
  enum class turn_step : std::uint8_t { applying, measuring } m_step = turn_step::applying;
  std::uint32_t m_turns = 0;  // that are over
  bool m_is_turn_given = false;

  bool m_is_told = false;  // settled: all members have been ordered to what is accepted
  bool m_is_kept = false;
  estimate m_gain;
  double m_settled_s = 0, m_drift_after_s = 0;
};

}  // namespace trimtab::steer
