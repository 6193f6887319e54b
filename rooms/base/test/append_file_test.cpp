#include "trimtab/base/append_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "scratch_folder.hpp"
#include "trimtab/base/read_file.hpp"
#include "trimtab/base/signals_held.hpp"

namespace trimtab::base {
namespace {

class appended : public ::testing::Test {
 protected:
  std::string content() const {
    std::string text;
    EXPECT_EQ(read_whole_file(m_path.c_str(), text), 0);
    return text;
  }
  scratch_folder m_folder;
  std::string m_path = m_folder.path() + "/file";
};

TEST_F(appended, text_is_behind_what_was_there) {
  errno = EDOM;
  EXPECT_EQ(append_file(m_path.c_str(), "one\n"), 0);
  EXPECT_EQ(append_file(m_path.c_str(), ""), 0);
  EXPECT_EQ(append_file(m_path.c_str(), "two\n"), 0);
  EXPECT_EQ(content(), "one\ntwo\n");
  EXPECT_EQ(errno, EDOM);
}

TEST_F(appended, what_cannot_be_written_is_told) {
  EXPECT_EQ(append_file((m_folder.path() + "/none/file").c_str(), "x"), ENOENT);
  EXPECT_EQ(append_file(m_folder.path().c_str(), "x"), EISDIR);
  EXPECT_EQ(append_file("/dev/full", "x"), ENOSPC);
}

// Whoever holds its signals lives on where a limit of the file's size is reached, and has what went in.
TEST_F(appended, a_limit_of_size_ends_nobody) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EXIT(
      {
        const signals_held held;
        rlimit low = before;
        low.rlim_cur = 6;
        setrlimit(RLIMIT_FSIZE, &low);
        const int first = append_file(m_path.c_str(), "four");
        _exit(first == 0 && append_file(m_path.c_str(), "more") == EFBIG ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(content(), "fourmo");
}

}  // namespace
}  // namespace trimtab::base
