#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "trimtab/parcels/servers/saturation_curve.hpp"

namespace trimtab::parcels {
namespace {

using gain_function = std::function<double(const saturation_point&)>;

// A made-up machine: `gain` is what servers make of the rate of a direct sender.
saturation_curve made_up_curve(const gain_function& gain) {
  saturation_curve curve{"shared memory", {}};
  for (const std::uint64_t bytes : {8, 512, 4096, 65536})
    for (const std::uint32_t senders : {1u, 4u, 16u})
      for (const std::uint32_t in_flight : {1u, 4u, 16u, 128u})
        for (const std::uint32_t servers : {0u, 1u, 2u, 8u}) {
          saturation_point point{bytes, senders, in_flight, servers, 1e6 / (1 + static_cast<double>(bytes) / 500)};
          if (servers > 0) point.messages_per_s *= gain(point);
          curve.points.push_back(point);
        }
  return curve;
}

std::string error_of_text(const std::string& text) { return parse_curve(text, "a.curve").error; }

}  // namespace

TEST(choose_servers, small_messages_in_numbers_gain_on_a_machine_with_many_cores) {
  const auto curve = made_up_curve([](const saturation_point& point) {
    if (point.bytes > 4096 || point.in_flight < 4) return 0.7;
    return point.servers == 2 ? 1.4 : 1.1;
  });
  const server_settings chosen = choose_servers(curve, 8, 16);
  EXPECT_EQ(chosen.servers, 2u);
  const std::vector<served_sizes> expected{{8, 2, 4}, {512, 2, 4}, {4096, 2, 4}, {65536, 0, 1}};
  EXPECT_EQ(chosen.selection, expected);
  EXPECT_EQ(choose_servers(curve, 1, 16).servers, 1u);
  EXPECT_EQ(choose_servers(curve, 0, 16).servers, 0u);
}

TEST(choose_servers, nothing_that_gains_is_no_server) {
  EXPECT_EQ(choose_servers(made_up_curve([](const saturation_point&) { return 1.04; }), 64, 16).servers, 0u);
  EXPECT_EQ(choose_servers({}, 64, 16).servers, 0u);
}

TEST(choose_servers, servers_for_which_there_are_no_cpus_do_not_count) {
  const auto only_eight = made_up_curve([](const saturation_point& point) { return point.servers == 8 ? 1.5 : 0.9; });
  EXPECT_EQ(choose_servers(only_eight, 2, 16).servers, 0u);
  EXPECT_EQ(choose_servers(only_eight, 8, 16).servers, 8u);
  const auto two_as_well = made_up_curve([](const saturation_point& point) { return point.servers == 8 ? 1.5 : 1.1; });
  EXPECT_EQ(choose_servers(two_as_well, 7, 16).servers, 1u) << "the fewest of those that gain as much";
}

TEST(choose_servers, each_size_has_its_own_servers) {
  const auto curve = made_up_curve([](const saturation_point& point) {
    if (point.bytes == 8) return point.servers == 8 ? 1.5 : 1.2;
    return point.bytes == 4096 && point.servers == 1 && point.in_flight >= 16 ? 1.3 : 0.9;
  });
  const server_settings chosen = choose_servers(curve, 8, 16);
  EXPECT_EQ(chosen.servers, 8u);
  const std::vector<served_sizes> expected{{8, 8, 1}, {512, 0, 1}, {4096, 1, 16}, {65536, 0, 1}};
  EXPECT_EQ(chosen.selection, expected);
}

TEST(choose_servers, the_nearest_number_of_senders_decides_and_sizes_that_lose_are_left_out) {
  const auto curve = made_up_curve([](const saturation_point& point) {
    return point.senders >= 4 && point.bytes >= 512 && point.bytes <= 4096 ? 1.2 : 0.8;
  });
  EXPECT_EQ(choose_servers(curve, 8, 3).servers, 0u);
  const server_settings chosen = choose_servers(curve, 8, 5);
  EXPECT_EQ(chosen.servers, 1u);
  const std::vector<served_sizes> expected{{8, 0, 1}, {512, 1, 1}, {4096, 1, 1}, {65536, 0, 1}};
  EXPECT_EQ(chosen.selection, expected);
}

TEST(saturation_curve, is_the_same_after_it_was_written_and_read) {
  const auto curve = made_up_curve([](const saturation_point&) { return 1.1; });
  const std::string folder = ::testing::TempDir() + "curve_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  const std::string file = folder + "/shm.curve";
  for (int round = 0; round < 2; ++round) ASSERT_EQ(write_curve(curve, file), "");
  const parsed_curve parsed = read_curve(file);
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.curve, curve);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "no temporary file is left";
  std::filesystem::remove_all(folder);
  EXPECT_NE(write_curve(curve, file), "");
  EXPECT_EQ(read_curve(file).error, file + ": cannot read it: No such file or directory");
}

TEST(saturation_curve, malformed_files_are_refused_with_the_line) {
  const std::string head = "trimtab saturation curve 1\ntransport: shm\nbytes senders in_flight servers messages_per_s\n";
  EXPECT_EQ(error_of_text(head + "8 1 1 0 1e6\n"), "");
  EXPECT_EQ(error_of_text("trimtab saturation curve 2\n"),
            "a.curve:1: expected 'trimtab saturation curve 1', found 'trimtab saturation curve 2'");
  EXPECT_EQ(error_of_text("trimtab saturation curve 1\n"), "a.curve:2: expected 'transport: NAME', found ''");
  for (const char* line : {"8 1 1 0", "8 1 1 0 1e6 7", "8 1 1 0 0", "0 1 1 0 1e6", "8 -1 1 0 1e6", "8 1 1 0 inf", "x", ""})
    EXPECT_EQ(error_of_text(head + "8 1 1 0 1e6\n" + line + "\n"),
              "a.curve:5: expected five numbers above 0 (servers: 0 or more), found '" + std::string(line) + "'");
}

}  // namespace trimtab::parcels
