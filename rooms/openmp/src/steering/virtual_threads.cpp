#include "steering/virtual_threads.hpp"

#include <algorithm>
#include <mutex>

#include "steering/steered_loops.hpp"
#include "trimtab/base/spin_lock.hpp"
#include "trimtab/openmp/steering.hpp"

namespace trimtab::openmp {

constinit steering_switch are_virtual_threads_allowed;
constinit thread_local virtual_thread t_virtual{};

namespace {

constexpr std::size_t most_functions = 256;
constexpr std::size_t table_size = 4 * most_functions;
// Regions that are this short many times in a row are left to the ways that cost less than measuring them.
constexpr double short_below_ns = 20'000;
constexpr std::uint32_t short_streak = 64;

// What is known of a function that a program has given to the runtime. Written under the lock, read by all.
struct known_function {
  std::atomic<const void*> outlined;
  std::atomic<std::uint32_t> generation_1;  // see places_generation, + 1; another one: to be asked anew
  std::atomic<loop_site*> site;             // nullptr: not fit
  std::atomic<std::uint32_t> short_ones;    // in a row
  std::atomic<bool> asks_us;                // both its questions reach us
};
known_function table[table_size];
std::size_t used = 0;
std::atomic<bool> is_full{false};
base::spin_lock table_lock;
const std::vector<std::string>* fit = nullptr;  // sorted; as recorder.place_of writes them

// The function's, or the free one where it belongs: most of the table stays free.
known_function& slot_of(const void* outlined) noexcept {
  for (std::size_t at = base::mix_fast(reinterpret_cast<std::uintptr_t>(outlined));; ++at) {
    known_function& slot = table[at % table_size];
    const void* const current = slot.outlined.load(std::memory_order_acquire);
    if (current == nullptr || current == outlined) return slot;
  }
}

bool is_fit(const void* outlined) noexcept {
  char place[160];
  return observe::the_recorder.place_of(outlined, place, sizeof place) &&
         std::binary_search(fit->begin(), fit->end(), place);
}

known_function* learn_function(const void* outlined, std::uint32_t generation_1) noexcept {
  // Asks the loader, so not under our lock.
  loop_site* const site = is_fit(outlined) ? site_of({outlined, any_trip, 0, observe::schedule::static_inferred}) : nullptr;
  const std::lock_guard guard(table_lock);
  known_function* const slot = &slot_of(outlined);
  if (slot->outlined.load(std::memory_order_relaxed) == nullptr) {
    if (used == most_functions) {
      is_full.store(true, std::memory_order_relaxed);
      return nullptr;
    }
    ++used;
  }
  slot->generation_1.store(0, std::memory_order_relaxed);
  slot->site.store(site, std::memory_order_release);  // after the 0: who sees this site does not take it for the old one's
  slot->short_ones.store(0, std::memory_order_relaxed);
  slot->asks_us.store(false, std::memory_order_relaxed);
  slot->outlined.store(outlined, std::memory_order_release);
  slot->generation_1.store(generation_1, std::memory_order_release);
  return slot;
}

known_function* find_function(const void* outlined) noexcept {
  const std::uint32_t generation_1 = places_generation.load(std::memory_order_acquire) + 1;
  known_function& slot = slot_of(outlined);
  if (slot.generation_1.load(std::memory_order_acquire) == generation_1) return &slot;
  // With no room left, the loader is not asked at each fork.
  if (is_full.load(std::memory_order_relaxed) && slot.outlined.load(std::memory_order_relaxed) == nullptr) return nullptr;
  return learn_function(outlined, generation_1);
}

struct virtual_region {
  team shared;
  known_function* function;
  loop_site* site;
  const loop_plan* plan;  // nullptr: as the program wrote it
  alignas(64) std::atomic<std::uint32_t> next{0};
};

void run_blocks(virtual_region& region, std::uint32_t members) {
  const auto outlined = reinterpret_cast<gomp_function>(const_cast<void*>(region.shared.outlined));
  void* const data = region.shared.data;
  if (region.plan == nullptr || members < 2) {
    t_virtual = {true, false, false, 0, 0};
    outlined(data);
    if (t_virtual.has_asked_number && t_virtual.has_asked_threads)
      region.function->asks_us.store(true, std::memory_order_relaxed);
    t_virtual = {};
    return;
  }
  const auto threads = static_cast<std::uint32_t>(region.plan->chunk) * members;
  // Nothing is handed over with a number: the fork has published all that blocks read, the join what they write.
  for (std::uint32_t number; (number = region.next.fetch_add(1, std::memory_order_relaxed)) < threads;) {
    t_virtual = {true, false, false, number, threads};
    outlined(data);
  }
  t_virtual = {};
}

void member_main(void* argument) {
  auto& region = *static_cast<virtual_region*>(argument);
  const caller from{region.shared.of, false};
  const std::uint32_t number = thread_number(from), members = ask(from, symbol::omp_get_num_threads);
  member self;
  begin_member(self, region.shared, number);
  const ticks begin = base::now();
  if (number == 0) region.site->members.store(members, std::memory_order_relaxed);
  run_blocks(region, members);
  add_load(*region.site, number, region.plan, base::now() - begin);
  end_member(self, region.shared);
}

}  // namespace

bool run_virtually(const void* return_address, gomp_function outlined, void* data, unsigned threads, unsigned flags) {
  const auto* const address = reinterpret_cast<const void*>(outlined);
  known_function* const function = find_function(address);
  loop_site* const site = function == nullptr ? nullptr : function->site.load(std::memory_order_acquire);
  if (site == nullptr) return false;
  const caller from = caller_of(address, return_address, entry::gomp);
  auto* const forward = real<void(gomp_function, void*, unsigned, unsigned)>(from, symbol::GOMP_parallel);
  if (forward == nullptr || from.is_internal || !is_steering.load(std::memory_order_relaxed) ||
      ask(from, symbol::omp_get_level) != 0)
    return false;
  virtual_region region;
  if (!fork_team(region.shared, from, address, most_threads(from, threads), nullptr)) return false;
  region.shared.data = data;
  region.shared.is_gcc = true;
  region.function = function;
  region.site = site;
  const loop_plan* const plan =
      function->asks_us.load(std::memory_order_relaxed) ? plan_of(*site, region.shared.epoch) : nullptr;
  region.plan = unless_as_written(plan);
  std::uint32_t none = 0;
  site->subject_1.compare_exchange_strong(none, region.shared.subject + 1, std::memory_order_relaxed);
  const std::uint64_t decision_number = plan == nullptr ? 0 : plan->under, fork_decision = t_forked.under;
  region_has_loop(decision_number);
  const ticks begin = base::now();
  forward(member_main, &region, threads, flags);
  const ticks took = base::now() - begin;
  join_team(region.shared);
  if (!is_steering.load(std::memory_order_relaxed)) return true;  // the child of a fork within
  add_time(*site, {decision_number, fork_decision, took, 1, 1, 0});
  const bool is_short =
      region.plan == nullptr && static_cast<double>(took) < observe::the_recorder.ticks_of_ns(short_below_ns);
  if (!is_short)
    function->short_ones.store(0, std::memory_order_relaxed);
  else if (function->short_ones.fetch_add(1, std::memory_order_relaxed) + 1 == short_streak)
    function->site.store(nullptr, std::memory_order_relaxed);
  return true;
}

void allow_virtual_threads(std::vector<std::string> functions) {
  std::sort(functions.begin(), functions.end());
  fit = new std::vector<std::string>(std::move(functions));
  are_virtual_threads_allowed.store(true, std::memory_order_release);
}

void virtual_threads_after_fork() noexcept {
  are_virtual_threads_allowed.store(false, std::memory_order_relaxed);
  table_lock.reset();
}

}  // namespace trimtab::openmp

using namespace trimtab::openmp;

TRIMTAB_HOOK int omp_get_thread_num() {
  if (t_virtual.is_in) [[unlikely]] {
    t_virtual.has_asked_number = true;
    if (t_virtual.threads != 0) return static_cast<int>(t_virtual.number);
  }
  auto* const forward = real<int()>(caller_at(__builtin_return_address(0), entry::omp), symbol::omp_get_thread_num);
  return forward == nullptr ? 0 : forward();
}
