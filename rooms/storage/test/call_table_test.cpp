#include "trimtab/storage/call_table.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace trimtab::storage {

namespace {

using observe::storage_call;
using observe::storage_row;

class call_table_test : public testing::Test {
 protected:
  call_table_test() {
    char name[] = "/tmp/trimtab-storage-XXXXXX";
    m_folder = mkdtemp(name);
  }
  ~call_table_test() override { std::filesystem::remove_all(m_folder); }

  // The file as a reader finds it while the program still runs.
  std::vector<storage_row> rows() const {
    std::ifstream file(m_folder + "/storage.tt", std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    const auto& head = *reinterpret_cast<const observe::file_header*>(bytes.data());
    const auto* const first = reinterpret_cast<const storage_row*>(bytes.data() + observe::header_bytes);
    EXPECT_EQ(head.record_bytes, sizeof(storage_row));
    return {first, first + head.written};
  }

  std::string m_folder;
  std::unique_ptr<call_table> m_table = std::make_unique<call_table>();
};

path_group named(const std::string& text) {
  path_group group;
  text.copy(group.text, sizeof group.text - 1);
  return group;
}

TEST_F(call_table_test, adds_calls_of_one_kind_in_one_row) {
  ASSERT_EQ(m_table->open(m_folder.c_str()), 0);
  const auto group = m_table->group_number(named("/data"));
  m_table->add({7, 1}, {storage_call::read, group, 100, 1000});
  m_table->add({7, 1}, {storage_call::read, group, -1, 3000});
  m_table->add({7, 2}, {storage_call::read, group, 50, 8});
  m_table->add({}, {storage_call::open, group, 12, 0});
  const auto found = rows();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].stage, 7u);
  EXPECT_EQ(found[0].attempt, 1u);
  EXPECT_EQ(found[0].count, 2u);
  EXPECT_EQ(found[0].failed, 1u);
  EXPECT_EQ(found[0].bytes, 100u);
  EXPECT_EQ(found[0].sum_ns, 4000u);
  EXPECT_EQ(found[0].longest_ns, 3000u);
  EXPECT_EQ(found[0].histogram[10], 1u);  // 512 to 1023
  EXPECT_EQ(found[0].histogram[12], 1u);  // 2048 to 4095
  EXPECT_STREQ(found[0].group, "/data");
  EXPECT_EQ(found[1].attempt, 2u);
  EXPECT_EQ(found[2].stage, no_stage);
  EXPECT_EQ(found[2].bytes, 0u) << "the result of an open is a descriptor";
}

TEST_F(call_table_test, loses_no_call_of_many_threads_while_the_file_grows) {
  ASSERT_EQ(m_table->open(m_folder.c_str()), 0);
  constexpr std::uint32_t threads = 4, stages = 700, rounds = 5;
  std::vector<std::thread> team;
  for (std::uint32_t i = 0; i < threads; ++i)
    team.emplace_back([this] {
      for (std::uint32_t call = 0; call < stages * rounds; ++call) {
        const auto group = m_table->group_number(named("/data/" + std::to_string(call % 3)));
        m_table->add({call % stages, 0}, {storage_call::write, group, 2, call});
      }
    });
  for (auto& thread : team) thread.join();
  std::uint64_t count = 0, bytes = 0;
  const auto found = rows();
  for (const auto& row : found) {
    count += row.count;
    bytes += row.bytes;
  }
  EXPECT_EQ(count, threads * stages * rounds);
  EXPECT_EQ(bytes, 2 * count);
  EXPECT_EQ(found.size(), stages * 3u) << "a pair of stage and group had two rows, or none";
}

TEST_F(call_table_test, child_of_a_fork_adds_nothing) {
  ASSERT_EQ(m_table->open(m_folder.c_str()), 0);
  const auto group = m_table->group_number(named("/data"));
  m_table->add({1, 0}, {storage_call::open, group, 3, 10});
  m_table->leave_to_parent();
  m_table->add({1, 0}, {storage_call::open, group, 3, 10});
  EXPECT_EQ(rows().at(0).count, 1u);
}

TEST_F(call_table_test, says_why_it_cannot_open) {
  EXPECT_EQ(m_table->open((m_folder + "/missing").c_str()), ENOENT);
  EXPECT_FALSE(m_table->is_open());
}

}  // namespace

}  // namespace trimtab::storage
