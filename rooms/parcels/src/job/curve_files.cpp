#include "job/curve_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "trimtab/parcels/servers/saturation_curve.hpp"

namespace trimtab::parcels {

namespace {

constexpr options::option data_home{"XDG_DATA_HOME", "", options::any_text(), ""};
constexpr options::option user_home{"HOME", "", options::any_text(), ""};

}  // namespace

std::string curve_folder(std::string_view named, options::look_up_function look_up) {
  if (!named.empty()) return std::string(named);
  if (const char* const folder = look_up(data_home)) return std::string(folder) + "/trimtab";
  const char* const home = look_up(user_home);
  return home == nullptr ? std::string() : std::string(home) + "/.local/share/trimtab";
}

std::string curve_file(const std::string& folder, const std::string& transport) {
  if (folder.empty()) return {};
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  std::string name = host;
  std::ranges::replace(name, '/', '-');
  return folder + "/network-" + (name.empty() ? "this-host" : name) + "-" + transport + ".txt";
}

server_settings measured_servers(const std::string& file, std::uint32_t workers, std::uint32_t free_cpus) {
  if (free_cpus == 0) return {};
  const parsed_curve read = read_curve(file);
  if (!read.error.empty()) {
    std::fprintf(stderr, "trimtab: %s; there are no communication servers\n", read.error.c_str());
    return {};
  }
  return choose_servers(read.curve, free_cpus, workers);
}

}  // namespace trimtab::parcels
