// trimtab-replay FILE: tells an engine again what the one of a run was told (snapshots.txt), and prints what it decides, as
// lines of JSON: a decision each, and the last one says how far it went. `trimtab replay` compares them with the run's.
// Ends with 1 where a step has another number of decisions than it had, and with 2 where nothing can be replayed.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "replayed.hpp"
#include "trimtab/base/read_file.hpp"

namespace {
constexpr std::size_t longest_recording = std::size_t{4} << 30;
}

int main(int count, char** arguments) {
  using namespace trimtab;
  if (count != 2 || arguments[1][0] == '-') {
    std::fputs("usage: trimtab-replay FILE: a run's snapshots.txt; `trimtab replay` compares with what the run decided\n",
               stderr);
    return 2;
  }
  std::string text;
  if (const int error = base::read_whole_file(arguments[1], text, longest_recording); error != 0) {
    std::fprintf(stderr, "%s: %s\n", arguments[1], std::strerror(error));
    return 2;
  }
  const session::replayed result = session::replay(text);
  std::fwrite(result.lines.data(), 1, result.lines.size(), stdout);
  if (!result.error.empty()) std::fprintf(stderr, "%s: %s\n", arguments[1], result.error.c_str());
  if (std::fflush(stdout) != 0 || !result.error.empty()) return 2;
  return result.is_same ? 0 : 1;
}
