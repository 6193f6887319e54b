#include "trimtab/base/read_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "scratch_folder.hpp"

namespace trimtab::base {
namespace {

class files : public ::testing::Test {
 protected:
  std::string with(const std::string& text) const { return m_folder.put("/file", text); }
  scratch_folder m_folder;
};

TEST_F(files, of_any_length_are_read_whole_and_appended) {
  for (const std::size_t length : {0u, 1u, 4095u, 4096u, 4097u, 100'000u}) {
    std::string text(length, 'x');
    if (length > 0) text.back() = 'e';
    std::string content = "before ";
    EXPECT_EQ(read_whole_file(with(text).c_str(), content), 0);
    EXPECT_EQ(content, "before " + text);
  }
}

TEST_F(files, that_are_too_long_are_told) {
  std::string content;
  EXPECT_EQ(read_whole_file(with(std::string(5000, 'x')).c_str(), content, 4999), EFBIG);
  content.clear();
  EXPECT_EQ(read_whole_file(with(std::string(5000, 'x')).c_str(), content, 5000), 0);
  EXPECT_EQ(content.size(), 5000u);
}

TEST_F(files, that_cannot_be_read_are_told) {
  std::string content;
  EXPECT_EQ(read_whole_file((m_folder.path() + "/none").c_str(), content), ENOENT);
  EXPECT_EQ(read_whole_file(m_folder.path().c_str(), content), EISDIR);
  EXPECT_EQ(content, "");
}

TEST_F(files, into_a_buffer_are_cut_off_and_leave_errno_as_it_was) {
  char text[8];
  errno = EDOM;
  EXPECT_EQ(read_file(with("0123456789").c_str(), text, sizeof text), 7);
  EXPECT_STREQ(text, "0123456");
  EXPECT_EQ(read_file((m_folder.path() + "/none").c_str(), text, sizeof text), -ENOENT);
  EXPECT_EQ(errno, EDOM);
}

}  // namespace
}  // namespace trimtab::base
