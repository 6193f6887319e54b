#include "trimtab/observe/policy_files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "trimtab/base/read_file.hpp"

namespace trimtab::observe {

namespace {

constexpr std::size_t longest_answer = 1 << 20;

[[noreturn]] void fail(const std::string& path, int error) {
  throw std::runtime_error("cannot write its snapshot: " + path + ": " + std::strerror(error));
}

}  // namespace

policy_files::policy_files(const std::string& folder, const std::string& engine)
    : m_snapshots(folder + "/policy-snapshot" + (engine.empty() ? "" : "-" + engine) + ".json"),
      m_answers(folder + "/policy-answer" + (engine.empty() ? "" : "-" + engine) + ".txt") {}

// Whoever reads sees the file before or the one after, never a part.
void policy_files::put_snapshot(const std::string& text) const {
  const std::string part = m_snapshots + ".part";
  if (const int error = base::write_whole_file(part.c_str(), text); error != 0) fail(part, error);
  if (std::rename(part.c_str(), m_snapshots.c_str()) != 0) fail(part, errno);
}

bool policy_files::take_answer(std::string& answer) const {
  const int error = base::read_whole_file(m_answers.c_str(), answer, longest_answer);
  if (error == EFBIG) throw std::runtime_error("answered with more than a million bytes");
  return error == 0;
}

}  // namespace trimtab::observe
