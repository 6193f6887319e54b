// What this very program asks the dynamic linker for.
#include "runtimes/references.hpp"

#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <string>

namespace trimtab::openmp {
namespace {

const char here_in_the_program = 0;
const auto own_address = reinterpret_cast<std::uintptr_t>(&here_in_the_program);

TEST(references, have_a_name_and_a_version) {
  ASSERT_NE(gnu_get_libc_version(), nullptr);
  const reference reference_found = first_reference(own_address, "gnu_get_libc_");
  ASSERT_NE(reference_found.name, nullptr);
  EXPECT_STREQ(reference_found.name, "gnu_get_libc_version");
  ASSERT_NE(reference_found.version, nullptr);
  EXPECT_EQ(std::string(reference_found.version).rfind("GLIBC_", 0), 0u);
}

TEST(references, are_of_the_object_that_is_asked_about) {
  // The C library defines the function itself.
  EXPECT_EQ(first_reference(reinterpret_cast<std::uintptr_t>(gnu_get_libc_version()), "gnu_get_libc_").name, nullptr);
  EXPECT_EQ(first_reference(own_address, "no_such_function").name, nullptr);
  EXPECT_EQ(first_reference(0, "gnu_get_libc_").name, nullptr);
}

}  // namespace
}  // namespace trimtab::openmp
