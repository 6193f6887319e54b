// The CPUs of the machine that are in use, whatever this process may run on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trimtab::kernel {

// "0-3,8", as Linux lists CPUs; what is no such list ends it.
std::vector<std::uint16_t> read_cpu_list(std::string_view text);
// From ROOT/sys; CPU 0 where the kernel does not say.
std::vector<std::uint16_t> online_cpus(const std::string& root = "");

}  // namespace trimtab::kernel
