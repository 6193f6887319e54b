// All loops and steps of a runtime that are tuned or measured: its source of grains, and their subjects.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <shared_mutex>
#include <tuple>

#include "repeated_work.hpp"
#include "trimtab/steer/knob_source.hpp"
#include "trimtab/tasks/algorithms/grain_source.hpp"

namespace trimtab::task_steering {

// Loops or steps of one place in the program, all of a runtime's life.
struct work_total {
  std::string name;
  double seconds = 0, units = 0;
};

class tuned_work final : public tasks::grain_source, public steer::knob_source {
 public:
  // is_grain: sizes may change; otherwise work is only measured, for the cap's sake. key_of: how later runs find a subject.
  tuned_work(worker_cap& cap, std::uint32_t workers, bool is_grain, steer::knob_registry& registry,
             std::function<std::string(const steer::subject_info&)> key_of)
      : m_cap(cap), m_workers(workers), m_is_grain(is_grain), m_registry(registry), m_key_of(std::move(key_of)) {}

  choice begin(const tasks::loop_place& place, std::size_t length) noexcept override;
  void end(const choice& grain_choice, std::size_t length, base::ticks took) noexcept override;

  // Steps of the program: lives as long as whoever holds it. No sizes: measured only.
  std::shared_ptr<repeated_work> add_steps(const std::string& name, std::vector<std::int64_t> sizes, std::int64_t initial);

  void add_to(steer::snapshot& now) override;
  // All that was done so far.
  std::vector<work_total> totals();

 private:
  struct entry {
    std::string name;
    std::uint32_t recorded = 0;
    std::vector<std::int64_t> sizes;  // of steps
    bool is_loop = true;
    std::shared_ptr<repeated_work> work;
    steer::subject_id id = 0;   // 0: not known to the engine
    repeated_work::all before;  // steps that are gone have done
  };
  entry* find(const tasks::loop_place& place);
  steer::knob knob_of(const entry& loop_entry, const repeated_work::known& known_work) const;
  bool offer(entry& loop_entry, steer::snapshot& now);  // false: it has no knob, or none yet
  void withdraw(entry& loop_entry, steer::snapshot& now);

  worker_cap& m_cap;
  std::uint32_t m_workers;
  bool m_is_grain;
  steer::knob_registry& m_registry;
  std::function<std::string(const steer::subject_info&)> m_key_of;
  std::shared_mutex m_lock;  // of the following; entries stay where they are
  std::map<std::tuple<const char*, const char*, std::uint32_t>, entry*> m_loops;
  std::deque<entry> m_entries;
  steer::subject_id m_last = 1;  // the cap's
};

}  // namespace trimtab::task_steering
