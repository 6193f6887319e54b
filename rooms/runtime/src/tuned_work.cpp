#include "tuned_work.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "trimtab/steer/diagnosis.hpp"
#include "trimtab/tasks/core/recording.hpp"

namespace trimtab::task_steering {

namespace {

// Of one program: each has its measurements. Those beyond run as without an engine.
constexpr std::size_t most_entries = 512;
// Pieces of loops that are tried are at least so long.
constexpr double least_piece_s = 2e-6;
constexpr double loop_change_s = 1e-6;
constexpr double largest_size = 1LL << 40;

std::int64_t power_of_two(double bound) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::clamp(bound, 1.0, largest_size))));
}

}  // namespace

tuned_work::entry* tuned_work::find(const tasks::loop_place& place) {
  const std::tuple key(place.algorithm, place.file, place.line);
  {
    const std::shared_lock guard(m_lock);
    if (const auto match = m_loops.find(key); match != m_loops.end()) return match->second;
  }
  const std::lock_guard guard(m_lock);
  if (const auto match = m_loops.find(key); match != m_loops.end()) return match->second;
  if (m_entries.size() >= most_entries) return m_loops[key] = nullptr;
  const std::string_view file(place.file);
  entry fresh;
  fresh.name = place.name != nullptr ? place.name->kind().name
                                     : std::string(place.algorithm) + " at " +
                                           std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(place.line);
  // Under the name of its tasks.
  fresh.recorded = place.name != nullptr ? place.name->recorded().subject()
                                         : tasks::recording::subject_of(fresh.name.c_str(), place.file, place.line);
  // Adaptive, as without an engine.
  fresh.work = std::make_shared<repeated_work>(m_cap, 0);
  return m_loops[key] = &m_entries.emplace_back(std::move(fresh));
}

tasks::grain_source::choice tuned_work::begin(const tasks::loop_place& place, std::size_t) noexcept try {
  entry* const loop_entry = find(place);
  if (loop_entry == nullptr) return {};
  const repeated_work::begun begun = loop_entry->work->begin();
  return {static_cast<std::size_t>(begun.size), loop_entry->work.get(), begun.under, begun.workers_under, begun.joules};
} catch (...) {
  return {};
}

void tuned_work::end(const choice& grain_choice, std::size_t length, base::ticks took) noexcept {
  if (grain_choice.loop == nullptr) return;
  const repeated_work::begun begun{static_cast<std::int64_t>(grain_choice.grain), grain_choice.under,
                                   grain_choice.workers_under, grain_choice.joules};
  static_cast<repeated_work*>(grain_choice.loop)
      ->end(begun, static_cast<double>(took) * tasks::runtime::ns_per_tick() * 1e-9, static_cast<double>(length));
}

std::shared_ptr<repeated_work> tuned_work::add_steps(const std::string& name, std::vector<std::int64_t> sizes,
                                                     std::int64_t initial) {
  entry fresh;
  fresh.name = name;
  fresh.is_loop = false;
  fresh.recorded = tasks::recording::subject_of(name.c_str(), "", 0);
  fresh.sizes = std::move(sizes);
  fresh.work = std::make_shared<repeated_work>(m_cap, initial);
  const std::lock_guard guard(m_lock);
  return m_entries.emplace_back(std::move(fresh)).work;
}

// Of loops the sizes that may make a difference: 0, which is adaptive, and powers of two from pieces of some microseconds to
// the whole.
steer::knob tuned_work::knob_of(const entry& loop_entry, const repeated_work::known& known_work) const {
  if (!loop_entry.is_loop) {
    const std::int64_t initial = loop_entry.work->begin().size;
    steer::knob size{"size", steer::certain(steer::domain::set(loop_entry.sizes)), initial, 0, steer::consent::safe, 1, {}};
    size.remedies.push_back({std::string(steer::causes::too_small), {8 * initial, 32 * initial}});
    size.remedies.push_back({std::string(steer::causes::starvation), {initial / 8}});
    return size;
  }
  std::vector<std::int64_t> sizes{0};
  const std::int64_t largest = power_of_two(known_work.most_units);
  // Of a piece, which one worker runs: the loop's time is that of all.
  const double unit_s = known_work.unit_s * m_workers;
  for (std::int64_t grain = std::min(largest, power_of_two(least_piece_s / unit_s)); grain <= largest; grain *= 2)
    sizes.push_back(grain);
  return {"grain", steer::certain(steer::domain::set(std::move(sizes))), 0, loop_change_s, steer::consent::safe, 0, {}};
}

bool tuned_work::offer(entry& loop_entry, steer::snapshot& now) {
  const repeated_work::known known_work = loop_entry.work->so_far();
  if (!m_is_grain || known_work.unit_s <= 0 || (!loop_entry.is_loop && loop_entry.sizes.size() < 2)) return false;
  loop_entry.id = ++m_last;
  const steer::subject_info info{loop_entry.id, loop_entry.name, {knob_of(loop_entry, known_work)}};
  const auto apply = [work = loop_entry.work.get()](std::uint32_t, steer::knob_value to) {
    work->turn(to);
    return true;
  };
  const auto confirm = [work = loop_entry.work.get()](steer::decision_number number) { work->in_force(number); };
  m_registry.offer(now, {info, m_key_of(info), loop_entry.recorded, apply, confirm});
  return true;
}

// Nobody has the steps any more.
void tuned_work::withdraw(entry& loop_entry, steer::snapshot& now) {
  if (loop_entry.id != 0) m_registry.withdraw(now, loop_entry.id);
  loop_entry.before = loop_entry.work->total();
  loop_entry.work.reset();
}

void tuned_work::add_to(steer::snapshot& now) {
  const std::lock_guard guard(m_lock);
  for (entry& each : m_entries) {
    if (each.work == nullptr) continue;
    std::vector<steer::measurement> measured = each.work->take();
    if (!each.is_loop && each.work.use_count() == 1)
      withdraw(each, now);
    else if (each.id != 0 || offer(each, now))
      now.subjects.push_back({each.id, std::move(measured), {}});
  }
}

std::vector<work_total> tuned_work::totals() {
  const std::lock_guard guard(m_lock);
  std::vector<work_total> totals;
  for (const entry& known_entry : m_entries) {
    const repeated_work::all total = known_entry.work != nullptr ? known_entry.work->total() : known_entry.before;
    if (total.units > 0) totals.push_back({known_entry.name, total.seconds, total.units});
  }
  return totals;
}

}  // namespace trimtab::task_steering
