#include "child_environment.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace trimtab::session {
namespace {

std::map<std::string, std::string> program;

const char* look_up(const char* name) {
  const auto entry = program.find(name);
  return entry == program.end() ? nullptr : entry->second.c_str();
}

class child_environments : public testing::Test {
 protected:
  child_environments() { program = {{"OMP_PLACES", "cores"}, {"GLIBC_TUNABLES", "a=1:b=2"}, {"HOME", "/h"}}; }

  std::vector<std::string> filtered(const std::vector<std::string>& entries) {
    std::vector<char*> variables, result(entries.size() + 1);
    for (const std::string& entry : entries) variables.push_back(const_cast<char*>(entry.c_str()));
    variables.push_back(nullptr);
    kept.filter(variables.data(), result.data());
    EXPECT_EQ(count_entries(variables.data()), entries.size());
    return {result.data(), result.data() + count_entries(result.data())};
  }
  std::string prefix() {
    std::string text(kept.shell_prefix(nullptr, 0, look_up), '\0');
    EXPECT_EQ(kept.shell_prefix(text.data(), text.size() + 1, look_up), text.size());
    return text;
  }

  child_environment kept;
};

TEST_F(child_environments, give_the_users_own_values) {
  kept.configure("OMP_PLACES\nGLIBC_TUNABLES=a=1", look_up);
  EXPECT_EQ(filtered({"HOME=/h", "OMP_PLACES=cores", "GLIBC_TUNABLES=a=1:b=2"}),
            (std::vector<std::string>{"HOME=/h", "GLIBC_TUNABLES=a=1"}));
}

TEST_F(child_environments, leave_what_the_program_has_set_for_them) {
  kept.configure("OMP_PLACES\nGLIBC_TUNABLES=a=1", look_up);
  const std::vector<std::string> own = {"OMP_PLACES=threads", "OMP_PLACES2=cores", "GLIBC_TUNABLES=c=3"};
  EXPECT_EQ(filtered(own), own);
}

TEST_F(child_environments, do_not_hand_the_list_on) {
  kept.configure("OMP_PLACES", look_up);
  EXPECT_EQ(filtered({"TRIMTAB_USERS_VALUES=OMP_PLACES", "TRIMTAB_RUN=/r"}), std::vector<std::string>{"TRIMTAB_RUN=/r"});
}

TEST_F(child_environments, are_those_of_the_program_where_nothing_is_said) {
  kept.configure(nullptr, look_up);
  EXPECT_TRUE(kept.is_empty());
  kept.configure("OMP_PROC_BIND\n\n", look_up);
  EXPECT_TRUE(kept.is_empty()) << "the program was not started with it";
}

TEST_F(child_environments, tell_a_shell_the_same) {
  kept.configure("OMP_PLACES\nGLIBC_TUNABLES=it's", look_up);
  EXPECT_EQ(prefix(), "unset TRIMTAB_USERS_VALUES; unset OMP_PLACES; export GLIBC_TUNABLES='it'\\''s'; ");
  program["OMP_PLACES"] = "threads";
  EXPECT_EQ(prefix(), "unset TRIMTAB_USERS_VALUES; export GLIBC_TUNABLES='it'\\''s'; ") << "the program has set it";
}

TEST_F(child_environments, keep_what_finds_no_room) {
  program["LONG"] = std::string(10'000, 'x');
  kept.configure("LONG\nOMP_PLACES", look_up);
  ASSERT_EQ(kept.variables().size(), 1u);
  EXPECT_TRUE(kept.variables()[0].is("OMP_PLACES=cores"));
  std::string many;
  for (int i = 0; i < 100; ++i) {
    program["V" + std::to_string(i)] = "1";
    many += "V" + std::to_string(i) + "\n";
  }
  child_environment full;
  full.configure(many.c_str(), look_up);
  EXPECT_EQ(full.variables().size(), 32u);
}

}  // namespace
}  // namespace trimtab::session
