#include "trimtab/steer/fitting/tunables.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace trimtab::steer {

namespace {

template <class options>
struct tunable {
  std::string_view name;
  void (*set)(options&, double);
  bool is_whole = false;
};
// Of every policy; on or off.
constexpr std::string_view flag = "flag";

constexpr tunable<asat_v1_options> of_asat_v1[] = {
    {"eval_time_s", [](asat_v1_options& of, double to) { of.eval_time_s = to; }},
    {"bad_spread", [](asat_v1_options& of, double to) { of.bad_spread = to; }},
    {"bad_trig", [](asat_v1_options& of, double to) { of.bad_trig = static_cast<std::uint32_t>(to); }, true},
    {"good_trig", [](asat_v1_options& of, double to) { of.good_trig = static_cast<std::uint32_t>(to); }, true},
};
constexpr tunable<asat_v2_options> of_asat_v2[] = {
    {"eval_time_s", [](asat_v2_options& of, double to) { of.eval_time_s = to; }},
    {"bad_time_s", [](asat_v2_options& of, double to) { of.bad_time_s = to; }},
    {"bad_trig", [](asat_v2_options& of, double to) { of.bad_trig = static_cast<std::uint32_t>(to); }, true},
    {"good_trig", [](asat_v2_options& of, double to) { of.good_trig = static_cast<std::uint32_t>(to); }, true},
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

template <class options, std::size_t count>
std::string set_one(std::string_view text, const tunable<options> (&known)[count], options& into) {
  constexpr double most = 1e9;
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals), told = text.substr(std::min(equals + 1, text.size()));
  if (name == flag) {
    if (told != "on" && told != "off") return mistake_in(text, "on or off");
    into.flag = told == "on";
    return "";
  }
  const auto found = std::find_if(std::begin(known), std::end(known), [&](const auto& each) { return each.name == name; });
  if (found == std::end(known)) {
    std::string names(known[0].name);
    for (std::size_t i = 1; i < count; ++i) names.append(", ").append(known[i].name);
    return mistake_in(text, "NAME=NUMBER, NAME one of " + names + ", or flag=off");
  }
  double value = 0;
  const auto [end, error] = std::from_chars(told.data(), told.data() + told.size(), value);
  const bool is_number = error == std::errc() && end == told.data() + told.size() && value > 0 && value <= most;
  if (!is_number || (found->is_whole && value != std::floor(value)))
    return mistake_in(text, found->is_whole ? "a whole number above 0, up to 1e9" : "a number above 0, up to 1e9");
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
std::string set_tunables(std::string_view text, asat_v2_options& into) { return set_all(text, of_asat_v2, into); }
std::string set_tunables(std::string_view text, fit_options& into) { return set_all(text, of_fit, into); }

}  // namespace trimtab::steer
