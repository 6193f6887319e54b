#include "trimtab/steer/fitting/tunables.hpp"

#include <algorithm>
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
// Of every policy; on or off.
constexpr std::string_view flag = "flag";
// Of asat-v2; the other tunable that a dip is compared with.
constexpr std::string_view dip_below = "dip_below";

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

std::string mistake_in(std::string_view text, const std::string& expected) {
  return std::string(1, '\'').append(text).append("': expected ").append(expected);
}

constexpr const char* expected_of(kind values) noexcept {
  return values == kind::nice    ? "a whole number from 0 to 19"
         : values == kind::whole ? "a whole number above 0, up to 1e9"
                                 : "a number above 0, up to 1e9";
}

bool is_allowed(kind values, double value) noexcept {
  if (values != kind::number && value != std::floor(value)) return false;
  return values == kind::nice ? value >= 0 && value <= 19 : value > 0 && value <= 1e9;
}

// Those whose values are words. Nothing: it is no such tunable.
template <class options>
std::optional<std::string> set_word(std::string_view text, std::string_view name, std::string_view told, options& into) {
  if (name == flag) {
    if (told != "on" && told != "off") return mistake_in(text, "on or off");
    into.flag = told == "on";
    return "";
  }
  if constexpr (requires { into.dip_below; }) {
    using limit = typename options::dip_limit;
    if (name == dip_below) {
      if (told != "bad_time" && told != "eval_time") return mistake_in(text, "bad_time or eval_time");
      into.dip_below = told == "bad_time" ? limit::bad_time : limit::eval_time;
      return "";
    }
  }
  return std::nullopt;
}

template <class options, std::size_t count>
std::string set_one(std::string_view text, const tunable<options> (&known)[count], options& into) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals), told = text.substr(std::min(equals + 1, text.size()));
  if (auto result = set_word(text, name, told, into)) return *std::move(result);
  const auto found = std::find_if(std::begin(known), std::end(known), [&](const auto& each) { return each.name == name; });
  if (found == std::end(known)) {
    std::string names(known[0].name);
    for (std::size_t i = 1; i < count; ++i) names.append(", ").append(known[i].name);
    if constexpr (requires { into.dip_below; }) names.append(", or dip_below=bad_time|eval_time");
    return mistake_in(text, "NAME=NUMBER, NAME one of " + names + ", or flag=off");
  }
  double value = 0;
  const auto [end, error] = std::from_chars(told.data(), told.data() + told.size(), value);
  if (error != std::errc() || end != told.data() + told.size() || !is_allowed(found->values, value))
    return mistake_in(text, expected_of(found->values));
  found->set(into, value);
  return "";
}

template <class options, std::size_t count>
std::string set_all(std::string_view text, const tunable<options> (&known)[count], options& into) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (std::string mistake = set_one(text.substr(0, comma), known, into); !mistake.empty()) return mistake;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return "";
}

}  // namespace

std::string set_tunables(std::string_view text, asat_v1_options& into) { return set_all(text, of_asat_v1, into); }
std::string set_tunables(std::string_view text, asat_v1_timed_options& into) {
  return set_all(text, of_asat_v1_timed, into);
}
std::string set_tunables(std::string_view text, asat_v2_options& into) { return set_all(text, of_asat_v2, into); }
std::string set_tunables(std::string_view text, asat_v2_reset_options& into) {
  return set_all(text, of_asat_v2_reset, into);
}
std::string set_tunables(std::string_view text, fit_options& into) { return set_all(text, of_fit, into); }

}  // namespace trimtab::steer
