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

constexpr bool is_level(id type) noexcept { return type == id::staged || type == id::suspended || type == id::queue_length; }

constexpr bool exact = true, estimated = false;

// nan rather than infinite: there is no such figure.
double ratio(double numerator, double denominator) noexcept {
  return denominator > 0 ? numerator / denominator : std::nan("");
}

constexpr double count(std::uint64_t value) noexcept { return static_cast<double>(value); }

// Of those that count something; nan: the others.
double counted_figure(id type, const raw_counts& counts) noexcept {
  switch (type) {
    case id::cumulative:
      return count(counts.in_place + counts.started);
    case id::in_place:
      return count(counts.in_place);
    case id::phases:
      return count(counts.in_place + counts.started) + count(counts.resumed);
    case id::suspensions:
      return count(counts.suspended);
    case id::pending_accesses:
      return count(counts.accesses);
    case id::pending_misses:
      return count(counts.misses);
    case id::stolen:
      return count(counts.stolen);
    case id::steals:
      return count(counts.steals);
    case id::parks:
      return count(counts.parks);
    case id::stacks:
      return count(counts.stacks);
    case id::staged:
      return count(counts.created) - count(counts.finished) - (count(counts.suspended) - count(counts.resumed));
    case id::suspended:
      return count(counts.suspended) - count(counts.resumed);
    case id::queue_length:
      return count(counts.queued);
    default:
      return std::nan("");
  }
}

double figure(id type, const raw_counts& counts, double seconds_per_tick) noexcept {
  const auto seconds = [&](std::uint64_t ticks) { return static_cast<double>(ticks) * seconds_per_tick; };
  const double tasks = count(counts.in_place + counts.started);
  const double phases = tasks + count(counts.resumed);
  const double overall = seconds(counts.busy + counts.looking + counts.parked);
  // Of the time in which there was something to run, the part that was in activations. While none was timed: all.
  const double in_tasks =
      counts.timed_ticks == 0 ? 1.0 : ratio(count(counts.timed_ticks), count(counts.timed_ticks + counts.gap_ticks));
  const double task_time = seconds(counts.busy) * in_tasks;
  switch (type) {
    case id::idle_rate:
      return 1.0 - ratio(task_time, overall);
    case id::overall:
      return overall;
    case id::busy:
      return seconds(counts.busy);
    case id::looking:
      return seconds(counts.looking);
    case id::parked:
      return seconds(counts.parked);
    case id::capped:
      return seconds(counts.capped);
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
    default:
      return counted_figure(type, counts);
  }
}

constexpr std::uint64_t raw_counts::* fields[] = {
    &raw_counts::in_place, &raw_counts::started, &raw_counts::resumed, &raw_counts::suspended,   &raw_counts::created,
    &raw_counts::finished, &raw_counts::parks,   &raw_counts::stacks,  &raw_counts::accesses,    &raw_counts::misses,
    &raw_counts::stolen,   &raw_counts::steals,  &raw_counts::queued,  &raw_counts::busy,        &raw_counts::looking,
    &raw_counts::parked,   &raw_counts::capped,  &raw_counts::timed,   &raw_counts::timed_ticks, &raw_counts::gap_ticks};
static_assert(sizeof fields / sizeof *fields * sizeof(std::uint64_t) == sizeof(raw_counts), "a field is missing");

[[noreturn]] void not_understood(std::string_view path, const std::string& reason) {
  throw std::invalid_argument("trimtab: counter \"" + std::string(path) + "\": " + reason);
}

// "locality#0/worker-thread#1", "locality#0/total", "locality#*/worker-thread#*": the workers meant.
std::vector<std::int32_t> workers_of(std::string_view path, std::string_view instance, std::uint32_t workers) {
  const std::size_t slash = instance.find('/');
  const std::string_view locality = instance.substr(0, slash);
  if (locality != "locality#0" && locality != "locality#*")
    not_understood(path, std::string("\"").append(locality) + "\" where locality#0 or locality#* is expected");
  const std::string_view part = slash == std::string_view::npos ? "total" : instance.substr(slash + 1);
  if (part == "total") return {counter::every_worker};
  constexpr std::string_view prefix = "worker-thread#";
  if (!part.starts_with(prefix))
    not_understood(path, std::string("\"").append(part) + "\" where total, worker-thread#N or worker-thread#* is expected");
  const std::string_view number = part.substr(prefix.size());
  std::vector<std::int32_t> result;
  if (number == "*") {
    for (std::uint32_t i = 0; i < workers; ++i) result.push_back(static_cast<std::int32_t>(i));
    return result;
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
  static constinit lazy_singleton<std::vector<counter_type>> states(of_process::counters);
  return states.get([] {
    return std::vector<counter_type>{
#define COUNTER(name, path, unit, how, meaning) {path, unit, how, meaning, is_level(id::name)},
#include "trimtab/tasks/core/counter_table.inc"
#undef COUNTER
    };
  });
}

snapshot::snapshot(const runtime& owner) : at(base::now()), ns_per_tick(runtime::ns_per_tick()) {
  for (std::uint32_t i = 0; i < owner.workers(); ++i) {
    workers.push_back(owner.raw(i));
    for (const auto field : fields) total.*field += workers.back().*field;
  }
  total.created += owner.created_outside();
  total.queued = owner.queue_length();
}

std::string counter::path() const {
  const std::string_view bare = type().path;
  const std::size_t slash = bare.find('/', 1);
  const std::string instance = m_worker == every_worker ? "total" : "worker-thread#" + std::to_string(m_worker);
  return std::string(bare.substr(0, slash)) + "{locality#0/" + instance + "}" + std::string(bare.substr(slash));
}

double counter::value(const snapshot& last, const snapshot& first) const {
  const auto counts_of = [&](const snapshot& source) -> raw_counts {
    if (m_worker == every_worker) return source.total;
    return static_cast<std::size_t>(m_worker) < source.workers.size() ? source.workers[static_cast<std::size_t>(m_worker)]
                                                                      : raw_counts{};
  };
  raw_counts counts = counts_of(last);
  if (!type().is_level) {
    const raw_counts baseline = counts_of(first);
    // A figure may be read while its worker moves it to another: never below 0.
    for (const auto field : fields) counts.*field -= std::min(counts.*field, baseline.*field);
  }
  return figure(static_cast<id>(m_type), counts, last.ns_per_tick * 1e-9);
}

std::vector<counter> find_counters(const runtime& owner, std::string_view path) {
  // "/object{instance}/name": the instance may be missing.
  if (!path.starts_with('/')) not_understood(path, "begins with \"/\", such as /threads/idle-rate");
  std::string bare(path);
  std::vector<std::int32_t> workers{counter::every_worker};
  if (const std::size_t open = path.find('{'); open != std::string_view::npos) {
    const std::size_t close = path.find('}', open);
    if (close == std::string_view::npos) not_understood(path, "\"{\" without \"}\"");
    workers = workers_of(path, path.substr(open + 1, close - open - 1), owner.workers());
    bare = std::string(path.substr(0, open)) + std::string(path.substr(close + 1));
  }
  const bool is_open_ended = bare.ends_with('*');
  const std::string_view wanted = is_open_ended ? std::string_view(bare).substr(0, bare.size() - 1) : std::string_view(bare);
  std::vector<counter> result;
  for (std::size_t type = 0; type < counter_types().size(); ++type) {
    const std::string_view type_path = counter_types()[type].path;
    if (is_open_ended ? !type_path.starts_with(wanted) : type_path != wanted) continue;
    for (const std::int32_t worker : workers) result.emplace_back(type, worker);
  }
  if (result.empty()) {
    std::string known_paths;
    for (const counter_type& type : counter_types()) known_paths += std::string(known_paths.empty() ? "" : ", ") + type.path;
    not_understood(path, "there is no such counter; there are " + known_paths);
  }
  return result;
}

}  // namespace trimtab::tasks
