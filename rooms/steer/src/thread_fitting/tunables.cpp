#include "trimtab/steer/thread_fitting/tunables.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>

namespace trimtab::steer {

namespace {

enum class kind : std::uint8_t { number, whole, nice };
template <class options>
struct tunable {
  std::string_view name;
  void (*set)(options&, double);
  kind values = kind::number;
};

constexpr tunable_info info_of(std::string_view name, kind values) noexcept {
  switch (values) {
    case kind::nice:
      return {name, "a whole number from 0 to 19", true, true, 19};
    case kind::whole:
      return {name, "a whole number above 0, up to 1e9", true};
    default:
      return {name, "a number above 0, up to 1e9"};
  }
}

// Of every policy.
constexpr std::string_view flag_words[] = {"on", "off"};
constexpr tunable_info flag = {.name = "flag", .expected = "on or off", .words = flag_words};
// Of asat-v2; the other tunable that a dip is compared with.
constexpr std::string_view dip_below_words[] = {"bad_time", "eval_time"};
constexpr tunable_info dip_below = {.name = "dip_below", .expected = "bad_time or eval_time", .words = dip_below_words};

constexpr tunable<asat_v1_options> of_asat_v1[] = {
    {"bad_spread", [](asat_v1_options& of, double to) { of.bad_spread = to; }},
    {"bad_trig", [](asat_v1_options& of, double to) { of.bad_trig = static_cast<std::uint32_t>(to); }, kind::whole},
    {"load_time_s", [](asat_v1_options& of, double to) { of.load_time_s = to; }},
    {"nice", [](asat_v1_options& of, double to) { of.nice = static_cast<std::uint32_t>(to); }, kind::nice},
};
constexpr tunable<asat_v1_timed_options> of_asat_v1_timed[] = {
    {"eval_time_s", [](asat_v1_timed_options& of, double to) { of.eval_time_s = to; }},
    {"bad_spread", [](asat_v1_timed_options& of, double to) { of.bad_spread = to; }},
    {"bad_trig", [](asat_v1_timed_options& of, double to) { of.bad_trig = static_cast<std::uint32_t>(to); }, kind::whole},
    {"good_trig", [](asat_v1_timed_options& of, double to) { of.good_trig = static_cast<std::uint32_t>(to); }, kind::whole},
};
constexpr tunable<asat_v2_options> of_asat_v2[] = {
    {"eval_time_s", [](asat_v2_options& of, double to) { of.eval_time_s = to; }},
    {"bad_time_s", [](asat_v2_options& of, double to) { of.bad_time_s = to; }},
    {"bad_trig", [](asat_v2_options& of, double to) { of.bad_trig = static_cast<std::uint32_t>(to); }, kind::whole},
    {"good_trig", [](asat_v2_options& of, double to) { of.good_trig = static_cast<std::uint32_t>(to); }, kind::whole},
    {"nice", [](asat_v2_options& of, double to) { of.nice = static_cast<std::uint32_t>(to); }, kind::nice},
};
constexpr tunable<asat_v2_reset_options> of_asat_v2_reset[] = {
    {"eval_time_s", [](asat_v2_reset_options& of, double to) { of.eval_time_s = to; }},
    {"bad_time_s", [](asat_v2_reset_options& of, double to) { of.bad_time_s = to; }},
    {"bad_trig", [](asat_v2_reset_options& of, double to) { of.bad_trig = static_cast<std::uint32_t>(to); }, kind::whole},
    {"good_trig", [](asat_v2_reset_options& of, double to) { of.good_trig = static_cast<std::uint32_t>(to); }, kind::whole},
};
constexpr tunable<fit_options> of_fit[] = {
    {"lost_at_once", [](fit_options& of, double to) { of.lost_at_once = to; }},
    {"lost_in_a_row", [](fit_options& of, double to) { of.lost_in_a_row = to; }},
    {"least_idle", [](fit_options& of, double to) { of.least_idle = to; }},
    {"calm_s", [](fit_options& of, double to) { of.calm_s = to; }},
    {"most_calm_s", [](fit_options& of, double to) { of.most_calm_s = to; }},
    {"soon_s", [](fit_options& of, double to) { of.soon_s = to; }},
    {"settle_s", [](fit_options& of, double to) { of.settle_s = to; }},
    {"grain.short_s", [](fit_options& of, double to) { of.grain.short_s = to; }},
    {"grain.ratio", [](fit_options& of, double to) { of.grain.ratio = to; }},
    {"grain.wait_s", [](fit_options& of, double to) { of.grain.wait_s = to; }},
    {"grain.most_wait_s", [](fit_options& of, double to) { of.grain.most_wait_s = to; }},
    {"grain.longer", [](fit_options& of, double to) { of.grain.longer = to; }},
    {"bad_skew_s", [](fit_options& of, double to) { of.bad_skew_s = to; }},
    {"skew_ratio", [](fit_options& of, double to) { of.skew_ratio = to; }},
};

std::string mistake_in(std::string_view text, std::string_view expected) {
  return std::string(1, '\'').append(text).append("': expected ").append(expected);
}

// All tunables of a policy: those of its table, then those whose values are words.
template <class options, std::size_t count>
constexpr auto infos_of(const tunable<options> (&table)[count]) noexcept {
  constexpr bool has_dip = requires(options of) { of.dip_below; };
  std::array<tunable_info, count + (has_dip ? 2 : 1)> infos;
  for (std::size_t i = 0; i < count; ++i) infos[i] = info_of(table[i].name, table[i].values);
  if constexpr (has_dip) infos[count] = dip_below;
  infos.back() = flag;
  return infos;
}
constexpr auto infos_of_asat_v1 = infos_of(of_asat_v1);
constexpr auto infos_of_asat_v1_timed = infos_of(of_asat_v1_timed);
constexpr auto infos_of_asat_v2 = infos_of(of_asat_v2);
constexpr auto infos_of_asat_v2_reset = infos_of(of_asat_v2_reset);
constexpr auto infos_of_fit = infos_of(of_fit);

struct policy_tunables {
  std::string_view policy;
  std::span<const tunable_info> tunables;
};
constexpr policy_tunables tunables_by_policy[] = {
    {"fit", infos_of_fit},
    {"asat-v1", infos_of_asat_v1},
    {"asat-v2", infos_of_asat_v2},
    {"asat-v1-timed", infos_of_asat_v1_timed},
    {"asat-v2-reset", infos_of_asat_v2_reset},
};

bool is_allowed(const tunable_info& info, double value) noexcept {
  if (info.is_whole && value != std::floor(value)) return false;
  return (value > 0 || (value == 0 && info.is_zero_allowed)) && value <= info.most;
}

bool is_word_of(const tunable_info& info, std::string_view text) noexcept {
  return std::find(info.words.begin(), info.words.end(), text) != info.words.end();
}

// Those whose values are words. Nothing: it is no such tunable.
template <class options>
std::optional<std::string> set_word(std::string_view text, std::string_view name, std::string_view value_text,
                                    options& target) {
  if (name == flag.name) {
    if (!is_word_of(flag, value_text)) return mistake_in(text, flag.expected);
    target.flag = value_text == flag_words[0];
    return "";
  }
  if constexpr (requires { target.dip_below; }) {
    using limit = typename options::dip_limit;
    if (name == dip_below.name) {
      if (!is_word_of(dip_below, value_text)) return mistake_in(text, dip_below.expected);
      target.dip_below = value_text == dip_below_words[0] ? limit::bad_time : limit::eval_time;
      return "";
    }
  }
  return std::nullopt;
}

template <class options, std::size_t count>
std::string set_one(std::string_view text, const tunable<options> (&table)[count], options& target) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals), value_text = text.substr(std::min(equals + 1, text.size()));
  if (auto result = set_word(text, name, value_text, target)) return *std::move(result);
  const auto match =
      std::find_if(std::begin(table), std::end(table), [&](const auto& candidate) { return candidate.name == name; });
  if (match == std::end(table)) {
    std::string names(table[0].name);
    for (std::size_t i = 1; i < count; ++i) names.append(", ").append(table[i].name);
    if constexpr (requires { target.dip_below; }) names.append(", or dip_below=bad_time|eval_time");
    return mistake_in(text, "NAME=NUMBER, NAME one of " + names + ", or flag=off");
  }
  const tunable_info info = info_of(match->name, match->values);
  double value = 0;
  const auto [end, error] = std::from_chars(value_text.data(), value_text.data() + value_text.size(), value);
  if (error != std::errc() || end != value_text.data() + value_text.size() || !is_allowed(info, value))
    return mistake_in(text, info.expected);
  match->set(target, value);
  return "";
}

template <class options, std::size_t count>
std::string set_all(std::string_view text, const tunable<options> (&table)[count], options& target) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (std::string mistake = set_one(text.substr(0, comma), table, target); !mistake.empty()) return mistake;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return "";
}

}  // namespace

std::span<const tunable_info> tunables_of(std::string_view policy) noexcept {
  const auto* const match = std::find_if(std::begin(tunables_by_policy), std::end(tunables_by_policy),
                                         [&](const policy_tunables& candidate) { return candidate.policy == policy; });
  return match == std::end(tunables_by_policy) ? std::span<const tunable_info>() : match->tunables;
}

std::string set_tunables(std::string_view text, asat_v1_options& target) { return set_all(text, of_asat_v1, target); }
std::string set_tunables(std::string_view text, asat_v1_timed_options& target) {
  return set_all(text, of_asat_v1_timed, target);
}
std::string set_tunables(std::string_view text, asat_v2_options& target) { return set_all(text, of_asat_v2, target); }
std::string set_tunables(std::string_view text, asat_v2_reset_options& target) {
  return set_all(text, of_asat_v2_reset, target);
}
std::string set_tunables(std::string_view text, fit_options& target) { return set_all(text, of_fit, target); }

}  // namespace trimtab::steer
