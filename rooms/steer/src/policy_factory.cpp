#include "trimtab/steer/policy_factory.hpp"

#include <algorithm>
#include <charconv>

#include "log_words.hpp"
#include "trimtab/steer/arcs.hpp"
#include "trimtab/steer/history_policy.hpp"
#include "trimtab/steer/manual_policy.hpp"
#include "trimtab/steer/memory_policy.hpp"
#include "trimtab/steer/placement.hpp"
#include "trimtab/steer/shuffle.hpp"
#include "trimtab/steer/tasks_oversubscription.hpp"
#include "trimtab/steer/tasks_power_limit.hpp"
#include "trimtab/steer/tasks_priority.hpp"
#include "trimtab/steer/tasks_queue_length.hpp"
#include "trimtab/steer/tasks_scheduler.hpp"
#include "trimtab/steer/thread_fitting/tunables.hpp"
#include "trimtab/steer/tuner.hpp"
#include "trimtab/steer/wait_policy.hpp"

namespace trimtab::steer {

namespace {

std::uint64_t seed_of(const policy_description& description, std::string& mistake) {
  const auto seed_text = description.find("seed");
  std::uint64_t seed = 1;
  if (!seed_text) return seed;
  const auto [end, error] = std::from_chars(seed_text->data(), seed_text->data() + seed_text->size(), seed);
  if (error != std::errc{} || end != seed_text->data() + seed_text->size())
    mistake = "seed=" + std::string(*seed_text) + ": expected a whole number";
  return seed;
}

// knobs: their names, with commas between.
std::function<bool(const subject_info&)> subjects_with(std::string_view knobs) {
  std::vector<std::string> names;
  while (!knobs.empty()) {
    const std::size_t end = std::min(knobs.find(','), knobs.size());
    names.emplace_back(knobs.substr(0, end));
    knobs.remove_prefix(std::min(end + 1, knobs.size()));
  }
  return [names](const subject_info& subject) {
    return std::ranges::any_of(names, [&](const std::string& name) { return subject.place_of(name).has_value(); });
  };
}

std::unique_ptr<policy> tuner_of(const policy_description& description, const policy_context& context,
                                 std::string& mistake) {
  tuner_options options;
  options.seed = seed_of(description, mistake);
  if (const auto name = description.find("search")) {
    const auto kind = search_named(*name);
    if (!kind) mistake = "search=" + std::string(*name) + ": there is no such search";
    options.kind = kind.value_or(options.kind);
  }
  if (description.find("same-points")) options.same_as = context.same_as;
  if (const auto knobs = description.find("leaves")) options.is_left_to_rules = subjects_with(*knobs);
  return mistake.empty() ? std::make_unique<tuner>(std::move(options)) : nullptr;
}

// What is measured of messages is a few milliseconds of a whole program, so that a search takes a tenth of a second; and a
// program's next phase may want something else.
std::unique_ptr<policy> message_tuner_of(const policy_description& description, std::string& mistake) {
  tuner_options options;
  options.kind = search_kind::hill_climbing;
  options.seed = seed_of(description, mistake);
  options.recheck_s = 2;
  options.retry_s = 0.2;
  options.drift_after_s = 0.05;
  options.patience_s = 0.5;
  return mistake.empty() ? std::make_unique<tuner>(std::move(options), "message-tuner") : nullptr;
}

template <class rule, class options, class... more>
std::unique_ptr<policy> fitting_of(const policy_description& description, std::string& mistake, const more&... arguments) {
  options chosen;
  mistake = set_tunables(description.find("tunables").value_or(""), chosen);
  return std::make_unique<rule>(chosen, arguments...);
}

std::unique_ptr<policy> power_limit_of(const policy_description& description, std::string& mistake) {
  power_limit_options options;
  words watts(description.find("watts").value_or("0"));
  options.limit_w = watts.real();
  if (!watts.is_good() || !watts.is_over()) mistake = "watts: expected a number";
  return mistake.empty() ? std::make_unique<power_limit>(options) : nullptr;
}

// Those that choose at random; nullptr and no mistake: there is no such kind.
std::unique_ptr<policy> seeded_of(const policy_description& description, const policy_context& context,
                                  std::string& mistake) {
  const bool is_online = description.kind == "arcs-online", is_shuffle = description.kind == "shuffle",
             is_scheduler = description.kind == "scheduler", is_priority = description.kind == "initiating-priority";
  if (!is_online && !is_shuffle && !is_scheduler && !is_priority && description.kind != "arcs-offline") return nullptr;
  const std::uint64_t seed = seed_of(description, mistake);
  if (!mistake.empty()) return nullptr;
  if (is_shuffle) return std::make_unique<shuffle>(seed);
  if (is_priority) return std::make_unique<initiating_priority>(priority_options{.seed = seed});
  if (is_scheduler) return std::make_unique<scheduler_choice>(scheduler_options{.seed = seed});
  const auto has_settings = [settings = context.settings, key_of = context.key_of](const subject_info& subject) {
    const std::string key = key_of ? key_of(subject) : "";
    return std::any_of(settings.begin(), settings.end(), [&](const setting& saved) { return saved.key == key; });
  };
  return std::make_unique<arcs>(is_online ? arcs_kind::online : arcs_kind::offline, seed, has_settings);
}

// As above, all kinds.
std::unique_ptr<policy> made_of(const policy_description& description, const policy_context& context, std::string& mistake) {
  if (description.kind == "history") return std::make_unique<history_policy>(context.settings, context.key_of);
  if (description.kind == "tuner") return tuner_of(description, context, mistake);
  if (description.kind == "message-tuner") return message_tuner_of(description, mistake);
  if (description.kind == "fit")
    return fitting_of<fit, fit_options>(description, mistake,
                                        std::string(description.find("knob").value_or(knobs::threads)));
  if (description.kind == "asat-v1") return fitting_of<asat_v1, asat_v1_options>(description, mistake);
  if (description.kind == "asat-v1-timed") return fitting_of<asat_v1_timed, asat_v1_timed_options>(description, mistake);
  if (description.kind == "asat-v2-reset") return fitting_of<asat_v2_reset, asat_v2_reset_options>(description, mistake);
  if (description.kind == "asat-v2") return fitting_of<asat_v2, asat_v2_options>(description, mistake);
  if (description.kind == "wait-policy") return std::make_unique<wait_policy>();
  if (description.kind == "memory") return std::make_unique<memory_policy>();
  if (description.kind == "placement") return std::make_unique<placement>();
  if (description.kind == "queue-length") return std::make_unique<queue_length_climb>();
  if (description.kind == "oversubscription") return std::make_unique<oversubscription>();
  if (description.kind == "power-limit") return power_limit_of(description, mistake);
  return seeded_of(description, context, mistake);
}

}  // namespace

std::optional<std::string_view> policy_description::find(std::string_view name) const noexcept {
  for (const option& candidate : options)
    if (candidate.name == name) return candidate.value;
  return std::nullopt;
}

made_policy make_policy(const policy_description& description, const policy_context& context) {
  if (description.kind == manual_policy::kind) return {std::make_unique<manual_policy>(), ""};
  made_policy result;
  result.made = made_of(description, context, result.mistake);
  if (!result.made)
    result.mistake = "policy " + description.kind + (result.mistake.empty() ? ": there is none" : ", " + result.mistake);
  return result;
}

std::string to_line(const policy_description& description) {
  std::string line = to_word(description.kind);
  for (const auto& option : description.options) line += ' ' + to_word(option.name) + '=' + to_word(option.value);
  return line;
}

std::optional<policy_description> policy_from_line(std::string_view line) {
  words rest(line);
  policy_description description{rest.text(), {}};
  while (rest.is_good() && !rest.is_over()) {
    const std::string_view pair = rest.raw();
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos) return std::nullopt;
    auto name = from_word(pair.substr(0, equals)), value = from_word(pair.substr(equals + 1));
    if (!name || !value) return std::nullopt;
    description.options.push_back({*std::move(name), *std::move(value)});
  }
  if (!rest.is_good()) return std::nullopt;
  return description;
}

}  // namespace trimtab::steer
