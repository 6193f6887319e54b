#include "trimtab/parcels/servers/server_settings.hpp"

#include <bit>
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

std::string problem_of_sizes(const served_sizes& sizes, std::size_t before) {
  using limits = server_settings;
  if (!std::has_single_bit(sizes.largest_bytes))
    return "largest_bytes must be a power of two, found " + std::to_string(sizes.largest_bytes);
  const numeric_setting all[] = {{"largest_bytes", before + 1, limits::most_served_bytes, sizes.largest_bytes},
                                 {"servers", 0, limits::most_servers, sizes.servers},
                                 {"least_messages", 1, limits::most_messages, sizes.least_messages}};
  for (const numeric_setting& setting : all)
    if (std::string problem = problem_of_setting(setting); !problem.empty()) return problem;
  return {};
}

}  // namespace

std::string problem_of(const server_settings& settings) {
  using limits = server_settings;
  const numeric_setting all[] = {
      {"servers", 0, limits::most_servers, settings.servers},
      {"consecutive", 1, limits::most_consecutive, settings.consecutive},
      {"most_under_way", 1, limits::most_messages, settings.most_under_way},
      {"longest_pause_in_row_ns", 0, limits::longest_pause_ns, settings.longest_pause_in_row_ns},
      {"looks_before_sleep_ns", 0, limits::longest_pause_ns, settings.looks_before_sleep_ns},
  };
  for (const numeric_setting& setting : all)
    if (std::string problem = problem_of_setting(setting); !problem.empty()) return problem;
  std::size_t before = 0;
  for (const served_sizes& sizes : settings.selection) {
    if (std::string problem = problem_of_sizes(sizes, before); !problem.empty()) return "selection: " + problem;
    before = sizes.largest_bytes;
  }
  return {};
}

server_settings all_served(std::uint32_t servers, std::size_t largest_bytes) {
  server_settings settings;
  settings.servers = servers;
  settings.selection = {{largest_bytes, server_settings::most_servers, 1}};
  return settings;
}

std::size_t largest_served(const server_settings& settings) noexcept {
  std::size_t largest = 0;
  for (const served_sizes& sizes : settings.selection)
    if (sizes.servers > 0) largest = sizes.largest_bytes;
  return largest;
}

}  // namespace trimtab::parcels
