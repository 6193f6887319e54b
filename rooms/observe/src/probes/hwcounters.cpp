// Cycles, instructions and cache misses of each lane in user mode, through perf_event_open.
#include <cmath>
#include <mutex>

#include "instances.hpp"
#include "perf.hpp"
#include "slot_table.hpp"
#include "trimtab/base/spin_lock.hpp"

namespace trimtab::observe {

namespace {

struct slot {
  hardware_group group;
  double finished[hardware_counters];  // by the lane's earlier threads
};
constinit slot_table<slot> slots;

class hwcounters_probe final : public probe {
 public:
  bool start(recorder& to, const char* root) noexcept override {
    m_root = root;
    forget_lanes();
    m_has_told = false;
    hardware_group trial;
    const int error = trial.open(0);
    if (error != 0) {
      const perf_refusal refusal = explain_perf(error, root);
      to.unavailable("hardware counters", refusal.why, refusal.remedy);
      return false;
    }
    trial.close();
    constexpr const char* names[hardware_counters] = {"cycles", "instructions", "cache misses"};
    for (unsigned i = 0; i < hardware_counters; ++i)
      m_counters[i] = to.add_counter(names[i], "1", "perf hardware counter, user mode", true);
    return true;
  }

  void after_fork() noexcept override {
    m_lock.reset();
    forget_lanes();  // closes the child's copies of the descriptors
  }

  void lane_opened(recorder& to, lane& affected_lane) noexcept override {
    const std::lock_guard guard(m_lock);
    slot* const own_slot = slots.make(affected_lane.id());
    if (own_slot == nullptr) return;
    if (affected_lane.id() >= m_slots_used) m_slots_used = affected_lane.id() + 1;
    const int error = own_slot->group.open(affected_lane.header().tid);
    if (error == 0 || m_has_told) return;
    m_has_told = true;
    const perf_refusal refusal = explain_perf(error, m_root);
    to.unavailable("hardware counters of some lanes", refusal.why, refusal.remedy);
  }

  void lane_closed(recorder& to, lane& affected_lane) noexcept override {
    const std::lock_guard guard(m_lock);
    slot* const own_slot = slots.find(affected_lane.id());
    if (own_slot == nullptr) return;
    hardware_reading last;
    if (write(to, affected_lane.id(), *own_slot, base::now(), last))
      for (unsigned i = 0; i < hardware_counters; ++i)
        if (!std::isnan(last.values[i])) own_slot->finished[i] += last.values[i];
    own_slot->group.close();
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    for (std::uint32_t i = 0; i < m_slots_used.load(std::memory_order_acquire); ++i) {
      const std::lock_guard guard(m_lock);
      slot* const own_slot = slots.find(i);
      hardware_reading now;
      if (own_slot == nullptr || write(to, i, *own_slot, at, now) || !own_slot->group.is_open() || m_has_told) continue;
      m_has_told = true;
      to.unavailable("hardware counters, from some time on", "the program closed their descriptors",
                     "let it close only what it opened");
    }
  }

 private:
  void forget_lanes() noexcept {
    slots.for_each(m_slots_used, [](slot& known_slot) {
      known_slot.group.close();
      known_slot = {};
    });
    m_slots_used = 0;
  }

  // Under m_lock. False: nothing could be read.
  bool write(recorder& to, std::uint32_t lane, slot& own_slot, base::ticks at, hardware_reading& now) noexcept {
    if (!own_slot.group.read(now)) return false;
    for (unsigned i = 0; i < hardware_counters; ++i)
      if (!std::isnan(now.values[i])) to.sample(m_counters[i], lane, own_slot.finished[i] + now.values[i], at);
    return true;
  }

  const char* m_root = nullptr;
  std::uint32_t m_counters[hardware_counters] = {};
  bool m_has_told = false;
  std::atomic<std::uint32_t> m_slots_used{0};
  base::spin_lock m_lock;  // slots
};

constinit hwcounters_probe the_probe;

}  // namespace

probe* hwcounters_probe_instance() { return &the_probe; }

}  // namespace trimtab::observe
