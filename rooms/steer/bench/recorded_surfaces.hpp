// Response surfaces of real programs, read from the file that benchmarks/surfaces.py records (recorded_surfaces.txt): of
// each point of a knob space the time of one step of a program, as five quantiles of what was measured. Lines of words:
//
//   trimtab-surfaces 1                         the first line
//   machine TEXT...                            what it was recorded on; any number of these
//   surface NAME...                            begins one
//   about TEXT...                              what the program is
//   knob NAME set NUMBER...                    or: knob NAME names NAME...
//   start VALUE...                             of each knob in order: where the program is by itself
//   hint VALUE...                              what a diagnosis of the start says, best first
//   point VALUE... q05 q25 q50 q75 q95 rounds  us a step; `rounds` is how far the medians of single runs were apart (IQR /
//   median)
//
// Empty lines and those that begin with # say nothing. Each point of the space has one line.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "surfaces.hpp"
#include "trimtab/steer/budget.hpp"

namespace trimtab::steer::surfaces {

struct surface_recording {
  struct about {
    std::string text;
    double rounds = 0;  // median over the points
    double spread = 0;  // of single measurements: IQR / median, median over the points
  };
  std::vector<std::string> machine;
  std::vector<surface> all;
  std::vector<about> abouts;  // of each
};

class recording_reader {
 public:
  // Throws std::runtime_error, which names the file, the line, what was expected and what was found.
  static surface_recording read(const std::string& path) {
    std::ifstream stream(path);
    if (!stream) throw std::runtime_error(path + ": expected a file of recorded surfaces, found none that can be read");
    return recording_reader(path, stream).m_made;
  }

 private:
  static constexpr std::size_t most_points = 100'000, quantiles = 5;
  static constexpr std::array<double, quantiles> shares{0.05, 0.25, 0.5, 0.75, 0.95};
  struct point_times {
    std::array<double, quantiles> us{};
    double rounds = 0;
    bool is_known = false;
  };
  struct grid {
    std::vector<knob> knobs;
    std::vector<point_times> points;  // the last knob's values are next to each other
    std::size_t place(const std::vector<knob_value>& values) const {
      std::size_t at = 0;
      for (std::size_t i = 0; i < knobs.size(); ++i)
        at = at * knobs[i].values.size() + knobs[i].values.index_of(values[i]).value();
      return at;
    }
  };

  recording_reader(const std::string& path, std::istream& stream) : m_path(path) {
    std::string line;
    while (std::getline(stream, line)) {
      ++m_line;
      m_words.clear();
      std::istringstream words(line);
      for (std::string word; words >> word;) m_words.push_back(word);
      if (m_line == 1) {
        if (m_words != std::vector<std::string>{"trimtab-surfaces", "1"}) fail("'trimtab-surfaces 1'", line);
      } else if (!m_words.empty() && m_words[0][0] != '#') {
        take();
      }
    }
    if (m_line == 0) fail("'trimtab-surfaces 1'", "an empty file");
    end_surface();
    if (m_made.all.empty()) fail("a surface", "none");
  }

  void take() {
    const std::string& word = m_words[0];
    if (word == "machine") {
      m_made.machine.push_back(rest());
    } else if (word == "surface") {
      end_surface();
      m_grid = std::make_shared<grid>();
      m_made.all.push_back({rest(), {}, {}, {}, {}});
      m_made.abouts.emplace_back();
    } else if (m_grid == nullptr) {
      fail("'machine' or 'surface'", word);
    } else if (word == "about") {
      m_made.abouts.back().text = rest();
    } else if (word == "knob") {
      take_knob();
    } else if (word == "start") {
      m_made.all.back().start = values_from(1, true);
    } else if (word == "hint") {
      m_made.all.back().hints.push_back(values_from(1, true));
    } else if (word == "point") {
      take_point();
    } else {
      fail("machine, surface, about, knob, start, hint or point", word);
    }
  }

  void take_knob() {
    if (!m_grid->points.empty()) fail("knobs before points", rest());
    if (m_words.size() < 4 || (m_words[2] != "set" && m_words[2] != "names"))
      fail("'knob NAME set NUMBER...' or 'knob NAME names NAME...'", rest());
    const std::vector<std::string> texts(m_words.begin() + 3, m_words.end());
    std::optional<domain> values;
    if (m_words[2] == "names") {
      values = domain::categories(texts);
    } else {
      std::vector<knob_value> numbers;
      for (const std::string& text : texts) numbers.push_back(number<knob_value>(text));
      values = domain::set(numbers);
    }
    if (!values || values->size() != texts.size()) fail("values that differ", rest());
    m_grid->knobs.push_back({m_words[1], *values, values->at(0), 0, consent::safe, 0, {}});
  }

  void take_point() {
    const std::vector<knob_value> at = values_from(1, false);
    if (m_words.size() != 1 + at.size() + quantiles + 1)
      fail(std::to_string(at.size()) + " values, 5 times and a spread", std::to_string(m_words.size() - 1) + " words");
    std::size_t points = 1;
    for (const knob& knob : m_grid->knobs) points *= knob.values.size();
    if (points > most_points) fail("at most " + std::to_string(most_points) + " points", std::to_string(points));
    m_grid->points.resize(points);
    point_times& times = m_grid->points[m_grid->place(at)];
    if (times.is_known) fail("each point once", rest());
    for (std::size_t i = 0; i < quantiles; ++i) times.us[i] = number<double>(m_words[1 + at.size() + i]);
    times.rounds = number<double>(m_words.back());
    const bool is_rising = std::is_sorted(times.us.begin(), times.us.end()) && std::isfinite(times.us.back());
    if (!is_rising || !(times.us[0] > 0) || !(times.rounds >= 0))
      fail("rising times above 0, and a spread of 0 or more", rest());
    times.is_known = true;
  }

  // One for each knob; nothing behind them where that is all of the line.
  std::vector<knob_value> values_from(std::size_t first, bool has_all) {
    const std::vector<knob>& knobs = m_grid->knobs;
    if (knobs.empty()) fail("knobs before this", m_words[0]);
    if (m_words.size() < first + knobs.size() || (has_all && m_words.size() != first + knobs.size()))
      fail("a value for each of " + std::to_string(knobs.size()) + " knobs", rest());
    std::vector<knob_value> values;
    for (std::size_t i = 0; i < knobs.size(); ++i) {
      const std::optional<knob_value> value = knobs[i].values.value_of(m_words[first + i]);
      if (!value) fail("a value of the knob " + knobs[i].name, m_words[first + i]);
      values.push_back(*value);
    }
    return values;
  }

  void end_surface() {
    if (m_grid == nullptr) return;
    surface& surface_read = m_made.all.back();
    const auto measured_points = [](const point_times& is_measured) { return is_measured.is_known; };
    const auto& points = m_grid->points;
    if (points.empty() || !std::all_of(points.begin(), points.end(), measured_points))
      fail("all points of the surface " + surface_read.name + " before this",
           std::to_string(std::count_if(points.begin(), points.end(), measured_points)) + " of them");
    if (surface_read.start.empty()) fail("the start of the surface " + surface_read.name + " before this", "none");
    std::vector<double> rounds, spreads;
    for (const point_times& point : points) {
      rounds.push_back(point.rounds);
      spreads.push_back((point.us[3] - point.us[1]) / point.us[2]);
    }
    m_made.abouts.back().rounds = median_of(rounds);
    m_made.abouts.back().spread = median_of(spreads);
    surface_read.knobs = m_grid->knobs;
    surface_read.seconds = [all = m_grid](const std::vector<knob_value>& values) {
      return all->points[all->place(values)].us[2] * 1e-6;
    };
    surface_read.recorded = [all = m_grid](const std::vector<knob_value>& values, random_source& source) {
      return drawn(all->points[all->place(values)].us, source.share()) * 1e-6;
    };
    m_grid = nullptr;
  }

  // What is below the first quantile counts as it, what is above the last as that; between two of them in proportion.
  static double drawn(const std::array<double, quantiles>& microseconds, double share) {
    const auto upper = std::upper_bound(shares.begin(), shares.end(), share);
    if (upper == shares.begin()) return microseconds.front();
    if (upper == shares.end()) return microseconds.back();
    const auto at = static_cast<std::size_t>(upper - shares.begin());
    return microseconds[at - 1] +
           (microseconds[at] - microseconds[at - 1]) * (share - shares[at - 1]) / (shares[at] - shares[at - 1]);
  }

  template <class type>
  type number(const std::string& text) {
    type value{};
    const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stopped != text.data() + text.size() || !(value == value)) fail("a number", text);
    return value;
  }

  std::string rest() const {
    std::string all;
    for (std::size_t i = 1; i < m_words.size(); ++i) all.append(i > 1 ? " " : "").append(m_words[i]);
    return all;
  }

  [[noreturn]] void fail(const std::string& expected, const std::string& actual) const {
    std::string text = m_path;
    text.append(":")
        .append(std::to_string(m_line))
        .append(": expected ")
        .append(expected)
        .append(", found '")
        .append(actual);
    throw std::runtime_error(text.append("'"));
  }

  const std::string m_path;
  std::size_t m_line = 0;
  std::vector<std::string> m_words;
  std::shared_ptr<grid> m_grid;  // of the surface under way
  surface_recording m_made;
};

}  // namespace trimtab::steer::surfaces
