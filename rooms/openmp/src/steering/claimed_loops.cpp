#include "steering/claimed_loops.hpp"

#include <algorithm>

namespace trimtab::openmp {

namespace {

constexpr int claimed_bits = 40;
constexpr std::uint64_t claimed_mask = longest_claimed_trip - 1;
constexpr double kept_share = 0.5;  // of what a member's executions before say
constexpr double least_weight = 0.05;

member_load* load_of(const steered_thread& mine, std::uint32_t number) noexcept {
  member_load* const loads = mine.site->loads.load(std::memory_order_acquire);
  return loads == nullptr || number >= loop_site::most_members ? nullptr : &loads[number];
}

double rate_of(double iterations, double took) noexcept { return took > 0 ? iterations / took : 0; }

// What the chunk before says of this thread.
void note_chunk(steered_thread& mine, ticks now) noexcept {
  if (mine.chunk != 0) {
    mine.claimed_iterations += static_cast<double>(mine.chunk);
    mine.claimed_ticks += static_cast<double>(now - mine.chunk_begin);
    if (member_load* const load = load_of(mine, mine.number)) {
      load->claimed_iterations.store(mine.claimed_iterations, std::memory_order_relaxed);
      load->claimed_ticks.store(mine.claimed_ticks, std::memory_order_relaxed);
    }
  }
  mine.chunk = 0;
  mine.chunk_begin = now;
}

// 1 until all rates are known.
double weight_of(const steered_thread& mine) noexcept {
  const double own = rate_of(mine.claimed_iterations, mine.claimed_ticks);
  if (own <= 0 || mine.others_rate <= 0) return 1;
  const double weight = own * mine.members / (own + mine.others_rate);
  return std::clamp(weight, least_weight, static_cast<double>(mine.members));
}

// Of 24 bits, which go round: members that are half of that apart there are none.
bool is_later(std::uint64_t one, std::uint64_t other) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(one - other) << 8) > 0;
}

}  // namespace

void begin_claims(steered_thread& mine) noexcept {
  mine.claimed_loop = (mine.claimed_loop + 1) & ((1u << (64 - claimed_bits)) - 1);
  mine.are_tickets_over = false;
  mine.chunk = 0;
  mine.claimed_iterations = mine.claimed_ticks = mine.others_rate = 0;
  bool are_all_known = true;
  for (std::uint32_t i = 0; i < mine.members; ++i) {
    const member_load* const load = load_of(mine, i);
    if (load == nullptr) return;
    const double iterations = load->claimed_iterations.load(std::memory_order_relaxed);
    const double took = load->claimed_ticks.load(std::memory_order_relaxed);
    if (i == mine.number) {
      mine.claimed_iterations = kept_share * iterations;
      mine.claimed_ticks = kept_share * took;
      continue;
    }
    are_all_known = are_all_known && took > 0;
    mine.others_rate += rate_of(iterations, took);
  }
  if (!are_all_known) mine.others_rate = 0;
}

bool claim_chunk(steered_thread& mine, std::uint64_t& begin, std::uint64_t& end) noexcept {
  note_chunk(mine, base::now());
  const double weight = weight_of(mine);
  const std::uint64_t least = mine.plan->chunk == 0 ? 1 : mine.plan->chunk;
  std::atomic<std::uint64_t>& word = mine.of->claimed;
  // Relaxed: nothing else is handed over by it. What iterations read was there when the team was forked.
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t loop = seen >> claimed_bits;
    if (is_later(loop, mine.claimed_loop)) return false;
    begin = loop == mine.claimed_loop ? seen & claimed_mask : 0;
    if (begin >= mine.loop.trip) return false;
    end = begin + awf_chunk(mine.loop.trip, begin, mine.members, weight, least);
    const std::uint64_t claimed = std::uint64_t{mine.claimed_loop} << claimed_bits | end;
    if (word.compare_exchange_weak(seen, claimed, std::memory_order_relaxed)) break;
  }
  mine.chunk = end - begin;
  return true;
}

}  // namespace trimtab::openmp
