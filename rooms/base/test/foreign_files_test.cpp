// What somebody else has put in a file's place is neither written through nor waited for.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "scratch_folder.hpp"
#include "trimtab/base/append_file.hpp"
#include "trimtab/base/appended_file.hpp"
#include "trimtab/base/mapped_file.hpp"
#include "trimtab/base/read_file.hpp"

namespace trimtab::base::testing {
namespace {

class foreign_files : public ::testing::Test {
 protected:
  foreign_files() {
    std::ofstream(m_other) << "of somebody else";
    EXPECT_EQ(mkfifo(m_pipe.c_str(), 0600), 0);
  }
  std::string other() const {
    std::ifstream in(m_other);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void link_to_other() {
    unlink(m_path.c_str());
    ASSERT_EQ(symlink(m_other.c_str(), m_path.c_str()), 0);
  }
  static mode_t mode_of(const std::string& path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
  }

  scratch_folder m_folder;
  std::string m_path = m_folder.path() + "/file";
  std::string m_other = m_folder.path() + "/other";
  std::string m_pipe = m_folder.path() + "/pipe";
};

TEST_F(foreign_files, no_text_is_appended_through_a_link) {
  link_to_other();
  EXPECT_EQ(append_file(m_path.c_str(), "x"), ELOOP);
  EXPECT_EQ(other(), "of somebody else");
}

TEST_F(foreign_files, nobody_waits_at_a_pipe) {
  EXPECT_EQ(append_file(m_pipe.c_str(), "x"), ENXIO);
  std::string text;
  EXPECT_EQ(read_whole_file(m_pipe.c_str(), text), EINVAL);
  EXPECT_EQ(read_whole_file("/dev/zero", text), EINVAL);
  EXPECT_EQ(text, "");
}

TEST_F(foreign_files, a_mapped_file_does_not_grow_where_another_has_its_name) {
  mapped_file file;
  ASSERT_EQ(file.create(m_path.c_str(), 4096, 1 << 20), 0);
  EXPECT_EQ(mode_of(m_path), 0600u);
  ASSERT_EQ(file.grow(8192), 0);
  link_to_other();
  EXPECT_EQ(file.grow(1 << 16), ELOOP);
  unlink(m_path.c_str());
  ASSERT_EQ(link(m_other.c_str(), m_path.c_str()), 0);
  EXPECT_EQ(file.grow(1 << 16), ESTALE);
  EXPECT_EQ(file.size(), 8192u);
  EXPECT_EQ(other(), "of somebody else");
  file.close();
}

TEST_F(foreign_files, an_appended_file_does_not_grow_where_another_has_its_name) {
  appended_file file;
  ASSERT_EQ(file.create(m_path.c_str(), 4096), 0);
  EXPECT_EQ(mode_of(m_path), 0600u);
  unlink(m_path.c_str());
  ASSERT_EQ(link(m_other.c_str(), m_path.c_str()), 0);
  EXPECT_EQ(file.place(1 << 16, 64), nullptr);
  EXPECT_EQ(other(), "of somebody else");
  file.close();
}

}  // namespace
}  // namespace trimtab::base::testing
