// Pages and threads on machines with one, two and four nodes, which are made up; and what this kernel says.
#include "page_nodes.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "probe_fixture.hpp"

namespace trimtab::observe::testing {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20, base_address = 0x7f0000000000;

// The node of the byte at this distance from the begin of the mapping.
std::function<int(std::uint64_t)> node_at;

bool locate(void* const* pages, std::size_t count, int* nodes) {
  for (std::size_t i = 0; i < count; ++i) nodes[i] = node_at(reinterpret_cast<std::uint64_t>(pages[i]) - base_address);
  return true;
}

bool refuse(void* const*, std::size_t, int*) { return false; }

class page_nodes_test : public probe_test {
 protected:
  // Four CPUs a node; the distances are those of a machine with two sockets.
  void machine(int nodes) {
    put("/sys/devices/system/node/online", nodes == 1 ? "0\n" : "0-" + std::to_string(nodes - 1) + "\n");
    for (int node = 0; node < nodes; ++node) {
      const std::string folder = "/sys/devices/system/node/node" + std::to_string(node);
      put(folder + "/cpulist", std::to_string(4 * node) + "-" + std::to_string(4 * node + 3) + "\n");
      std::string distances;
      for (int other = 0; other < nodes; ++other)
        distances += (other == node ? "10" : other / 2 == node / 2 ? "12" : "32") + std::string(" ");
      put(folder + "/distance", distances + "\n");
    }
  }
  void memory(std::uint64_t bytes, const char* rights = "rw-p") {
    char text[512];
    std::snprintf(text, sizeof text,
                  "00400000-00500000 r-xp 00000000 08:01 77                         /usr/bin/x\n"
                  "%llx-%llx %s 00000000 00:00 0 \n"
                  "7fff00000000-7fff00021000 rw-p 00000000 00:00 0                   [stack]\n",
                  static_cast<unsigned long long>(base_address), static_cast<unsigned long long>(base_address + bytes),
                  rights);
    put("/proc/self/maps", text);
  }
  std::optional<page_nodes> read(const std::vector<std::uint32_t>& cpus, locate_pages how = locate) {
    return read_page_nodes(root().c_str(), cpus.data(), cpus.size(), how);
  }
};

TEST_F(page_nodes_test, nothing_is_said_of_one_node) {
  machine(1);
  memory(256 * mib);
  node_at = [](std::uint64_t) { return 0; };
  EXPECT_FALSE(read({0, 1, 2, 3}));
}

TEST_F(page_nodes_test, first_touch_by_one_thread_on_two_nodes) {
  machine(2);
  memory(256 * mib);
  node_at = [](std::uint64_t) { return 0; };
  const auto found = read({0, 1, 4, 5});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->fullest, 0);
  EXPECT_GT(found->pages, 400u);
  EXPECT_DOUBLE_EQ(found->fullest_share, 1);
  EXPECT_DOUBLE_EQ(found->remote_share, 0.5);
  EXPECT_DOUBLE_EQ(found->distance, 1.2);
}

TEST_F(page_nodes_test, first_touch_by_one_thread_on_four_nodes) {
  machine(4);
  memory(256 * mib);
  node_at = [](std::uint64_t at) { return at < 16 * mib ? -2 : 3; };  // the first pages have not been touched
  const auto found = read({0, 4, 8, 12});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->fullest, 3);
  EXPECT_DOUBLE_EQ(found->fullest_share, 1);
  EXPECT_DOUBLE_EQ(found->remote_share, 0.75);
  EXPECT_NEAR(found->distance, (3.2 + 3.2 + 1.2) / 3, 1e-9);
}

TEST_F(page_nodes_test, each_thread_its_part) {
  machine(2);
  memory(256 * mib);
  node_at = [](std::uint64_t at) { return at < 128 * mib ? 0 : 1; };
  const auto found = read({0, 4});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->fullest_share, 0.5, 0.02);
  EXPECT_NEAR(found->remote_share, 0.5, 0.02);
}

TEST_F(page_nodes_test, threads_on_the_node_that_has_the_pages) {
  machine(2);
  memory(256 * mib);
  node_at = [](std::uint64_t) { return 1; };
  const auto found = read({4, 5, 6});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->remote_share, 0);
  EXPECT_DOUBLE_EQ(found->distance, 1);
}

TEST_F(page_nodes_test, nothing_is_said_without_evidence) {
  machine(2);
  node_at = [](std::uint64_t) { return 0; };
  EXPECT_FALSE(read({0, 4}));  // no maps
  memory(32 * mib);
  EXPECT_FALSE(read({0, 4}));
  memory(256 * mib, "r--p");
  EXPECT_FALSE(read({0, 4}));
  memory(256 * mib);
  EXPECT_FALSE(read({0}));
  EXPECT_FALSE(read({0, 4}, refuse));
  node_at = [](std::uint64_t) { return -2; };
  EXPECT_FALSE(read({0, 4}));
  EXPECT_FALSE(read({100, 101}));  // CPUs of no node
}

TEST(page_nodes, this_kernel_locates_pages) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, page);
  void* pages[] = {memory, static_cast<char*>(memory) + page};
  int nodes[2] = {-1, 0};
  if (!locate_pages_by_kernel(pages, 2, nodes)) GTEST_SKIP() << "the kernel has no move_pages";
  EXPECT_GE(nodes[0], 0);
  EXPECT_LT(nodes[1], 0);  // never touched
  munmap(memory, 2 * page);
}

}  // namespace
}  // namespace trimtab::observe::testing
