#include "trimtab/options/option.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "trimtab/options/environment.hpp"
#include "trimtab/options/run_options.hpp"
#include "trimtab/options/tables.hpp"

namespace trimtab::options {
namespace {

struct colours {
  std::uint64_t hue = 0;
  bool is_bright = false;
  std::string name;
};
constexpr row<colours> table[] = {
    {{"TRIMTAB_TEST_HUE", "120", number(0, 360), "angle \"hue\" (degrees)", "hue"},
     [](colours& into, const value& to) { into.hue = to.number; }},
    {{"TRIMTAB_TEST_BRIGHT", "0", flag(), "1: bright", "bright"},
     [](colours& into, const value& to) { into.is_bright = to.is_set(); }},
    {{"TRIMTAB_TEST_NAME", "", any_text(), "what it is called"},
     [](colours& into, const value& to) { into.name = to.text; }},
};

class option_test : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const auto& option_row : table) unsetenv(option_row.variable);
    unsetenv("LD_PRELOAD");
  }
  static mistake read(colours& target) { return fill(target, std::span<const row<colours>>(table), value_of); }
};

TEST_F(option_test, a_table_gives_its_defaults) {
  colours colours_read;
  setenv("TRIMTAB_TEST_NAME", "", 1);
  EXPECT_EQ(read(colours_read).of, nullptr);
  EXPECT_EQ(colours_read.hue, 120u);
  EXPECT_EQ(colours_read.name, "");
}

TEST_F(option_test, the_environment_comes_before_defaults) {
  colours colours_read;
  setenv("TRIMTAB_TEST_HUE", "7", 1);
  setenv("TRIMTAB_TEST_BRIGHT", "1", 1);
  setenv("TRIMTAB_TEST_NAME", "sky", 1);
  EXPECT_EQ(read(colours_read).of, nullptr);
  EXPECT_EQ(colours_read.hue, 7u);
  EXPECT_TRUE(colours_read.is_bright);
  EXPECT_EQ(colours_read.name, "sky");
}

TEST_F(option_test, the_first_mistake_is_reported_and_leaves_the_default) {
  colours colours_read;
  setenv("TRIMTAB_TEST_HUE", "361", 1);
  setenv("TRIMTAB_TEST_BRIGHT", "very", 1);
  const mistake mistake_found = read(colours_read);
  ASSERT_NE(mistake_found.of, nullptr);
  EXPECT_STREQ(mistake_found.of->variable, "TRIMTAB_TEST_HUE");
  EXPECT_STREQ(mistake_found.text, "361");
  EXPECT_EQ(colours_read.hue, 120u);
  EXPECT_FALSE(colours_read.is_bright);
}

TEST_F(option_test, variables_are_forgotten_or_made_empty_in_place) {
  setenv("TRIMTAB_TEST_HUE", "7", 1);
  setenv("TRIMTAB_TEST_NAME", "sky", 1);
  const char* const text = std::getenv("TRIMTAB_TEST_NAME");
  make_empty(table[2]);
  EXPECT_EQ(std::getenv("TRIMTAB_TEST_NAME"), text) << "in place";
  EXPECT_STREQ(text, "");
  EXPECT_EQ(value_of(table[2]), nullptr);
  EXPECT_STREQ(value_of(table[0]), "7") << "others stay";
  forget(table[0]);
  EXPECT_EQ(std::getenv("TRIMTAB_TEST_HUE"), nullptr);
}

TEST_F(option_test, the_first_preloaded_library_is_forgotten) {
  const auto left_of = [](const char* before) -> std::string {
    setenv("LD_PRELOAD", before, 1);
    forget_first_preload();
    const char* const left = std::getenv("LD_PRELOAD");
    return left == nullptr ? "(none)" : left;
  };
  EXPECT_EQ(left_of(""), "(none)");
  EXPECT_EQ(left_of("/ours.so"), "(none)");
  EXPECT_EQ(left_of("/ours.so:"), "(none)");
  EXPECT_EQ(left_of("/ours.so:/a.so b.so"), "/a.so b.so");
}

TEST_F(option_test, a_row_is_help_documentation_and_export) {
  const std::vector<option> all = options_of(std::span<const row<colours>>(table));
  EXPECT_EQ(help_line(all[0]), "--trimtab:hue                      angle \"hue\" (degrees) (0 to 360; default 120)");
  EXPECT_EQ(markdown_table({all[0]}),
            "| option | variable | default | values | meaning |\n|---|---|---|---|---|\n"
            "| `hue` | `TRIMTAB_TEST_HUE` | 120 | 0 to 360 | angle \"hue\" (degrees) |\n");
  EXPECT_EQ(markdown_table({all[2]}),
            "| variable | default | values | meaning |\n|---|---|---|---|\n"
            "| `TRIMTAB_TEST_NAME` | | a text | what it is called |\n");
  EXPECT_EQ(json_array({all[0]}),
            "[\n  {\"variable\": \"TRIMTAB_TEST_HUE\", \"argument\": \"hue\", \"default\": \"120\", \"kind\": \"number\", "
            "\"least\": 0, \"most\": 360, \"help\": \"angle \\\"hue\\\" (degrees)\"}\n ]");
}

TEST(run_options, words_are_in_the_order_of_what_they_mean) {
  const std::pair<const char*, tuning_mode> modes[] = {{"off", tuning_mode::off},
                                                       {"on", tuning_mode::on},
                                                       {"frozen", tuning_mode::frozen},
                                                       {"known", tuning_mode::known},
                                                       {"shuffle", tuning_mode::shuffle}};
  for (const auto& [word, mode] : modes) {
    const auto checked = check(tune_option.allowed, word);
    ASSERT_TRUE(checked) << word;
    EXPECT_EQ(tuning_mode_of(*checked), mode) << word;
  }
  EXPECT_TRUE(uses_settings(tuning_mode::on) && uses_settings(tuning_mode::frozen) && uses_settings(tuning_mode::known));
  EXPECT_FALSE(uses_settings(tuning_mode::off) || uses_settings(tuning_mode::shuffle));
}

}  // namespace
}  // namespace trimtab::options
