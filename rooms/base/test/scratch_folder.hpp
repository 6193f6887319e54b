// A folder of its own for each test, of any room, removed afterwards.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace trimtab {

class scratch_folder {
 public:
  scratch_folder() {
    m_path = (std::filesystem::temp_directory_path() / "trimtab-test-XXXXXX").string();
    if (mkdtemp(m_path.data()) == nullptr) throw std::system_error(errno, std::generic_category(), m_path);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
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
  std::string m_path;
};

}  // namespace trimtab
