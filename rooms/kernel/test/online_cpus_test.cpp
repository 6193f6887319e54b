#include "online_cpus.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace trimtab::kernel {

TEST(online_cpus, are_read_as_linux_lists_them) {
  using list = std::vector<std::uint16_t>;
  EXPECT_EQ(read_cpu_list("0\n"), list{0});
  EXPECT_EQ(read_cpu_list("0-3\n"), (list{0, 1, 2, 3}));
  EXPECT_EQ(read_cpu_list("0,2-3,8\n"), (list{0, 2, 3, 8}));
  EXPECT_EQ(read_cpu_list("5-3"), list{});
  EXPECT_EQ(read_cpu_list("0,x"), list{0});
  EXPECT_EQ(read_cpu_list("0-99999"), list{});
  EXPECT_EQ(read_cpu_list(""), list{});
  EXPECT_FALSE(online_cpus().empty());
  EXPECT_EQ(online_cpus("/no such root"), list{0});
}

}  // namespace trimtab::kernel
