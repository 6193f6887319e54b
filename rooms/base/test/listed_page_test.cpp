#include "trimtab/base/listed_page.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "scratch_folder.hpp"
#include "trimtab/base/read_file.hpp"

namespace trimtab::base {
namespace {

struct page {
  explicit page(char letter) { std::memset(bytes, letter, sizeof bytes); }
  std::byte bytes[listed_page::bytes];
};

class listed : public ::testing::Test {
 protected:
  std::string content() const {
    std::string text;
    EXPECT_EQ(read_whole_file(m_path.c_str(), text), 0);
    return text;
  }
  std::string first_letters() const {
    std::string letters;
    const std::string text = content();
    for (std::size_t at = 0; at < text.size(); at += listed_page::bytes) letters += text[at];
    return letters;
  }
  scratch_folder m_folder;
  std::string m_path = m_folder.path() + "/list";
};

TEST_F(listed, a_page_is_written_in_its_own_place) {
  listed_page first, second;
  ASSERT_EQ(first.add(m_path.c_str(), page('a').bytes), 0);
  ASSERT_EQ(second.add(m_path.c_str(), page('b').bytes), 0);
  ASSERT_EQ(first.write(page('c').bytes), 0);
  EXPECT_EQ(content(), std::string(listed_page::bytes, 'c') + std::string(listed_page::bytes, 'b'));
  struct stat status;
  ASSERT_EQ(stat(m_path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

TEST_F(listed, what_is_withdrawn_begins_with_zeros_and_keeps_its_place) {
  listed_page first, second;
  ASSERT_EQ(first.add(m_path.c_str(), page('a').bytes), 0);
  ASSERT_EQ(second.add(m_path.c_str(), page('b').bytes), 0);
  ASSERT_EQ(first.withdraw(), 0);
  EXPECT_EQ(first_letters(), std::string("\0b", 2));
  EXPECT_EQ(content().size(), 2 * listed_page::bytes);
}

// Each of many threads, as many processes would: no page is lost, none lies over another.
TEST_F(listed, many_writers_at_once_have_a_page_each) {
  constexpr int writers = 8, pages_of_each = 25;
  std::vector<std::thread> threads;
  threads.reserve(writers);
  for (int writer = 0; writer < writers; ++writer)
    threads.emplace_back([this, writer] {
      for (int i = 0; i < pages_of_each; ++i) {
        listed_page entry;
        ASSERT_EQ(entry.add(m_path.c_str(), page('?').bytes), 0);
        ASSERT_EQ(entry.write(page(static_cast<char>('a' + writer)).bytes), 0);
      }
    });
  for (auto& thread : threads) thread.join();
  const std::string letters = first_letters();
  ASSERT_EQ(letters.size(), std::size_t{writers * pages_of_each});
  for (int writer = 0; writer < writers; ++writer)
    EXPECT_EQ(std::count(letters.begin(), letters.end(), 'a' + writer), pages_of_each);
}

TEST_F(listed, nothing_is_added_behind_part_of_a_page) {
  ASSERT_EQ(close(open(m_path.c_str(), O_CREAT | O_WRONLY, 0600)), 0);
  ASSERT_EQ(truncate(m_path.c_str(), 100), 0);
  listed_page entry;
  EXPECT_EQ(entry.add(m_path.c_str(), page('a').bytes), EILSEQ);
  EXPECT_EQ(entry.write(page('b').bytes), ENOENT);
  EXPECT_EQ(content().size(), 100u);
}

TEST_F(listed, another_file_of_the_name_is_left_alone) {
  listed_page entry;
  ASSERT_EQ(entry.add(m_path.c_str(), page('a').bytes), 0);
  ASSERT_EQ(rename(m_path.c_str(), (m_path + ".old").c_str()), 0);
  listed_page other;
  ASSERT_EQ(other.add(m_path.c_str(), page('b').bytes), 0);
  EXPECT_EQ(entry.write(page('c').bytes), ESTALE);
  EXPECT_EQ(first_letters(), "b");
}

TEST_F(listed, links_pipes_and_folders_are_refused) {
  listed_page entry;
  EXPECT_EQ(entry.add(m_folder.path().c_str(), page('a').bytes), EISDIR);
  EXPECT_EQ(entry.add((m_folder.path() + "/none/list").c_str(), page('a').bytes), ENOENT);
  ASSERT_EQ(symlink("/tmp/elsewhere", m_path.c_str()), 0);
  EXPECT_EQ(entry.add(m_path.c_str(), page('a').bytes), ELOOP);
  ASSERT_EQ(unlink(m_path.c_str()), 0);
  ASSERT_EQ(mkfifo(m_path.c_str(), 0600), 0);
  EXPECT_EQ(entry.add(m_path.c_str(), page('a').bytes), ENXIO);
}

TEST_F(listed, a_limit_of_size_ends_nobody) {
  EXPECT_EXIT(
      {
        rlimit low{};
        getrlimit(RLIMIT_FSIZE, &low);
        low.rlim_cur = listed_page::bytes + 10;
        setrlimit(RLIMIT_FSIZE, &low);
        listed_page first;
        listed_page second;
        listed_page third;
        const bool has_first = first.add(m_path.c_str(), page('a').bytes) == 0;
        const bool has_second = second.add(m_path.c_str(), page('b').bytes) == 0;
        const int error = third.add(m_path.c_str(), page('c').bytes);
        _exit(has_first && !has_second && error == EILSEQ ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace trimtab::base
