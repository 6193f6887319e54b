#include "steering/team_evaluation.hpp"

#include <algorithm>

#include "steering/idle_threads.hpp"
#include "steering/team_sizes.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {

std::atomic<evaluation_kind> evaluation_due{evaluation_kind::none};

namespace {

std::atomic<std::uint32_t> members_asked{0};

// One writer, the thread that forks; the number is stored last.
struct {
  std::atomic<std::uint64_t> number{0};
  std::atomic<std::uint32_t> members{0}, spread{0};
  std::atomic<std::uint64_t> passage{0};
} told;

template <class number>
void raise_to(std::atomic<number>& most, number value) noexcept {
  for (number before = most.load(std::memory_order_relaxed);
       before < value && !most.compare_exchange_weak(before, value, std::memory_order_relaxed);) {
  }
}
template <class number>
void lower_to(std::atomic<number>& least, number value) noexcept {
  for (number before = least.load(std::memory_order_relaxed);
       before > value && !least.compare_exchange_weak(before, value, std::memory_order_relaxed);) {
  }
}

struct trial_team {
  void (*barrier)();
  std::atomic<std::uint32_t> members{0};
  std::atomic<std::uint64_t> first_in{~std::uint64_t{0}}, last_out{0};
  std::atomic<std::uint32_t> next{0}, most{0}, least{~0u};
};

void pass_barrier(void* data) {
  trial_team& of = *static_cast<trial_team*>(data);
  of.members.fetch_add(1, std::memory_order_relaxed);
  lower_to(of.first_in, base::now());
  of.barrier();
  raise_to(of.last_out, base::now());
}

// 1000 empty iterations, one at a time to whoever comes. From a common start: it is not the fork that is measured.
void take_iterations(void* data) {
  constexpr std::uint32_t iterations = 1000;
  trial_team& of = *static_cast<trial_team*>(data);
  of.members.fetch_add(1, std::memory_order_relaxed);
  of.barrier();
  std::uint32_t mine = 0;
  while (of.next.fetch_add(1, std::memory_order_relaxed) < iterations) mine += 1;
  raise_to(of.most, mine);
  lower_to(of.least, mine);
}

}  // namespace

void ask_for_evaluation(evaluation_kind kind, std::uint32_t members) noexcept {
  members_asked.store(members, std::memory_order_relaxed);
  evaluation_due.store(kind, std::memory_order_release);
}

evaluation latest_evaluation() noexcept {
  evaluation made;
  made.number = told.number.load(std::memory_order_acquire);
  made.members = told.members.load(std::memory_order_relaxed);
  made.spread = told.spread.load(std::memory_order_relaxed);
  made.passage_s =
      static_cast<double>(told.passage.load(std::memory_order_relaxed)) * observe::the_recorder.clock().ns_per_tick * 1e-9;
  return made;
}

void evaluate(const caller& from, std::uint32_t own) noexcept {
  const evaluation_kind kind = evaluation_due.exchange(evaluation_kind::none, std::memory_order_acq_rel);
  // Both families of runtimes have these two.
  auto* const fork = real<void(void (*)(void*), void*, unsigned, unsigned)>(from, symbol::GOMP_parallel);
  auto* const barrier = real<void()>(from, symbol::GOMP_barrier);
  if (kind == evaluation_kind::none || fork == nullptr || barrier == nullptr) return;
  trial_team with;
  with.barrier = barrier;
  const std::uint32_t latest = the_team_sizes.latest();
  const std::uint32_t members = std::max(members_asked.load(std::memory_order_relaxed), latest);
  fork(kind == evaluation_kind::barrier ? pass_barrier : take_iterations, &with, std::clamp(members, 1u, own), 0);
  pool_has(with.members.load(std::memory_order_relaxed));
  told.members.store(with.members.load(std::memory_order_relaxed), std::memory_order_relaxed);
  if (kind == evaluation_kind::barrier)
    told.passage.store(with.last_out.load(std::memory_order_relaxed) - with.first_in.load(std::memory_order_relaxed),
                       std::memory_order_relaxed);
  else
    told.spread.store(with.most.load(std::memory_order_relaxed) - with.least.load(std::memory_order_relaxed),
                      std::memory_order_relaxed);
  told.number.store(told.number.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}  // namespace trimtab::openmp
