#include "trimtab/parcels/servers/saturation_curve.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace trimtab::parcels {
namespace {

constexpr const char* first_line = "trimtab saturation curve 1";
constexpr const char* column_line = "bytes senders in_flight servers messages_per_s";
constexpr const char* transport_prefix = "transport: ";

// Of a whole line with its numbers; false: something is missing, too much, or not allowed.
bool parse_point(const std::string& line, saturation_point& point) {
  if (line.find_first_not_of("0123456789 .e+") != std::string::npos) return false;
  std::istringstream fields(line);
  std::string rest;
  fields >> point.bytes >> point.senders >> point.in_flight >> point.servers >> point.messages_per_s;
  if (!fields || fields >> rest) return false;
  return point.bytes > 0 && point.senders > 0 && point.in_flight > 0 && std::isfinite(point.messages_per_s) &&
         point.messages_per_s > 0;
}

std::string problem_at(const std::string& file, std::size_t line, const std::string& expected, const std::string& found) {
  return file + ":" + std::to_string(line) + ": expected " + expected + ", found '" + found + "'";
}

}  // namespace

std::string text_of(const saturation_curve& curve) {
  std::ostringstream text;
  text.precision(17);
  text << first_line << '\n' << transport_prefix << curve.transport << '\n' << column_line << '\n';
  for (const saturation_point& point : curve.points)
    text << point.bytes << ' ' << point.senders << ' ' << point.in_flight << ' ' << point.servers << ' '
         << point.messages_per_s << '\n';
  return text.str();
}

parsed_curve parse_curve(const std::string& text, const std::string& file) {
  std::istringstream lines(text);
  std::string line;
  parsed_curve result;
  std::getline(lines, line);
  if (line != first_line) return {{}, problem_at(file, 1, "'" + std::string(first_line) + "'", line)};
  if (!std::getline(lines, line)) line.clear();
  if (!line.starts_with(transport_prefix)) return {{}, problem_at(file, 2, "'transport: NAME'", line)};
  result.curve.transport = line.substr(std::strlen(transport_prefix));
  if (!std::getline(lines, line)) line.clear();
  if (line != column_line) return {{}, problem_at(file, 3, "'" + std::string(column_line) + "'", line)};
  for (std::size_t number = 4; std::getline(lines, line); ++number) {
    saturation_point point;
    if (!parse_point(line, point)) return {{}, problem_at(file, number, "five numbers above 0 (servers: 0 or more)", line)};
    result.curve.points.push_back(point);
  }
  return result;
}

parsed_curve read_curve(const std::string& file) {
  std::ifstream input(file, std::ios::binary);
  std::ostringstream text;
  if (!input || !(text << input.rdbuf())) return {{}, file + ": cannot read it: " + std::strerror(errno)};
  return parse_curve(text.str(), file);
}

// A reader finds the old file or the new one.
std::string write_curve(const saturation_curve& curve, const std::string& file) {
  std::string temporary = file + ".XXXXXX";
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return file + ": cannot write beside it: " + std::strerror(errno);
  const std::string text = text_of(curve);
  bool is_written = write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  is_written = fsync(descriptor) == 0 && is_written;
  is_written = close(descriptor) == 0 && is_written;
  if (is_written && std::rename(temporary.c_str(), file.c_str()) == 0) return {};
  const std::string reason = std::strerror(errno);
  unlink(temporary.c_str());
  return file + ": cannot write it: " + reason;
}

}  // namespace trimtab::parcels
