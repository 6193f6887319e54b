#include "trimtab/storage/path_group.hpp"

#include <gtest/gtest.h>

#include <string>

namespace trimtab::storage {

namespace {

using observe::storage_class;

constexpr open_manner task_reads{false, true}, task_writes{true, true}, nobody_reads{false, false};

struct expectation {
  const char* path;
  open_manner manner;
  storage_class file_class;
  const char* text;
};

TEST(path_group, says_what_a_file_is_for) {
  const expectation expectations[] = {
      {"/l/blockmgr-1/0c/shuffle_3_17_0.data", task_reads, storage_class::shuffle_read, "shuffle 3 data"},
      {"/l/blockmgr-1/0c/shuffle_3_17_0.data", nobody_reads, storage_class::shuffle_read, "shuffle 3 data"},
      {"/l/0c/shuffle_12_17_0.index.9f3c", task_writes, storage_class::shuffle_write, "shuffle 12 index"},
      {"/l/0c/shuffle_0_1_0.checksum.ADLER32", task_writes, storage_class::shuffle_write, "shuffle 0 checksum"},
      {"/l/0c/temp_shuffle_9f3c", task_reads, storage_class::shuffle_write, "temporary shuffle files"},
      {"/l/0c/temp_local_9f3c", task_writes, storage_class::spill, "spill files"},
      {"/l/0c/rdd_4_1", task_reads, storage_class::cache, "kept partitions"},
      {"/data/year=2026/part-00001.parquet", task_reads, storage_class::input, "/data/year=2026"},
      {"/out/part-00001.parquet", task_writes, storage_class::output, "/out"},
      {"/data/part-00001.parquet", nobody_reads, storage_class::other, "/data"},
      {"/opt/spark/jars/a.jar", task_reads, storage_class::code, "/opt/spark/jars"},
      {"/proc/self/maps", task_reads, storage_class::system, "/proc"},
      {"/shuffle_notes.txt", task_reads, storage_class::input, "/"},
      {"name", task_reads, storage_class::input, "."},
  };
  for (const auto& expected : expectations) {
    const path_group group = group_of(expected.path, expected.manner);
    EXPECT_EQ(group.file_class, expected.file_class) << expected.path;
    EXPECT_STREQ(group.text, expected.text);
  }
}

TEST(path_group, keeps_the_end_of_a_long_folder) {
  const std::string folder = "/" + std::string(300, 'a') + "/end";
  const path_group group = group_of((folder + "/part").c_str(), task_reads);
  const std::string text = group.text;
  EXPECT_EQ(text.size(), sizeof group.text - 1);
  EXPECT_TRUE(folder.ends_with(text));
}

}  // namespace

}  // namespace trimtab::storage
