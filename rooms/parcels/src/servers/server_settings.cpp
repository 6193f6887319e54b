#include "trimtab/parcels/servers/server_settings.hpp"

#include <iterator>

namespace trimtab::parcels {
namespace {

struct numeric_setting {
  const char* name;
  std::uint64_t least, most, value;
};

std::string problem_of_setting(const numeric_setting& setting) {
  if (setting.value >= setting.least && setting.value <= setting.most) return {};
  return std::string(setting.name) + " must be " + std::to_string(setting.least) + " to " + std::to_string(setting.most) +
         ", found " + std::to_string(setting.value);
}

}  // namespace

std::string problem_of(const server_settings& settings) {
  using limits = server_settings;
  const numeric_setting all[] = {
      {"servers", 0, limits::most_servers, settings.servers},
      {"consecutive", 1, limits::most_consecutive, settings.consecutive},
      {"most_under_way", 1, limits::most_messages, settings.most_under_way},
      {"largest_served_bytes", 1, limits::most_served_bytes, settings.largest_served_bytes},
      {"smallest_served_bytes", 1, settings.largest_served_bytes, settings.smallest_served_bytes},
      {"least_messages", 1, limits::most_messages, settings.least_messages},
      {"longest_pause_in_row_ns", 0, limits::longest_pause_ns, settings.longest_pause_in_row_ns},
      {"looks_before_sleep_ns", 0, limits::longest_pause_ns, settings.looks_before_sleep_ns},
  };
  for (const numeric_setting& setting : all)
    if (std::string problem = problem_of_setting(setting); !problem.empty()) return problem;
  return {};
}

}  // namespace trimtab::parcels
