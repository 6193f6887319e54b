#include "steering/claimed_loops.hpp"

#include <algorithm>

namespace trimtab::openmp {

namespace {

constexpr int claimed_bits = 40;
constexpr std::uint64_t claimed_mask = longest_claimed_trip - 1;
constexpr double kept_share = 0.5;  // of what a member's executions before say
constexpr double least_weight = 0.05;

member_load* load_of(const steered_thread& self, std::uint32_t number) noexcept {
  member_load* const loads = self.site->loads.load(std::memory_order_acquire);
  return loads == nullptr || number >= loop_site::most_members ? nullptr : &loads[number];
}

double rate_of(double iterations, double took) noexcept { return took > 0 ? iterations / took : 0; }

// What the chunk before says of this thread.
void note_chunk(steered_thread& self, ticks now) noexcept {
  if (self.chunk != 0) {
    self.claimed_iterations += static_cast<double>(self.chunk);
    self.claimed_ticks += static_cast<double>(now - self.chunk_begin);
    if (member_load* const load = load_of(self, self.number)) {
      load->claimed_iterations.store(self.claimed_iterations, std::memory_order_relaxed);
      load->claimed_ticks.store(self.claimed_ticks, std::memory_order_relaxed);
    }
  }
  self.chunk = 0;
  self.chunk_begin = now;
}

// 1 until all rates are known.
double weight_of(const steered_thread& self) noexcept {
  const double own_rate = rate_of(self.claimed_iterations, self.claimed_ticks);
  if (own_rate <= 0 || self.others_rate <= 0) return 1;
  const double weight = own_rate * self.members / (own_rate + self.others_rate);
  return std::clamp(weight, least_weight, static_cast<double>(self.members));
}

// Of 24 bits, which go round: members that are half of that apart there are none.
bool is_later(std::uint64_t first, std::uint64_t other) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(first - other) << 8) > 0;
}

}  // namespace

void begin_claims(steered_thread& self) noexcept {
  self.claimed_loop = (self.claimed_loop + 1) & ((1u << (64 - claimed_bits)) - 1);
  self.are_tickets_over = false;
  self.chunk = 0;
  self.claimed_iterations = self.claimed_ticks = self.others_rate = 0;
  bool have_all_rates = true;
  for (std::uint32_t i = 0; i < self.members; ++i) {
    const member_load* const load = load_of(self, i);
    if (load == nullptr) return;
    const double iterations = load->claimed_iterations.load(std::memory_order_relaxed);
    const double took = load->claimed_ticks.load(std::memory_order_relaxed);
    if (i == self.number) {
      self.claimed_iterations = kept_share * iterations;
      self.claimed_ticks = kept_share * took;
      continue;
    }
    have_all_rates = have_all_rates && took > 0;
    self.others_rate += rate_of(iterations, took);
  }
  if (!have_all_rates) self.others_rate = 0;
}

bool claim_chunk(steered_thread& self, std::uint64_t& begin, std::uint64_t& end) noexcept {
  note_chunk(self, base::now());
  const double weight = weight_of(self);
  const std::uint64_t smallest = self.plan->chunk == 0 ? 1 : self.plan->chunk;
  std::atomic<std::uint64_t>& word = self.of->claimed;
  // Relaxed: nothing else is handed over by it. What iterations read was there when the team was forked.
  std::uint64_t current = word.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t loop = current >> claimed_bits;
    if (is_later(loop, self.claimed_loop)) return false;
    begin = loop == self.claimed_loop ? current & claimed_mask : 0;
    if (begin >= self.loop.trip) return false;
    end = begin + awf_chunk(self.loop.trip, begin, self.members, weight, smallest);
    const std::uint64_t claimed = std::uint64_t{self.claimed_loop} << claimed_bits | end;
    if (word.compare_exchange_weak(current, claimed, std::memory_order_relaxed)) break;
  }
  self.chunk = end - begin;
  return true;
}

}  // namespace trimtab::openmp
