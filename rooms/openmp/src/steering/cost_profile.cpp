#include "steering/cost_profile.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace trimtab::openmp {

namespace {

// Between two points that rise in x; x_0 < x_1.
std::uint64_t between(std::uint64_t x, std::uint64_t x_0, std::uint64_t x_1, std::uint64_t y_0, std::uint64_t y_1) noexcept {
  return y_0 + (y_1 - y_0) * (x - x_0) / (x_1 - x_0);
}

constexpr std::uint64_t shortest_window = 2;
constexpr std::uint32_t short_windows = 3, most_doublings = 5;
constexpr double uneven_of_shortest = 0.02;

}  // namespace

cost_profile::cost_profile() : m_knots{{0, 0}, {one, one}} {}

std::uint64_t cost_profile::at_of(std::uint64_t cost) const noexcept {
  const auto upper =
      std::find_if(m_knots.begin() + 1, m_knots.end() - 1, [&](const knot& knot_above) { return knot_above.cost >= cost; });
  const auto lower = upper - 1;
  return between(cost, lower->cost, upper->cost, lower->at, upper->at);
}

std::uint64_t cost_profile::cut(std::uint32_t part, std::uint32_t parts, std::uint64_t trip) const noexcept {
  if (part == 0) return 0;
  if (part >= parts) return trip;
  const std::uint64_t at = at_of(one * part / parts);
  // One iteration for each block, and of the rest its share, rounded, without overflow.
  const std::uint64_t rest = trip - parts;
  return part + rest / one * at + (rest % one * at + one / 2) / one;
}

void cost_profile::learn(std::span<const double> seconds, double weight) {
  const std::size_t parts = seconds.size();
  double all = 0;
  for (const double part_seconds : seconds) {
    if (!(part_seconds > 0) || !std::isfinite(part_seconds)) return;
    all += part_seconds;
  }
  if (parts < 2) return;
  // What was thought to be an equal share of the time has turned out to be another one.
  std::vector<std::uint64_t> costs_before{0};
  double sum = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    sum += (1 - weight) / static_cast<double>(parts) + weight * seconds[i] / all;
    costs_before.push_back(static_cast<std::uint64_t>(std::llround(std::min(sum, 1.0) * static_cast<double>(one))));
  }
  costs_before.back() = one;
  std::vector<knot> knots;
  std::size_t part = 0;
  for (std::size_t i = 0; i < m_knots.size(); ++i) {
    const knot& old = m_knots[i];
    for (; part <= parts && one * part / parts < old.cost; ++part)
      knots.push_back({at_of(one * part / parts), costs_before[part]});
    if (part <= parts && one * part / parts == old.cost) {
      knots.push_back({old.at, costs_before[part++]});
      continue;
    }
    const std::uint64_t low = one * (part - 1) / parts, high = one * part / parts;
    knots.push_back({old.at, between(old.cost, low, high, costs_before[part - 1], costs_before[part])});
  }
  // Rising strictly in both; first and last stay.
  std::vector<knot> rising{{0, 0}};
  for (const knot& knot_above : knots)
    if (knot_above.at > rising.back().at && knot_above.cost > rising.back().cost && knot_above.at < one &&
        knot_above.cost < one)
      rising.push_back(knot_above);
  rising.push_back({one, one});
  m_knots = std::move(rising);
  thin_out();
}

// Too many for a text and for a search: those go that bend the line least.
void cost_profile::thin_out() {
  if (m_knots.size() <= most_knots) return;
  while (m_knots.size() > most_knots / 2) {
    std::size_t smallest = 1;
    std::uint64_t least_bend = one;
    for (std::size_t i = 1; i + 1 < m_knots.size(); ++i) {
      const knot &before = m_knots[i - 1], &middle = m_knots[i], &after = m_knots[i + 1];
      const std::uint64_t straight = between(middle.at, before.at, after.at, before.cost, after.cost);
      const std::uint64_t bend = straight > middle.cost ? straight - middle.cost : middle.cost - straight;
      if (bend >= least_bend) continue;
      least_bend = bend;
      smallest = i;
    }
    m_knots.erase(m_knots.begin() + static_cast<std::ptrdiff_t>(smallest));
  }
}

std::string cost_profile::text() const {
  if (m_knots.size() == 2) return "even";
  std::string all;
  char one_knot[64];
  for (std::size_t i = 1; i + 1 < m_knots.size(); ++i) {
    std::snprintf(one_knot, sizeof one_knot, "%s0.%09llu/0.%09llu", i == 1 ? "" : ",",
                  static_cast<unsigned long long>(m_knots[i].at), static_cast<unsigned long long>(m_knots[i].cost));
    all += one_knot;
  }
  return all;
}

std::optional<cost_profile> cost_profile::from_text(std::string_view text) {
  cost_profile read;
  if (text == "even") return read;
  read.m_knots = {{0, 0}};
  const auto read_number = [&text](char end, std::uint64_t& number) {
    if (!text.starts_with("0.") || text.size() < 11) return false;
    const auto [rest, error] = std::from_chars(text.data() + 2, text.data() + 11, number);
    if (error != std::errc{} || rest != text.data() + 11) return false;
    text.remove_prefix(11);
    if (text.empty()) return end == ',';
    if (text.front() != end) return false;
    text.remove_prefix(1);
    return !text.empty();
  };
  while (!text.empty()) {
    knot next{};
    if (!read_number('/', next.at) || !read_number(',', next.cost)) return std::nullopt;
    const knot& last = read.m_knots.back();
    if (next.at <= last.at || next.cost <= last.cost || read.m_knots.size() >= most_knots) return std::nullopt;
    read.m_knots.push_back(next);
  }
  if (read.m_knots.size() == 1) return std::nullopt;
  read.m_knots.push_back({one, one});
  return read;
}

std::uint64_t learning_window(std::uint32_t learnt) noexcept {
  return learnt < short_windows ? shortest_window : shortest_window << std::min(learnt - short_windows + 1, most_doublings);
}

bool is_uneven(double imbalance, std::uint64_t window) noexcept {
  return imbalance > 1 + uneven_of_shortest * std::sqrt(static_cast<double>(shortest_window) / static_cast<double>(window));
}

}  // namespace trimtab::openmp
