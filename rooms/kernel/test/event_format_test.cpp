#include "trimtab/kernel/event_format.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

namespace trimtab::kernel {

namespace {

constexpr std::string_view sched_switch = R"(name: sched_switch
ID: 372
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
	field:int prev_prio;	offset:28;	size:4;	signed:1;
	field:long prev_state;	offset:32;	size:8;	signed:1;
	field:__data_loc char[] name;	offset:40;	size:4;	signed:0;

print fmt: "prev_comm=%s field:pid_t wrong; offset:1;", REC->prev_comm
)";

std::string error_of(std::string_view text) {
  try {
    event_format::parse(text);
  } catch (const format_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(event_format, finds_fields_by_name) {
  const event_format format = event_format::parse(sched_switch);
  EXPECT_EQ(format.name(), "sched_switch");
  EXPECT_EQ(format.id(), 372u);
  EXPECT_EQ(format.integer("prev_pid").offset, 24u);
  EXPECT_TRUE(format.integer("prev_pid").is_signed);
  EXPECT_EQ(format.integer("prev_state").size, 8u);
  EXPECT_EQ(format.integer("common_type").size, 2u);
}

TEST(event_format, says_what_is_wrong) {
  EXPECT_NE(error_of("").find("expected lines 'name:', 'ID:' and 'field:'"), std::string::npos);
  EXPECT_NE(error_of("name: a\nID: x\n").find("line 2: expected 'ID:' and a number, found 'x'"), std::string::npos);
  EXPECT_NE(error_of("name: a\nID: 1\n\tfield:int b;\tsize:4;\tsigned:1;\n").find("line 3: expected 'offset:'"),
            std::string::npos);
  const event_format format = event_format::parse(sched_switch);
  EXPECT_THROW(format.integer("next_pid"), format_error);
  EXPECT_THROW(format.integer("prev_comm"), format_error) << "a text is no integer";
}

TEST(event_format, reads_signed_and_unsigned_numbers_of_all_sizes) {
  std::array<std::byte, 16> record{};
  const auto check = [&](auto value) {
    std::memcpy(record.data() + 3, &value, sizeof value);
    const field_place place{3, sizeof value, std::is_signed_v<decltype(value)>};
    EXPECT_EQ(place.read(record), static_cast<std::int64_t>(value)) << sizeof value;
  };
  check(std::int8_t{-5});
  check(std::uint8_t{251});
  check(std::int16_t{-300});
  check(std::uint16_t{65'000});
  check(std::int32_t{-70'000});
  check(std::uint32_t{4'000'000'000});
  check(std::int64_t{-5'000'000'000});
  EXPECT_TRUE((field_place{12, 4, false}.is_within(16)));
  EXPECT_FALSE((field_place{13, 4, false}.is_within(16)));
}

}  // namespace trimtab::kernel
