#include "file_refusal.hpp"

#include <cerrno>
#include <cstdio>

namespace trimtab::observe {

namespace {

struct known_error {
  int error;
  const char *why, *remedy;
};
constexpr known_error known_errors[] = {
    {ENOSPC, "the file system has no room for more", "free space, or give a directory elsewhere with -o"},
    {EDQUOT, "the quota of the file system is used up", "free space, or give a directory elsewhere with -o"},
    {EFBIG, "the limit on the size of files, or on address space, is reached", "raise the limit (ulimit -f, ulimit -v)"},
    {ENOMEM, "there is no more memory or address space", "raise the limit on address space (ulimit -v)"},
    {EAGAIN, "no more memory may be locked", "raise the limit on locked memory (ulimit -l)"},
    {EMFILE, "no descriptor is left", "raise the limit on open files (ulimit -n)"},
    {ENFILE, "no descriptor is left on this machine", "close files of other programs"},
    {EROFS, "the file system is read-only", "give a directory elsewhere with -o"},
    {EACCES, "the run directory may not be written", "give a directory elsewhere with -o"},
    {EPERM, "system calls are no longer permitted", "see docs/guide/where-it-runs.md about seccomp"},
    {ENOENT, "the run directory is gone", "leave it in its place until the program has ended"},
};

}  // namespace

file_refusal explain_file_error(int error) noexcept {
  file_refusal refusal{};
  refusal.remedy = "see errno(3)";
  std::snprintf(refusal.why, sizeof refusal.why, "error %d", error);
  for (const known_error& error_entry : known_errors) {
    if (error_entry.error != error) continue;
    std::snprintf(refusal.why, sizeof refusal.why, "%s", error_entry.why);
    refusal.remedy = error_entry.remedy;
  }
  return refusal;
}

}  // namespace trimtab::observe
