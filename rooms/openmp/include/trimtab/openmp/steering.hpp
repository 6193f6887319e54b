// Loops of unmodified programs as subjects with knobs. Knobs of a loop, all safe (every iteration is executed once, by one
// thread, whatever they say):
//   dynamic, guided, runtime   schedule: as-written, static, dynamic, guided, fac2, tss, mfsc, awf, sss; chunk: the (least)
//                              chunk; first_chunk: of tss and sss, percent of an even share
//   clang's static             partition: even, or weighted by what the parts of the loop cost, as learnt while it runs
//   clang's static,c           chunk; 0 is the program's own
//   GCC's static               blocks: how many a thread; 0 is the program's own way. Only where allow_virtual_threads says
//   so
// Loops of nested regions, ordered and doacross loops, sections, taskloops and distribute are left alone.
// The objective is seconds per iteration (of GCC's static loops, per region: nobody tells their trip count), from the first
// thread's start to the end of the barrier after the loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trimtab/steer/knob_source.hpp"
#include "trimtab/steer/search.hpp"
#include "trimtab/steer/settings.hpp"

namespace trimtab::openmp {

// Before the process forks its first team, or by the thread that is about to, while no other can: its loops may be changed.
// What earlier runs found is in force from the first of them on. False: no memory.
bool begin_steering(const std::vector<steer::setting>& settings);
// With the user's consent, these functions, checked and named as recorder.place_of does, are run by virtual threads.
void allow_virtual_threads(std::vector<std::string> functions);
// In the child of a fork: its regions run as the program wrote them.
void end_steering() noexcept;

// Which points of a loop's space mean the same; empty: all are different, or it is no loop.
std::function<steer::point(steer::point)> same_points(const steer::subject_info& subject);

// All by the steering thread, apart from what the board calls.
class loop_steering : public steer::knob_source {
 public:
  // known: of earlier runs. learns: costs of weighted loops go on being learnt (not in a frozen run). rests: short loops are
  // measured, and other ways to share them out tried, in a sample until one is kept (not where regions are measured with
  // what was changed in their loops).
  loop_steering(steer::knob_registry& registry, std::vector<steer::setting> settings, bool learns, bool rests);
  ~loop_steering() override;
  loop_steering(const loop_steering&) = delete;
  loop_steering& operator=(const loop_steering&) = delete;

  void add_to(steer::snapshot& now) override;
  // What is to be kept besides knobs' values is written: facts of the run.
  void decided(const steer::decision& decision_made) override;
  void conclude() override;
  void after_fork() noexcept override { end_steering(); }

 private:
  struct entry;
  bool make_known(entry& fresh, steer::snapshot& now);
  void measure(entry& subject_entry, steer::subject_state& state);
  void learn(entry& subject_entry, steer::subject_state& state, double now_s);
  void write_costs(const entry& subject_entry) const;
  bool is_changed(const entry& subject_entry) const;
  void watch_regions();

  steer::knob_registry& m_registry;
  std::vector<steer::setting> m_known;
  bool m_learns, m_rests;
  std::vector<std::unique_ptr<entry>> m_entries;  // by site
};

}  // namespace trimtab::openmp
