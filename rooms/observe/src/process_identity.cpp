#include "process_identity.hpp"

#include <sys/utsname.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "trimtab/base/read_file.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

namespace {

// Field 22 of /proc/PID/stat (proc(5)): the twentieth behind the name.
constexpr int fields_before_start = 19;

bool is_plain(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || std::strchr("._+-", c) != nullptr;
}

}  // namespace

file_host_name::file_host_name() noexcept {
  utsname system;
  const char* const name = uname(&system) == 0 ? system.nodename : "";
  std::size_t length = 0;
  for (; length + 1 < sizeof text && name[length] != '\0' && name[length] != '.'; ++length)
    text[length] = is_plain(name[length]) ? name[length] : '_';
  if (length == 0) text[length++] = '_';
  text[length] = '\0';
}

std::uint64_t start_in(const char* stat) noexcept {
  // The name in parentheses may have any character, parentheses among them.
  const char* at = std::strrchr(stat, ')');
  if (at == nullptr) return 0;
  at += 1;
  for (int i = 0; i < fields_before_start && at != nullptr; ++i) at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtoull(at, nullptr, 10);
}

void recorder::append_identity() noexcept {
  char text[1024];
  utsname system;
  if (uname(&system) == 0) append_fact("host", system.nodename);
  if (base::read_file("/proc/self/stat", text, sizeof text) > 0) {
    const std::uint64_t start = start_in(text);
    std::snprintf(text, sizeof text, "%" PRIu64, start);
    if (start != 0) append_fact("process start", text);
  }
  if (m_options.rank < 0) return;
  std::snprintf(text, sizeof text, "%" PRId64, m_options.rank);
  append_fact("rank", text);
  if (m_options.job_size < 0) return;
  std::snprintf(text, sizeof text, "%" PRId64, m_options.job_size);
  append_fact("size", text);
}

}  // namespace trimtab::observe
