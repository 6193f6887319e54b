// A folder of its own for each test, of any room, removed afterwards.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace trimtab {

// While it is there, it is the folder for temporary files: so those that a child makes, which as a death test leaves by
// _exit and removes nothing, are in it and go with it. Several in one process end in reverse order.
class scratch_folder {
 public:
  // In `above`; empty: where temporary files are.
  explicit scratch_folder(const std::filesystem::path& parent = {}) : m_outer(std::filesystem::temp_directory_path()) {
    m_path = ((parent.empty() ? m_outer : parent) / "trimtab-test-XXXXXX").string();
    if (mkdtemp(m_path.data()) == nullptr) throw std::system_error(errno, std::generic_category(), m_path);
    setenv("TMPDIR", m_path.c_str(), 1);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    setenv("TMPDIR", m_outer.c_str(), 1);
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }

  const std::string& path() const noexcept { return m_path; }
  // A file there, with the folders above it; `place` begins with a slash. Returns its path.
  std::string put(const std::string& place, const std::string& text) const {
    const std::filesystem::path whole = m_path + place;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
    return whole.string();
  }

 private:
  std::filesystem::path m_outer;
  std::string m_path;
};

}  // namespace trimtab
