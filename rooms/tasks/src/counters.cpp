#include "trimtab/tasks/core/counters.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "process_locks.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::tasks {

namespace {

enum class id : std::size_t {
#define COUNTER(name, path, unit, how, meaning) name,
#include "trimtab/tasks/core/counter_table.inc"
#undef COUNTER
};

constexpr bool is_level(id which) noexcept {
  return which == id::staged || which == id::suspended || which == id::queue_length;
}

constexpr bool exact = true, estimated = false;

// nan rather than infinite: there is no such figure.
double ratio(double above, double below) noexcept { return below > 0 ? above / below : std::nan(""); }

double figure(id which, const raw_counts& of, double seconds_per_tick) noexcept {
  const auto count = [](std::uint64_t value) { return static_cast<double>(value); };
  const auto seconds = [&](std::uint64_t ticks) { return static_cast<double>(ticks) * seconds_per_tick; };
  const double tasks = count(of.in_place + of.started);
  const double phases = tasks + count(of.resumed);
  const double overall = seconds(of.busy + of.looking + of.parked);
  // Of the time in which there was something to run, the part that was in activations. While none was timed: all.
  const double in_tasks = of.timed_ticks == 0 ? 1.0 : ratio(count(of.timed_ticks), count(of.timed_ticks + of.gap_ticks));
  const double task_time = seconds(of.busy) * in_tasks;
  switch (which) {
    case id::idle_rate:
      return 1.0 - ratio(task_time, overall);
    case id::cumulative:
      return tasks;
    case id::in_place:
      return count(of.in_place);
    case id::phases:
      return phases;
    case id::suspensions:
      return count(of.suspended);
    case id::pending_accesses:
      return count(of.accesses);
    case id::pending_misses:
      return count(of.misses);
    case id::stolen:
      return count(of.stolen);
    case id::steals:
      return count(of.steals);
    case id::parks:
      return count(of.parks);
    case id::stacks:
      return count(of.stacks);
    case id::staged:
      return count(of.made) - count(of.finished) - (count(of.suspended) - count(of.resumed));
    case id::suspended:
      return count(of.suspended) - count(of.resumed);
    case id::queue_length:
      return count(of.queued);
    case id::overall:
      return overall;
    case id::busy:
      return seconds(of.busy);
    case id::looking:
      return seconds(of.looking);
    case id::parked:
      return seconds(of.parked);
    case id::capped:
      return seconds(of.capped);
    case id::task_time:
      return task_time;
    case id::overhead:
      return overall - task_time;
    case id::task_length:
      return ratio(task_time, tasks);
    case id::phase_length:
      return ratio(task_time, phases);
    case id::task_overhead:
      return ratio(overall - task_time, tasks);
    case id::phase_duration:
      return ratio(overall, phases);
  }
  return std::nan("");
}

constexpr std::uint64_t raw_counts::* fields[] = {
    &raw_counts::in_place, &raw_counts::started, &raw_counts::resumed, &raw_counts::suspended,   &raw_counts::made,
    &raw_counts::finished, &raw_counts::parks,   &raw_counts::stacks,  &raw_counts::accesses,    &raw_counts::misses,
    &raw_counts::stolen,   &raw_counts::steals,  &raw_counts::queued,  &raw_counts::busy,        &raw_counts::looking,
    &raw_counts::parked,   &raw_counts::capped,  &raw_counts::timed,   &raw_counts::timed_ticks, &raw_counts::gap_ticks};
static_assert(sizeof fields / sizeof *fields * sizeof(std::uint64_t) == sizeof(raw_counts), "a field is missing");

[[noreturn]] void not_understood(std::string_view path, const std::string& why) {
  throw std::invalid_argument("trimtab: counter \"" + std::string(path) + "\": " + why);
}

// "locality#0/worker-thread#1", "locality#0/total", "locality#*/worker-thread#*": the workers meant.
std::vector<std::int32_t> workers_of(std::string_view path, std::string_view instance, std::uint32_t workers) {
  const std::size_t slash = instance.find('/');
  const std::string_view locality = instance.substr(0, slash);
  if (locality != "locality#0" && locality != "locality#*")
    not_understood(path, std::string("\"").append(locality) + "\" where locality#0 or locality#* is expected");
  const std::string_view part = slash == std::string_view::npos ? "total" : instance.substr(slash + 1);
  if (part == "total") return {counter::all};
  constexpr std::string_view prefix = "worker-thread#";
  if (!part.starts_with(prefix))
    not_understood(path, std::string("\"").append(part) + "\" where total, worker-thread#N or worker-thread#* is expected");
  const std::string_view number = part.substr(prefix.size());
  std::vector<std::int32_t> found;
  if (number == "*") {
    for (std::uint32_t i = 0; i < workers; ++i) found.push_back(static_cast<std::int32_t>(i));
    return found;
  }
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || value >= workers)
    not_understood(path, std::string("worker \"").append(number) + "\" where 0 to " + std::to_string(workers - 1) +
                             " or * is expected");
  return {static_cast<std::int32_t>(value)};
}

}  // namespace

const std::vector<counter_type>& counter_types() {
  static constinit made_once<std::vector<counter_type>> all(of_process::counters);
  return all.get([] {
    return std::vector<counter_type>{
#define COUNTER(name, path, unit, how, meaning) {path, unit, how, meaning, is_level(id::name)},
#include "trimtab/tasks/core/counter_table.inc"
#undef COUNTER
    };
  });
}

snapshot::snapshot(const runtime& of) : at(base::now()), ns_per_tick(runtime::ns_per_tick()) {
  for (std::uint32_t i = 0; i < of.workers(); ++i) {
    workers.push_back(of.raw(i));
    for (const auto field : fields) total.*field += workers.back().*field;
  }
  total.made += of.made_outside();
  total.queued = of.queue_length();
}

std::string counter::path() const {
  const std::string_view bare = type().path;
  const std::size_t slash = bare.find('/', 1);
  const std::string instance = m_worker == all ? "total" : "worker-thread#" + std::to_string(m_worker);
  return std::string(bare.substr(0, slash)) + "{locality#0/" + instance + "}" + std::string(bare.substr(slash));
}

double counter::value(const snapshot& until, const snapshot& since) const {
  const auto of = [&](const snapshot& from) -> raw_counts {
    if (m_worker == all) return from.total;
    return static_cast<std::size_t>(m_worker) < from.workers.size() ? from.workers[static_cast<std::size_t>(m_worker)]
                                                                    : raw_counts{};
  };
  raw_counts counts = of(until);
  if (!type().is_level) {
    const raw_counts before = of(since);
    // A figure may be read while its worker moves it to another: never below 0.
    for (const auto field : fields) counts.*field -= std::min(counts.*field, before.*field);
  }
  return figure(static_cast<id>(m_type), counts, until.ns_per_tick * 1e-9);
}

std::vector<counter> find_counters(const runtime& of, std::string_view path) {
  // "/object{instance}/name": the instance may be missing.
  if (!path.starts_with('/')) not_understood(path, "begins with \"/\", such as /threads/idle-rate");
  std::string bare(path);
  std::vector<std::int32_t> workers{counter::all};
  if (const std::size_t open = path.find('{'); open != std::string_view::npos) {
    const std::size_t close = path.find('}', open);
    if (close == std::string_view::npos) not_understood(path, "\"{\" without \"}\"");
    workers = workers_of(path, path.substr(open + 1, close - open - 1), of.workers());
    bare = std::string(path.substr(0, open)) + std::string(path.substr(close + 1));
  }
  const bool is_open_ended = bare.ends_with('*');
  const std::string_view wanted = is_open_ended ? std::string_view(bare).substr(0, bare.size() - 1) : std::string_view(bare);
  std::vector<counter> found;
  for (std::size_t type = 0; type < counter_types().size(); ++type) {
    const std::string_view known = counter_types()[type].path;
    if (is_open_ended ? !known.starts_with(wanted) : known != wanted) continue;
    for (const std::int32_t worker : workers) found.emplace_back(type, worker);
  }
  if (found.empty()) {
    std::string all_known;
    for (const counter_type& each : counter_types()) all_known += std::string(all_known.empty() ? "" : ", ") + each.path;
    not_understood(path, "there is no such counter; there are " + all_known);
  }
  return found;
}

}  // namespace trimtab::tasks
