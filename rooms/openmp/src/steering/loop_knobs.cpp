#include "steering/loop_knobs.hpp"

#include <algorithm>
#include <charconv>

#include "trimtab/openmp/steering.hpp"
#include "trimtab/steer/diagnosis.hpp"

namespace trimtab::openmp {

using observe::schedule;
using steer::knob_value;

namespace {

constexpr double chunk_seconds = 10e-6;  // a chunk that long costs next to nothing to hand out
constexpr double change_s = 2e-6;

std::vector<std::string> names_of_sharings() {
  std::vector<std::string> names;
  for (const std::string_view sharing_name : sharing_names) names.emplace_back(sharing_name);
  return names;
}

knob_value power_of_two_near(double value, knob_value largest) noexcept {
  knob_value power = 1;
  while (2 * power <= largest && static_cast<double>(power) * 1.5 < value) power *= 2;
  return power;
}

// "…/static,0/1000": one block a thread; "…/static,4/1000": blocks of a chunk; all others: chunks on demand.
family family_of_key(std::string_view key) noexcept {
  if (key.find("/inlined,") != std::string_view::npos) return family::inlined;
  const std::size_t at = key.find("/static,");
  if (at == std::string_view::npos) return family::dynamic;
  return key.substr(at).starts_with("/static,0/") ? family::blocks : family::chunks;
}

}  // namespace

family family_of(const site_key& key) noexcept {
  if (key.written == schedule::static_inferred) return family::inlined;
  if (key.written == schedule::static_) return family::blocks;
  return key.written == schedule::static_chunked ? family::chunks : family::dynamic;
}

std::vector<steer::knob> knobs_of(const site_key& key, std::uint32_t members, double iteration_s) {
  using namespace steer;
  const std::uint64_t most_useful =
      key.trip == any_trip ? 1u << 16 : std::max<std::uint64_t>(key.trip / (2 * std::max(members, 1u)), 1);
  const auto largest = static_cast<knob_value>(std::min<std::uint64_t>(most_useful, 1u << 20));
  const knob_value good =
      iteration_s > 0 ? power_of_two_near(chunk_seconds / iteration_s, largest) : std::min<knob_value>(64, largest);
  const knob_value small = std::max<knob_value>(good / 8, 1);
  const std::string imbalance(causes::imbalance), too_small(causes::too_small);
  if (family_of(key) == family::blocks)
    return {knob{
        "partition", certain(domain::categories({"even", "weighted"})), 0, change_s, consent::safe, 2, {{imbalance, {1}}}}};
  if (family_of(key) == family::inlined)
    return {knob{
        "blocks", certain(domain::set({0, 2, 4, 8, 16, 32})), 0, change_s, consent::safe, 1, {{imbalance, {16, 32, 4}}}}};
  std::vector<knob_value> chunks;
  if (family_of(key) == family::chunks) chunks.push_back(0);
  for (knob_value chunk_size = 1; chunk_size <= largest; chunk_size *= 2) chunks.push_back(chunk_size);
  knob chunk{"chunk",
             certain(domain::set(chunks)),
             chunks.front(),
             change_s,
             consent::safe,
             1,
             {{imbalance, {small, 1}}, {too_small, {good, std::min(largest, 8 * good)}}}};
  if (family_of(key) == family::chunks) return {std::move(chunk)};
  const auto value = [](sharing method) { return static_cast<knob_value>(method); };
  knob schedule{"schedule",
                certain(domain::categories(names_of_sharings())),
                value(sharing::as_written),
                change_s,
                consent::safe,
                1,
                {{imbalance, {value(sharing::fac2), value(sharing::dynamic)}},
                 {too_small, {value(sharing::dynamic), value(sharing::fac2), value(sharing::static_)}}}};
  // Of tss and sss: the first chunk, percent of an even share; 0: as the scheme has it.
  knob first{"first_chunk",
             certain(domain::set({first_percent_of_scheme, 25, 50, 75, 90})),
             first_percent_of_scheme,
             change_s,
             consent::safe,
             1,
             {}};
  return {std::move(schedule), std::move(chunk), std::move(first)};
}

loop_plan plan_of(family kind, const std::vector<knob_value>& values, const cost_profile& costs,
                  std::uint64_t decision_number) {
  loop_plan plan{0, nullptr, decision_number, sharing::as_written, false, 0, costs};
  switch (kind) {
    case family::blocks:
      plan.is_weighted = values[0] == weighted;
      break;
    case family::chunks:
    case family::inlined:
      plan.chunk = static_cast<std::uint64_t>(values[0]);
      break;
    case family::dynamic:
      plan.how = static_cast<sharing>(values[schedule_knob]);
      if (plan.how != sharing::as_written && plan.how != sharing::static_)
        plan.chunk = static_cast<std::uint64_t>(values[chunk_knob]);
      if (has_first_chunk(plan.how)) plan.first_percent = static_cast<std::uint32_t>(values[first_knob]);
  }
  return plan;
}

std::optional<loop_plan> plan_of(const steer::setting& saved) {
  const family kind = family_of_key(saved.key);
  loop_plan plan{0, nullptr, under_what_was_known, sharing::as_written, false, 0, {}};
  for (const auto& saved_value : saved.values) {
    if (kind == family::blocks && saved_value.knob == "partition") {
      plan.is_weighted = saved_value.text == "weighted";
    } else if (kind == family::blocks && saved_value.knob == "partition.costs") {
      auto costs = cost_profile::from_text(saved_value.text);
      if (!costs) return std::nullopt;
      plan.costs = std::move(*costs);
    } else if (kind == family::dynamic && saved_value.knob == "schedule") {
      const auto name_found = std::find(std::begin(sharing_names), std::end(sharing_names), saved_value.text);
      if (name_found == std::end(sharing_names)) return std::nullopt;
      plan.how = static_cast<sharing>(name_found - std::begin(sharing_names));
    } else if (kind == family::dynamic && saved_value.knob == "first_chunk") {
      const char* const end = saved_value.text.data() + saved_value.text.size();
      if (std::from_chars(saved_value.text.data(), end, plan.first_percent).ptr != end) return std::nullopt;
    } else if (saved_value.knob == (kind == family::inlined ? "blocks" : "chunk") && kind != family::blocks) {
      const auto [rest, error] =
          std::from_chars(saved_value.text.data(), saved_value.text.data() + saved_value.text.size(), plan.chunk);
      if (error != std::errc{} || *rest != '\0') return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  if (kind == family::dynamic && (plan.how == sharing::as_written || plan.how == sharing::static_)) plan.chunk = 0;
  return plan;
}

std::function<steer::point(steer::point)> same_points(const steer::subject_info& subject) {
  if (subject.knobs.size() != 3 || subject.knobs[schedule_knob].name != "schedule") return {};
  return [](steer::point at) {
    const auto method = static_cast<sharing>(at[schedule_knob]);
    if (method == sharing::as_written || method == sharing::static_) at[chunk_knob] = 0;
    if (!has_first_chunk(method)) at[first_knob] = 0;
    return at;
  };
}

}  // namespace trimtab::openmp
