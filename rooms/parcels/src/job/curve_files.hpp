// Where the saturation curves of this machine are, and the communication servers that a job has by them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "trimtab/options/rank_variables.hpp"
#include "trimtab/parcels/servers/server_settings.hpp"
#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

// `named`, else where the history is; empty: the user has no folder.
std::string curve_folder(std::string_view named, options::look_up_function look_up);
// Empty where the folder is. Of this host: a folder may be shared by several. transport: "shm", "tcp".
std::string curve_file(const std::string& folder, const std::string& transport);

// What a job with so many workers on this machine should have, by the curve that was measured here. A file that
// cannot be read is named on the standard error, and is as none.
server_settings measured_servers(const std::string& file, std::uint32_t workers, std::uint32_t free_cpus);

}  // namespace trimtab::parcels
