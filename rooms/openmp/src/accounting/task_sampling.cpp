#include "accounting/task_sampling.hpp"

#include <algorithm>

#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {

namespace {

constexpr std::uint32_t most_recent = 256;
constexpr double most_weight = 32'768;  // of tasks that the share of waiting rests on

double ticks_of(double ns) noexcept { return observe::the_recorder.ticks_of_ns(ns); }

// Of a gap, before one of its kind was seen: some wait, since a quick task seldom takes that long.
double first_guess() noexcept { return ticks_of(task_sampling::longest_quick_ns); }

}  // namespace

// Uniform in 1 .. 2 * mean - 1: irregular, so that no pattern of the program's falls in step with it.
std::uint32_t task_sampling::draw_gap(const task_kind& kind) noexcept {
  if (kind.timed < warm_up || kind.recent == 0) return 1;
  const double mean = static_cast<double>(kind.recent_ticks) / kind.recent;
  if (mean >= ticks_of(long_ns)) return 1;
  const auto longest = static_cast<double>(most_gap);
  const auto gap = static_cast<std::uint32_t>(std::clamp(ticks_of(worth_ns) / std::max(mean, 1.0), 2.0, longest));
  // xorshift (Marsaglia 2003).
  if (random == 0) random = 0x9e3779b97f4a7c15u;
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  return 1 + static_cast<std::uint32_t>((random >> 32) * (2 * gap - 1) >> 32);
}

task_weight task_sampling::draw_weight(task_kind& kind) noexcept {
  const std::uint32_t before = std::max(kind.gap, 1u);
  kind.gap = kind.until_timed = draw_gap(kind);
  return {before + kind.gap};
}

void task_sampling::learn(task_kind& kind, ticks own_time, ticks waits, task_weight weight) noexcept {
  const auto longest = static_cast<ticks>(ticks_of(longest_quick_ns));
  kind.timed += kind.timed < warm_up ? 1 : 0;
  kind.recent_ticks += std::min(own_time + waits, longest);
  if (++kind.recent == most_recent) {
    kind.recent /= 2;
    kind.recent_ticks /= 2;
  }
  if (own_time > longest) long_worked += static_cast<double>(own_time);
  if (waits > longest) long_waited += static_cast<double>(waits);
  if (!now.is_inside) return;
  const double times = 0.5 * weight.halves;
  waited += times * static_cast<double>(std::min(waits, longest));
  worked += times * static_cast<double>(std::min(own_time, longest));
  if (waited + worked > most_weight * ticks_of(quick_ns)) {
    waited /= 2;
    worked /= 2;
  }
}

void task_sampling::begin_stretch(ticks at, ticks idle) noexcept {
  looked_at = at;
  idle_at_look = idle;
  since_look = 0;
  has_waits = open_waits > 0;
}

ticks task_sampling::waiting_until(ticks at, ticks idle) noexcept {
  const ticks idle_time = idle > idle_at_look ? idle - idle_at_look : 0;
  const ticks all = at > looked_at ? at - looked_at : 0;
  const auto took = static_cast<double>(all > idle_time ? all - idle_time : 0);
  const double quick = ticks_of(quick_ns) * std::max(since_look, 1u);
  const bool can_wait = has_waits;
  begin_stretch(at, idle);
  if (!can_wait) return 0;
  const double share = waited > 0 ? waited / (waited + worked) : 0.0;
  // What is shorter was in the sample, as often as it should be.
  const double gap = took - quick > ticks_of(longest_quick_ns) ? took - quick : 0.0;
  const double share_of_gap = (long_waited + first_guess()) / (long_waited + long_worked + first_guess());
  return static_cast<ticks>((took - gap) * share + gap * share_of_gap);
}

}  // namespace trimtab::openmp
