#include "run_delay.hpp"

#include <dirent.h>

#include <cstdio>

#include "trimtab/base/read_file.hpp"

namespace trimtab::session {

std::uint64_t read_run_delay(const char* root) noexcept {
  char path[512];
  std::snprintf(path, sizeof path, "%s/proc/self/task", root);
  DIR* const threads = opendir(path);
  if (threads == nullptr) return 0;
  std::uint64_t sum_ns = 0;
  while (const dirent* const each = readdir(threads)) {
    if (each->d_name[0] < '0' || each->d_name[0] > '9') continue;
    std::snprintf(path, sizeof path, "%s/proc/self/task/%.16s/schedstat", root, each->d_name);
    char text[96];
    unsigned long long run_ns = 0, delay_ns = 0;
    if (base::read_file(path, text, sizeof text) > 0 && std::sscanf(text, "%llu %llu", &run_ns, &delay_ns) == 2)
      sum_ns += delay_ns;
  }
  closedir(threads);
  return sum_ns;
}

}  // namespace trimtab::session
