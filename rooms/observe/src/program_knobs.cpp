#include "trimtab/observe/program_knobs.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

namespace {

constexpr double enough_s = 200e-6;
constexpr std::uint32_t most_values = 4096;
constexpr std::uint64_t most_of_range = 1u << 20;
constexpr std::string_view see = "docs/guide/tune-program.md";

// Nothing between two commas is a name, too, which is refused.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

declared_knob copy_of(const ::trimtab_knob_declaration& declared) {
  declared_knob created;
  created.name = declared.name == nullptr ? "" : declared.name;
  created.initial = declared.initial;
  if (declared.names != nullptr) {
    created.names = split(declared.names);
  } else if (declared.values != nullptr) {
    created.values.assign(declared.values, declared.values + std::min(declared.count, most_values + 1));
    std::sort(created.values.begin(), created.values.end());
    created.values.erase(std::unique(created.values.begin(), created.values.end()), created.values.end());
  } else {
    created.least = declared.least, created.most = declared.most, created.step = declared.step;
  }
  return created;
}

bool is_range(const declared_knob& knob) noexcept { return knob.names.empty() && knob.values.empty(); }

bool contains(const declared_knob& knob, std::int64_t value) {
  if (!knob.names.empty()) return value >= 0 && static_cast<std::size_t>(value) < knob.names.size();
  if (!knob.values.empty()) return std::binary_search(knob.values.begin(), knob.values.end(), value);
  if (value < knob.least || value > knob.most) return false;
  const auto distance = static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(knob.least);
  return distance % static_cast<std::uint64_t>(knob.step) == 0;
}

std::string wrong_range(const declared_knob& knob) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  if (knob.step < 1) return "its step is " + number(knob.step) + ", expected 1 or more";
  if (knob.least > knob.most) return "least " + number(knob.least) + " is above most " + number(knob.most);
  const std::uint64_t width = static_cast<std::uint64_t>(knob.most) - static_cast<std::uint64_t>(knob.least);
  if (width / static_cast<std::uint64_t>(knob.step) >= most_of_range) return "it has more than a million values";
  return "";
}

std::string wrong_names(std::vector<std::string> names) {
  if (std::find(names.begin(), names.end(), "") != names.end()) return "one of its names is empty";
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end() ? "" : "two of its names are the same";
}

// "": nothing.
std::string mistake_in(const declared_knob& knob) {
  if (knob.name.empty() || knob.name.find_first_of(" =,.\t\n") != std::string::npos)
    return "its name is '" + knob.name + "', expected one without blanks and without = , .";
  if (knob.values.size() > most_values) return "it has more than 4096 values";
  if (std::string mistake = is_range(knob) ? wrong_range(knob) : wrong_names(knob.names); !mistake.empty()) return mistake;
  return contains(knob, knob.initial) ? ""
                                      : "its initial value " + std::to_string(knob.initial) + " is not one of its values";
}

std::optional<std::int64_t> value_of(const declared_knob& knob, std::string_view text) {
  if (!knob.names.empty()) {
    const auto match = std::find(knob.names.begin(), knob.names.end(), text);
    return match == knob.names.end() ? std::nullopt : std::optional<std::int64_t>(match - knob.names.begin());
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  return is_number && contains(knob, value) ? std::optional(value) : std::nullopt;
}

std::uint32_t refuse(const std::string& refused, const std::string& reason) {
  the_recorder.unavailable(refused.c_str(), reason.c_str(), std::string(see).c_str());
  return 0;
}

}  // namespace

namespace {

// There before any constructor of the library runs, and never destroyed.
union process_works {
  constexpr process_works() noexcept : works() {}
  ~process_works() {}
  program_works works;
};
constinit process_works of_process;

}  // namespace

constinit program_works& the_program_works = of_process.works;

program_work::program_work(std::string name, std::uint32_t subject)
    : trimtab_work{nullptr}, m_name(std::move(name)), m_subject(subject) {
  static constexpr ::trimtab_values none{};
  in_force = &none;
}

void program_work::add(std::uint64_t decision, double cost, double seconds) noexcept {
  if (!(cost >= 0) || !(seconds >= 0) || !std::isfinite(cost) || !std::isfinite(seconds)) return;
  // Acquire and release: the one who adds next sees the sum. Who does not get it goes on.
  if (m_is_adding.test_and_set(std::memory_order_acquire)) return;
  if (m_sum.decision != decision) m_sum = {decision, 0, 0, 0};
  m_sum.events += 1;
  m_sum.cost += cost;
  m_sum.seconds += seconds;
  const std::uint32_t next = m_written.load(std::memory_order_relaxed);
  if (m_sum.seconds >= enough_s) {
    // Pairs with the release in take(): its place may be written again.
    if (next - m_read.load(std::memory_order_acquire) < size) {
      m_ring[next % size] = m_sum;
      m_written.store(next + 1, std::memory_order_release);
    }
    m_sum = {decision, 0, 0, 0};
  }
  m_has_events.store(true, std::memory_order_relaxed);
  m_is_adding.clear(std::memory_order_release);
}

std::vector<event_sum> program_work::take() {
  std::vector<event_sum> sums;
  std::uint32_t next = m_read.load(std::memory_order_relaxed);
  for (const std::uint32_t end = m_written.load(std::memory_order_acquire); next != end; ++next)
    sums.push_back(m_ring[next % size]);
  m_read.store(next, std::memory_order_release);
  return sums;
}

void program_work::publish(std::uint64_t decision, std::span<const std::int64_t> values) {
  const std::lock_guard guard(m_publishing);
  ::trimtab_values fresh = *in_force;  // knobs that were declared since then stay as they are
  fresh.decision = decision;
  std::copy_n(values.begin(), std::min(values.size(), std::size(fresh.value)), fresh.value);
  put_in_force(fresh);
}

void program_work::put_in_force(const ::trimtab_values& values) {
  m_kept.push_back(std::make_unique<const ::trimtab_values>(values));
  __atomic_store_n(&in_force, m_kept.back().get(), __ATOMIC_RELEASE);
}

void program_work::begin_knob(std::int64_t initial, std::optional<std::int64_t> saved) {
  const std::lock_guard guard(m_publishing);
  ::trimtab_values fresh = *in_force;
  fresh.value[fresh.count++] = saved.value_or(initial);
  if (saved) fresh.decision = decision_of_earlier_run;
  put_in_force(fresh);
  m_initial.value[m_initial.count] = initial;
  m_initial.count += 1;
}

program_work* program_works::add(const char* name, std::uint32_t subject) {
  if (m_has_left.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard guard(m_lock);
  const std::size_t count = m_count.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count; ++i)
    if (m_works[i]->name() == name) return m_works[i].get();
  if (count == most)
    return refuse("knobs of " + std::string(name), "the program has more than 64 works with knobs"), nullptr;
  m_works[count] = std::make_unique<program_work>(name, subject);
  m_count.store(count + 1, std::memory_order_release);
  return m_works[count].get();
}

std::uint32_t program_works::declare(program_work& work, const ::trimtab_knob_declaration& declared) {
  if (m_has_left.load(std::memory_order_relaxed)) return 0;
  const declared_knob fresh = copy_of(declared);
  const std::string refused = "knob " + fresh.name + " of " + work.name();
  if (const std::string mistake = mistake_in(fresh); !mistake.empty()) return refuse(refused, mistake);
  const std::lock_guard guard(m_lock);
  const auto match = std::find_if(work.m_knobs.begin(), work.m_knobs.end(),
                                  [&](const declared_knob& candidate) { return candidate.name == fresh.name; });
  const auto place = static_cast<std::size_t>(match - work.m_knobs.begin());
  if (match != work.m_knobs.end())
    return *match == fresh ? static_cast<std::uint32_t>(place + 1)
                           : refuse(refused, "its name was declared before, with other values");
  if (place == TRIMTAB_MOST_KNOBS) return refuse(refused, "its work has 8 knobs already");
  work.m_knobs.push_back(fresh);
  work.begin_knob(fresh.initial, known_value_of(work, fresh));
  return static_cast<std::uint32_t>(place + 1);
}

std::optional<std::int64_t> program_works::known_value_of(const program_work& work, const declared_knob& knob) const {
  for (const known_value& value_saved : m_known)
    if (value_saved.work == work.name() && value_saved.knob == knob.name) return value_of(knob, value_saved.text);
  return std::nullopt;
}

void program_works::measure(std::vector<known_value> saved) {
  const std::lock_guard guard(m_lock);
  m_known = std::move(saved);
  m_are_measured.store(true, std::memory_order_relaxed);
}

void program_works::leave() noexcept {
  m_are_measured.store(false, std::memory_order_relaxed);
  m_has_left.store(true, std::memory_order_relaxed);
  for (std::size_t i = 0; i < count(); ++i)
    __atomic_store_n(&m_works[i]->in_force, &m_works[i]->m_initial, __ATOMIC_RELEASE);
}

std::vector<declared_knob> program_works::knobs_of(const program_work& work) const {
  const std::lock_guard guard(m_lock);
  return work.m_knobs;
}

}  // namespace trimtab::observe
