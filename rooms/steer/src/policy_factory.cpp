#include "trimtab/steer/policy_factory.hpp"

#include <algorithm>
#include <charconv>

#include "log_words.hpp"
#include "trimtab/steer/arcs.hpp"
#include "trimtab/steer/history_policy.hpp"
#include "trimtab/steer/placement.hpp"
#include "trimtab/steer/shuffle.hpp"
#include "trimtab/steer/tasks_oversubscription.hpp"
#include "trimtab/steer/tasks_power_limit.hpp"
#include "trimtab/steer/tasks_queue_length.hpp"
#include "trimtab/steer/tasks_scheduler.hpp"
#include "trimtab/steer/thread_fitting/tunables.hpp"
#include "trimtab/steer/tuner.hpp"
#include "trimtab/steer/wait_policy.hpp"

namespace trimtab::steer {

namespace {

using description = policy_description;

std::uint64_t seed_of(const description& of, std::string& mistake) {
  const auto told = of.find("seed");
  std::uint64_t seed = 1;
  if (!told) return seed;
  const auto [end, error] = std::from_chars(told->data(), told->data() + told->size(), seed);
  if (error != std::errc{} || end != told->data() + told->size())
    mistake = "seed=" + std::string(*told) + ": expected a whole number";
  return seed;
}

std::unique_ptr<policy> tuner_of(const description& of, const policy_context& with, std::string& mistake) {
  tuner_options options;
  options.seed = seed_of(of, mistake);
  if (const auto name = of.find("search")) {
    const auto kind = search_named(*name);
    if (!kind) mistake = "search=" + std::string(*name) + ": there is no such search";
    options.kind = kind.value_or(options.kind);
  }
  if (of.find("same-points")) options.same_as = with.same_as;
  if (const auto knob = of.find("leaves"))
    options.is_left_to_rules = [its = std::string(*knob)](const subject_info& subject) {
      return subject.place_of(its).has_value();
    };
  return mistake.empty() ? std::make_unique<tuner>(std::move(options)) : nullptr;
}

template <class rule, class options, class... more>
std::unique_ptr<policy> fitting_of(const description& of, std::string& mistake, const more&... arguments) {
  options chosen;
  mistake = set_tunables(of.find("tunables").value_or(""), chosen);
  return std::make_unique<rule>(chosen, arguments...);
}

std::unique_ptr<policy> power_limit_of(const description& of, std::string& mistake) {
  power_limit_options options;
  words told(of.find("watts").value_or("0"));
  options.limit_w = told.real();
  if (!told.is_good() || !told.is_over()) mistake = "watts: expected a number";
  return mistake.empty() ? std::make_unique<power_limit>(options) : nullptr;
}

// nullptr and no mistake: there is no such kind.
std::unique_ptr<policy> made_of(const description& of, const policy_context& with, std::string& mistake) {
  if (of.kind == "history") return std::make_unique<history_policy>(with.settings, with.key_of);
  if (of.kind == "tuner") return tuner_of(of, with, mistake);
  if (of.kind == "fit")
    return fitting_of<fit, fit_options>(of, mistake, std::string(of.find("knob").value_or(knobs::threads)));
  if (of.kind == "asat-v1") return fitting_of<asat_v1, asat_v1_options>(of, mistake);
  if (of.kind == "asat-v1-timed") return fitting_of<asat_v1_timed, asat_v1_timed_options>(of, mistake);
  if (of.kind == "asat-v2-reset") return fitting_of<asat_v2_reset, asat_v2_reset_options>(of, mistake);
  if (of.kind == "asat-v2") return fitting_of<asat_v2, asat_v2_options>(of, mistake);
  if (of.kind == "wait-policy") return std::make_unique<wait_policy>();
  if (of.kind == "placement") return std::make_unique<placement>();
  if (of.kind == "queue-length") return std::make_unique<queue_length_climb>();
  if (of.kind == "oversubscription") return std::make_unique<oversubscription>();
  if (of.kind == "power-limit") return power_limit_of(of, mistake);
  const bool is_online = of.kind == "arcs-online", is_shuffle = of.kind == "shuffle", is_scheduler = of.kind == "scheduler";
  if (!is_online && !is_shuffle && !is_scheduler && of.kind != "arcs-offline") return nullptr;
  const std::uint64_t seed = seed_of(of, mistake);
  if (!mistake.empty()) return nullptr;
  if (is_shuffle) return std::make_unique<shuffle>(seed);
  if (is_scheduler) return std::make_unique<scheduler_choice>(scheduler_options{.seed = seed});
  const auto is_known = [settings = with.settings, key_of = with.key_of](const subject_info& subject) {
    const std::string key = key_of ? key_of(subject) : "";
    return std::any_of(settings.begin(), settings.end(), [&](const setting& each) { return each.key == key; });
  };
  return std::make_unique<arcs>(is_online ? arcs_kind::online : arcs_kind::offline, seed, is_known);
}

}  // namespace

std::optional<std::string_view> policy_description::find(std::string_view name) const noexcept {
  for (const option& each : options)
    if (each.name == name) return each.value;
  return std::nullopt;
}

made_policy make_policy(const policy_description& of, const policy_context& with) {
  made_policy result;
  result.made = made_of(of, with, result.mistake);
  if (!result.made)
    result.mistake = "policy " + of.kind + (result.mistake.empty() ? ": there is none" : ", " + result.mistake);
  return result;
}

std::string to_line(const policy_description& one) {
  std::string line = to_word(one.kind);
  for (const auto& option : one.options) line += ' ' + to_word(option.name) + '=' + to_word(option.value);
  return line;
}

std::optional<policy_description> policy_from_line(std::string_view line) {
  words rest(line);
  policy_description found{rest.text(), {}};
  while (rest.is_good() && !rest.is_over()) {
    const std::string_view pair = rest.raw();
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos) return std::nullopt;
    auto name = from_word(pair.substr(0, equals)), value = from_word(pair.substr(equals + 1));
    if (!name || !value) return std::nullopt;
    found.options.push_back({*std::move(name), *std::move(value)});
  }
  if (!rest.is_good()) return std::nullopt;
  return found;
}

}  // namespace trimtab::steer
