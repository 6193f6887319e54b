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

std::int64_t power_of_two(double at_least) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::clamp(at_least, 1.0, largest_size))));
}

}  // namespace

tuned_work::entry* tuned_work::find(const tasks::loop_place& of) {
  const std::tuple key(of.algorithm, of.file, of.line);
  {
    const std::shared_lock guard(m_lock);
    if (const auto found = m_loops.find(key); found != m_loops.end()) return found->second;
  }
  const std::lock_guard guard(m_lock);
  if (const auto found = m_loops.find(key); found != m_loops.end()) return found->second;
  if (m_entries.size() >= most_entries) return m_loops[key] = nullptr;
  const std::string_view file(of.file);
  entry fresh;
  fresh.name = of.name != nullptr ? of.name->kind().name
                                  : std::string(of.algorithm) + " at " + std::string(file.substr(file.rfind('/') + 1)) +
                                        ":" + std::to_string(of.line);
  // Under the name of its tasks.
  fresh.recorded = of.name != nullptr ? of.name->recorded().subject()
                                      : tasks::recording::subject_of(fresh.name.c_str(), of.file, of.line);
  // Adaptive, as without an engine.
  fresh.work = std::make_shared<repeated_work>(m_cap, 0);
  return m_loops[key] = &m_entries.emplace_back(std::move(fresh));
}

tasks::grain_source::choice tuned_work::begin(const tasks::loop_place& of, std::size_t) noexcept try {
  entry* const found = find(of);
  if (found == nullptr) return {};
  const repeated_work::begun begun = found->work->begin();
  return {static_cast<std::size_t>(begun.size), found->work.get(), begun.under, begun.workers_under};
} catch (...) {
  return {};
}

void tuned_work::end(const choice& made, std::size_t length, base::ticks took) noexcept {
  if (made.loop == nullptr) return;
  const repeated_work::begun begun{static_cast<std::int64_t>(made.grain), made.under, made.workers_under};
  static_cast<repeated_work*>(made.loop)->end(begun, static_cast<double>(took) * tasks::runtime::ns_per_tick() * 1e-9,
                                              static_cast<double>(length));
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
steer::knob tuned_work::knob_of(const entry& of, const repeated_work::known& known) const {
  if (!of.is_loop) {
    const std::int64_t initial = of.work->begin().size;
    steer::knob size{"size", steer::certain(steer::domain::set(of.sizes)), initial, 0, steer::consent::safe, 1, {}};
    size.remedies.push_back({std::string(steer::causes::too_small), {8 * initial, 32 * initial}});
    size.remedies.push_back({std::string(steer::causes::starvation), {initial / 8}});
    return size;
  }
  std::vector<std::int64_t> sizes{0};
  const std::int64_t most = power_of_two(known.most_units);
  // Of a piece, which one worker runs: the loop's time is that of all.
  const double unit_s = known.unit_s * m_workers;
  for (std::int64_t each = std::min(most, power_of_two(least_piece_s / unit_s)); each <= most; each *= 2)
    sizes.push_back(each);
  return {"grain", steer::certain(steer::domain::set(std::move(sizes))), 0, loop_change_s, steer::consent::safe, 0, {}};
}

bool tuned_work::offer(entry& its, steer::snapshot& now) {
  const repeated_work::known known = its.work->so_far();
  if (!m_is_grain || known.unit_s <= 0 || (!its.is_loop && its.sizes.size() < 2)) return false;
  its.id = ++m_last;
  const steer::subject_info info{its.id, its.name, {knob_of(its, known)}};
  const auto apply = [work = its.work.get()](std::uint32_t, steer::knob_value to) {
    work->turn(to);
    return true;
  };
  const auto confirm = [work = its.work.get()](steer::decision_number number) { work->in_force(number); };
  m_registry.offer(now, {info, m_key_of(info), its.recorded, apply, confirm});
  return true;
}

// Nobody has the steps any more.
void tuned_work::withdraw(entry& its, steer::snapshot& now) {
  if (its.id != 0) m_registry.withdraw(now, its.id);
  its.before = its.work->total();
  its.work.reset();
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
  std::vector<work_total> made;
  for (const entry& each : m_entries) {
    const repeated_work::all its = each.work != nullptr ? each.work->total() : each.before;
    if (its.units > 0) made.push_back({each.name, its.seconds, its.units});
  }
  return made;
}

}  // namespace trimtab::task_steering
