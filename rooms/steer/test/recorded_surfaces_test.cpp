// The reader of recorded surfaces: what it makes of a file, and what it says of one that is not right.
#include "../bench/recorded_surfaces.hpp"

#include <gtest/gtest.h>

#include <array>

#include "scratch_folder.hpp"

namespace trimtab::steer {
namespace {

using surfaces::recording_reader;
using surfaces::surface_recording;

constexpr const char* small_recording =
    "trimtab-surfaces 1\n"
    "machine two CPUs, and\n"
    "machine a compiler\n"
    "\n"
    "# Of a loop.\n"
    "surface small loop, gcc\n"
    "about it is small\n"
    "knob schedule names static dynamic\n"
    "knob chunk set 1 8\n"
    "start dynamic 1\n"
    "hint static 8\n"
    "point static 1 90 95 100 110 200 0.02\n"
    "point static 8 45 48 50 51 60 0.1\n"
    "point dynamic 1 1000 1000 1000 1000 1000 0\n"
    "point dynamic 8 80 90 100 120 130 0.01\n";

class recorded_surfaces : public ::testing::Test {
 protected:
  surface_recording read(const std::string& text) { return recording_reader::read(m_folder.put("/surfaces.txt", text)); }
  // What it says of the small recording with this in the place of that, without the folder.
  std::string error_of(const std::string& from, const std::string& to) {
    std::string text = small_recording;
    text.replace(text.find(from), from.size(), to);
    try {
      read(text);
    } catch (const std::runtime_error& error) {
      return std::string(error.what()).substr(m_folder.path().size() + 1);
    }
    return "none";
  }
  scratch_folder m_folder;
};

TEST_F(recorded_surfaces, have_knobs_times_and_noise) {
  const surface_recording recording_read = read(small_recording);
  EXPECT_EQ(recording_read.machine, (std::vector<std::string>{"two CPUs, and", "a compiler"}));
  ASSERT_EQ(recording_read.all.size(), 1u);
  const surfaces::surface& surface = recording_read.all[0];
  EXPECT_EQ(surface.name, "small loop, gcc");
  EXPECT_EQ(recording_read.abouts[0].text, "it is small");
  EXPECT_DOUBLE_EQ(recording_read.abouts[0].rounds, 0.015);
  EXPECT_EQ(surface.knobs[0].values, *domain::categories({"static", "dynamic"}));
  EXPECT_EQ(surface.knobs[1].values, *domain::set({1, 8}));
  EXPECT_EQ(surface.start, (std::vector<knob_value>{1, 1}));
  EXPECT_EQ(surface.hints, (std::vector<std::vector<knob_value>>{{0, 8}}));
  EXPECT_DOUBLE_EQ(surface.seconds({0, 1}), 100e-6);
  EXPECT_DOUBLE_EQ(surface.seconds({0, 8}), 50e-6);
  EXPECT_DOUBLE_EQ(surface.seconds({1, 1}), 1000e-6);
  EXPECT_DOUBLE_EQ(surfaces::best_of(surface), 50e-6);
}

TEST_F(recorded_surfaces, are_measured_as_they_were_recorded) {
  const surfaces::surface surface = read(small_recording).all[0];
  random_source source(1);
  std::vector<double> drawn;
  for (int i = 0; i < 20'000; ++i) drawn.push_back(surfaces::measured(surface, {0, 1}, 0, source) * 1e6);
  std::sort(drawn.begin(), drawn.end());
  EXPECT_DOUBLE_EQ(drawn.front(), 90);
  EXPECT_DOUBLE_EQ(drawn.back(), 200);
  EXPECT_NEAR(drawn[5000], 95, 0.5);
  EXPECT_NEAR(drawn[10'000], 100, 0.5);
  EXPECT_NEAR(drawn[12'500], 105, 0.5);  // half way from 50 % to 75 %
}

TEST_F(recorded_surfaces, say_which_line_is_wrong) {
  const std::vector<std::array<const char*, 3>> wrong{
      {"surfaces 1", "surfaces 2", "surfaces.txt:1: expected 'trimtab-surfaces 1', found 'trimtab-surfaces 2'"},
      {"about", "abuot", "surfaces.txt:7: expected machine, surface, about, knob, start, hint or point, found 'abuot'"},
      {"surface small loop, gcc\n", "", "surfaces.txt:6: expected 'machine' or 'surface', found 'about'"},
      {"set 1 8", "range 1 8",
       "surfaces.txt:9: expected 'knob NAME set NUMBER...' or 'knob NAME names NAME...', found 'chunk range 1 8'"},
      {"set 1 8", "set 1 x8", "surfaces.txt:9: expected a number, found 'x8'"},
      {"set 1 8", "set 8 8", "surfaces.txt:9: expected values that differ, found 'chunk set 8 8'"},
      {"start dynamic 1", "start dynamic 2", "surfaces.txt:10: expected a value of the knob chunk, found '2'"},
      {"start dynamic 1", "start dynamic", "surfaces.txt:10: expected a value for each of 2 knobs, found 'dynamic'"},
      {"hint static 8", "hint guided 8", "surfaces.txt:11: expected a value of the knob schedule, found 'guided'"},
      {"200 0.02", "0.02", "surfaces.txt:12: expected 2 values, 5 times and a spread, found '7 words'"},
      {"90 95 100", "90 95 1oo", "surfaces.txt:12: expected a number, found '1oo'"},
      {"90 95 100", "96 95 100",
       "surfaces.txt:12: expected rising times above 0, and a spread of 0 or more, found 'static 1 96 95 100 110 200 0.02'"},
      {"90 95 100", "nan 95 100", "surfaces.txt:12: expected a number, found 'nan'"},
      {"110 200", "110 inf",
       "surfaces.txt:12: expected rising times above 0, and a spread of 0 or more, found 'static 1 90 95 100 110 inf 0.02'"},
      {"point static 8", "point static 1", "surfaces.txt:13: expected each point once, found 'static 1 45 48 50 51 60 0.1'"},
      {"point dynamic 8 80 90 100 120 130 0.01\n", "",
       "surfaces.txt:14: expected all points of the surface small loop, gcc before this, found '3 of them'"},
      {"start dynamic 1\n", "",
       "surfaces.txt:14: expected the start of the surface small loop, gcc before this, found 'none'"},
      {"hint static 8\n", "hint static 8\nknob schedule names a b\npoint a\n",
       "surfaces.txt:13: expected a value for each of 3 knobs, found 'a'"},
      {"point dynamic 8", "knob grain set 1\npoint dynamic 8",
       "surfaces.txt:15: expected knobs before points, found 'grain set 1'"},
  };
  for (const auto& [from, to, said] : wrong) EXPECT_EQ(error_of(from, to), said);
}

TEST_F(recorded_surfaces, are_not_read_from_nothing) {
  EXPECT_EQ(error_of(small_recording, ""), "surfaces.txt:0: expected 'trimtab-surfaces 1', found 'an empty file'");
  EXPECT_EQ(error_of(small_recording, "trimtab-surfaces 1\n"), "surfaces.txt:1: expected a surface, found 'none'");
  EXPECT_THROW(recording_reader::read(m_folder.path() + "/none"), std::runtime_error);
}

}  // namespace
}  // namespace trimtab::steer
