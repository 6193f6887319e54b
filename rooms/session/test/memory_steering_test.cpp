// The allocator and huge pages: what is set, what is undone, and which memory is advised.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>

#include <cstdlib>

#include "c_library_memory.hpp"
#include "huge_page_advice.hpp"

namespace trimtab::session {
namespace {

// The compiler must not see that nobody uses it.
void* block_of(std::size_t bytes) {
  void* volatile block = std::malloc(bytes);
  return block;
}

bool is_mapped_for_itself(std::size_t bytes) {
  const std::size_t before = mallinfo2().hblks;
  void* const block = block_of(bytes);
  const bool is_mapped = mallinfo2().hblks > before;
  std::free(block);
  return is_mapped;
}

class allocator : public ::testing::Test {
 protected:
  void SetUp() override {
    memory = c_library_memory::find();
    if (!memory) GTEST_SKIP() << "malloc is not the GNU C library's";
  }
  void TearDown() override {
    if (memory) memory->restore();
  }
  std::optional<c_library_memory> memory;
};

TEST_F(allocator, keeps_what_is_freed_until_it_is_restored) {
  // Moves the threshold to 8 MB: larger blocks are mapped, smaller ones are not.
  std::free(block_of(8 << 20));
  ASSERT_TRUE(is_mapped_for_itself(40 << 20));
  ASSERT_TRUE(memory->keep());
  EXPECT_FALSE(is_mapped_for_itself(40 << 20));
  ASSERT_TRUE(memory->restore());
  memory->give_back();
  EXPECT_TRUE(is_mapped_for_itself(40 << 20));
  EXPECT_TRUE(is_mapped_for_itself(9 << 20));
  EXPECT_FALSE(is_mapped_for_itself(7 << 20));
}

TEST_F(allocator, knows_what_the_program_does_not_use) {
  ASSERT_TRUE(memory->keep());
  void* const block = block_of(40 << 20);
  ASSERT_TRUE(memory->free_bytes());
  const std::size_t before = *memory->free_bytes();
  std::free(block);
  EXPECT_GE(*memory->free_bytes(), before + (40u << 20));
}

constexpr std::string_view maps =
    "00400000-00800000 r-xp 00000000 08:01 1234                       /usr/bin/app\n"
    "01000000-03000000 rw-p 00000000 00:00 0                          [heap]\n"
    "7f0000000000-7f0000800000 rw-p 00000000 00:00 0 \n"
    "7f0000800000-7f0004000000 ---p 00000000 00:00 0 \n"
    "7f0004000000-7f0004800000 rw-p 00000000 00:00 0 \n"
    "7f0004800000-7f0008000000 ---p 00000000 00:00 0 \n"
    "7f0010000000-7f0010001000 ---p 00000000 00:00 0 \n"
    "7f0010001000-7f0010801000 rw-p 00000000 00:00 0 \n"
    "7f0020000000-7f0020100000 rw-p 00000000 00:00 0 \n"
    "7f0030000000-7f0050000000 rw-p 00000000 00:00 0 \n"
    "7f0060000000-7f0061000000 rw-s 00000000 00:01 5                  /dev/shm/shared (deleted)\n"
    "7ffc00000000-7ffc00800000 rw-p 00000000 00:00 0                  [stack]\n";

TEST(advice, is_for_heaps_and_large_blocks_but_not_for_stacks_files_and_what_is_hardly_used) {
  EXPECT_EQ(advisable_memory(maps, 64 << 20),
            (std::vector<memory_range>{
                {0x01000000, 0x03000000}, {0x7f0000000000, 0x7f0000800000}, {0x7f0004000000, 0x7f0004800000}}));
  EXPECT_EQ(advisable_memory(maps, 1 << 30).back(), (memory_range{0x7f0030000000, 0x7f0050000000}));
  EXPECT_TRUE(advisable_memory("no maps\n\n12-x rw-p\n", 1 << 30).empty());
}

TEST(advice, of_the_program_itself_is_seen) {
  EXPECT_FALSE(has_advice("Size: 4 kB\nVmFlags: rd wr mr mw me ac sd \n"));
  EXPECT_TRUE(has_advice("VmFlags: rd wr mr mw me ac sd hg \nSize: 4 kB\n"));
  EXPECT_TRUE(has_advice("VmFlags: rd wr mr mw me ac sd nh \n"));
}

TEST(advice, is_of_use_where_the_machine_waits_for_it) {
  EXPECT_TRUE(gives_on_advice("always [madvise] never\n"));
  EXPECT_FALSE(gives_on_advice("[always] madvise never\n"));
  EXPECT_FALSE(gives_on_advice("always madvise [never]\n"));
}

}  // namespace
}  // namespace trimtab::session
