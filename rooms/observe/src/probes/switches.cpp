// Each context switch of each lane: when, on which CPU, and whether the lane was preempted (still runnable)
// or went to wait. Through perf_event_open on own threads, which needs no privilege up to perf_event_paranoid 2.
#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>

#include "instances.hpp"
#include "perf.hpp"
#include "slot_table.hpp"
#include "trimtab/base/spin_lock.hpp"

namespace trimtab::observe {

namespace {

// Records written at profile level (64 MiB); later switches are counted but not written.
constexpr std::uint64_t most_records = std::uint64_t{1} << 21;

struct slot {
  switch_ring ring;
  std::uint64_t preemptions;
  std::uint64_t sampled;
  std::uint64_t preempted_since;  // mono ns; 0: not preempted now
  std::uint64_t preempted_ns;
};
constinit slot_table<slot> slots;

class switches_probe final : public probe {
 public:
  bool start(recorder& to, const char* root) noexcept override {
    m_root = root;
    forget_lanes();
    m_records = m_lost = m_sampled_lost = 0;
    m_has_told = false;
    // It shows whether that may be done, and serves the first lane, if that is this thread's.
    m_first_tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
    const int error = m_first.open(m_first_tid);
    if (error != 0) {
      const perf_refusal refusal = explain_perf(error, root);
      to.unavailable("preemptions and their CPUs", refusal.why, refusal.remedy);
      return false;
    }
    m_preemptions = to.add_counter("preemptions", "1", "perf context-switch records", true);
    m_preempted = to.add_counter("preempted time", "s", "perf context-switch records", true);
    m_lost_counter = to.add_counter("switch records lost", "1", "perf context-switch records", true);
    return true;
  }

  void after_fork() noexcept override {
    m_lock.reset();
    slots.for_each(m_slots_used, [](slot& known_slot) { known_slot.ring.forget(); });
    forget_lanes();
  }

  void lane_opened(recorder& to, lane& affected_lane) noexcept override {
    const std::lock_guard guard(m_lock);
    slot* const own_slot = slots.make(affected_lane.id());
    if (own_slot == nullptr) return;
    if (affected_lane.id() >= m_slots_used) m_slots_used = affected_lane.id() + 1;
    const int error = open_ring(own_slot->ring, affected_lane.header().tid);
    if (error == 0 || m_has_told) return;
    m_has_told = true;
    const perf_refusal refusal = explain_perf(error, m_root);
    to.unavailable("preemptions of some lanes", refusal.why, refusal.remedy);
  }

  void lane_closed(recorder& to, lane& affected_lane) noexcept override {
    const std::lock_guard guard(m_lock);
    slot* const own_slot = slots.find(affected_lane.id());
    if (own_slot == nullptr) return;
    drain(to, affected_lane.id(), *own_slot);
    own_slot->ring.close();
    own_slot->preempted_since = 0;
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    for (std::uint32_t i = 0; i < m_slots_used.load(std::memory_order_acquire); ++i) {
      std::uint64_t preemptions = 0;
      double preempted_s = 0;
      {
        const std::lock_guard guard(m_lock);
        slot* const own_slot = slots.find(i);
        if (own_slot == nullptr) continue;
        drain(to, i, *own_slot);
        if (own_slot->preemptions == own_slot->sampled) continue;
        own_slot->sampled = preemptions = own_slot->preemptions;
        preempted_s = static_cast<double>(own_slot->preempted_ns) * 1e-9;
      }
      to.sample(m_preemptions, i, static_cast<double>(preemptions), at);
      to.sample(m_preempted, i, preempted_s, at);
    }
    const std::uint64_t lost = m_lost.load(std::memory_order_relaxed);
    if (lost == m_sampled_lost) return;
    m_sampled_lost = lost;
    to.sample(m_lost_counter, no_lane, static_cast<double>(lost), at);
  }

 private:
  int open_ring(switch_ring& ring, std::uint32_t tid) noexcept {
    if (tid != m_first_tid) return ring.open(tid);
    m_first_tid = 0;
    ring = m_first;
    return 0;
  }

  void forget_lanes() noexcept {
    slots.for_each(m_slots_used, [](slot& known_slot) {
      known_slot.ring.close();
      known_slot = {};
    });
    m_slots_used = 0;
  }

  // Under m_lock.
  void drain(recorder& to, std::uint32_t lane, slot& own_slot) noexcept {
    switch_ring::record switch_record;
    std::uint64_t lost = 0;
    const std::uint64_t end = own_slot.ring.end();
    while (own_slot.ring.next(switch_record, lost, end)) {
      if (!switch_record.is_out && own_slot.preempted_since != 0 && switch_record.mono_ns > own_slot.preempted_since)
        own_slot.preempted_ns += switch_record.mono_ns - own_slot.preempted_since;
      own_slot.preempted_since = switch_record.is_preempted ? switch_record.mono_ns : 0;
      own_slot.preemptions += switch_record.is_preempted ? 1 : 0;
      if (!to.traces() && m_records >= most_records) {
        lost += 1;
        continue;
      }
      m_records += 1;
      const event_kind kind = switch_record.is_out ? event_kind::switch_out : event_kind::switch_in;
      to.add_switch(event{ticks_of(to, switch_record.mono_ns), no_subject, static_cast<std::uint16_t>(kind),
                          static_cast<std::uint16_t>(switch_record.is_preempted ? 1 : 0), switch_record.cpu, lane});
    }
    m_lost.fetch_add(lost, std::memory_order_relaxed);
  }

  static base::ticks ticks_of(recorder& to, std::uint64_t mono_ns) noexcept {
    const process_header& process = to.process();
    const auto ns_since = static_cast<double>(static_cast<std::int64_t>(mono_ns - process.mono_ns_0));
    return process.ticks_0 + static_cast<base::ticks>(static_cast<std::int64_t>(to.ticks_of_ns(ns_since)));
  }

  const char* m_root = nullptr;
  switch_ring m_first{};
  std::uint32_t m_first_tid = 0;  // 0: it has been given to a lane
  std::uint32_t m_preemptions = 0;
  std::uint32_t m_preempted = 0;
  std::uint32_t m_lost_counter = 0;
  bool m_has_told = false;
  std::uint64_t m_records = 0;
  std::uint64_t m_sampled_lost = 0;
  std::atomic<std::uint64_t> m_lost{0};
  std::atomic<std::uint32_t> m_slots_used{0};
  base::spin_lock m_lock;  // slots, m_records
};

constinit switches_probe the_probe;

}  // namespace

probe* switches_probe_instance() { return &the_probe; }

}  // namespace trimtab::observe
