// Regions as subjects whose knob is a number of threads, without a runtime.
#include "trimtab/openmp/region_steering.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "made_up_record.hpp"
#include "steering/region_sizes.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {
namespace {

constexpr std::uint32_t four = 4;
constexpr char a_runtime_of_regions = 0, a_place_that_asks = 0;
constexpr team_sizes::who the_forker{1, &a_runtime_of_regions};

// Each test has functions of its own: what is known of one stays.
template <int>
void a_region() {}
template <int which>
const void* some_region = reinterpret_cast<const void*>(&a_region<which>);

class region_steering_test : public ::testing::Test {
 protected:
  region_steering_test() {
    begin_anew();
    // Of other tests.
    site_measurement measured{};
    for (std::uint32_t i = 0; i < region_count(); ++i)
      while (region_site_at(i).measured.take(measured)) {
      }
  }
  ~region_steering_test() override {
    begin_anew();
    regions_after_fork();
    is_fitting_teams.store(false);
  }
  static void begin_anew() {
    std::destroy_at(&the_team_sizes);
    std::construct_at(&the_team_sizes);
    t_forked = {};
  }
  static std::string key_of(const void* outlined) {
    char key[256];
    return write_region_key(outlined, key, sizeof key) ? key : "";
  }
  // So many regions of a millisecond each; the members of the last.
  static std::uint32_t run(const void* outlined, int instances, std::uint32_t own_count = four, std::uint32_t subject = 70) {
    std::uint32_t members = 0;
    for (int i = 0; i < instances; ++i) {
      members = fork_fitted(the_team_sizes, the_forker, outlined, own_count);
      region_ended(outlined, subject, static_cast<base::ticks>(observe::the_recorder.ticks_of_ns(1e6)));
    }
    // What has ended is counted when the next one begins.
    fork_fitted(the_team_sizes, the_forker, nullptr, own_count);
    return members;
  }
  steer::snapshot look(region_steering& steering) {
    steer::snapshot now;
    steering.add_to(now);
    for (const steer::subject_info& subject : now.appeared) m_appeared.push_back(subject);
    return now;
  }
  const steer::subject_info& latest() const { return m_appeared.back(); }
  bool turn(std::uint32_t knob, steer::knob_value to) {
    steer::decision decision_made;
    decision_made.number = ++m_number;
    decision_made.subject = latest().id;
    decision_made.what = steer::outcome::set;
    decision_made.changes = {{knob, m_board.values(decision_made.subject)[knob], to}};
    return m_board.apply(decision_made);
  }
  static region_site& site_of(const void* outlined) {
    for (std::uint32_t i = 0; i < region_count(); ++i)
      if (region_site_at(i).outlined == outlined) return region_site_at(i);
    throw std::out_of_range("no such region");
  }

  steer::board m_board;
  steer::decision_record m_record{std::make_unique<made_up_record>()};
  steer::knob_registry m_registry{m_board, m_record};
  std::vector<steer::subject_info> m_appeared;
  steer::decision_number m_number = 0;
};

TEST_F(region_steering_test, a_region_is_a_subject_when_it_was_measured_three_times) {
  region_steering steering(m_registry, {}, false);
  run(some_region<0>, 2);
  EXPECT_TRUE(look(steering).appeared.empty());
  run(some_region<0>, 1);
  const steer::snapshot now = look(steering);
  ASSERT_EQ(now.appeared.size(), 1u);
  EXPECT_EQ(now.appeared[0].name, key_of(some_region<0>));
  EXPECT_EQ(now.appeared[0].id, 70u);
  EXPECT_EQ(m_registry.key_of(70), key_of(some_region<0>));
  EXPECT_EQ(m_registry.key_of(71), "");
  ASSERT_EQ(now.subjects.size(), 1u);
  EXPECT_EQ(now.subjects[0].measured.size(), 3u);
  EXPECT_NEAR(now.subjects[0].measured[0].value, 1e-3, 1e-5);
  EXPECT_TRUE(look(steering).subjects.empty()) << "nothing more has ended";
}

TEST_F(region_steering_test, numbers_are_powers_of_two_what_arcs_tries_and_the_programs_own) {
  const auto values_of = [&](std::uint32_t own_count) {
    std::vector<steer::knob_value> values;
    const steer::domain& domain = latest().knobs[0].values;
    for (std::size_t i = 0; i < domain.size(); ++i) values.push_back(domain.at(i));
    EXPECT_EQ(latest().knobs[0].initial, own_count);
    return values;
  };
  region_steering steering(m_registry, {}, false);
  run(some_region<10>, 3, 3);
  look(steering);
  EXPECT_EQ(values_of(3), (std::vector<steer::knob_value>{1, 2, 3}));
  run(some_region<11>, 3, 40, 71);
  look(steering);
  EXPECT_EQ(values_of(40), (std::vector<steer::knob_value>{1, 2, 4, 8, 10, 16, 20, 24, 32, 40}));
}

TEST_F(region_steering_test, a_region_of_one_thread_is_none) {
  region_steering steering(m_registry, {}, false);
  run(some_region<20>, 10, 1);
  EXPECT_TRUE(look(steering).appeared.empty());
}

TEST_F(region_steering_test, what_is_decided_holds_from_the_next_fork_on) {
  region_steering steering(m_registry, {}, false);
  run(some_region<30>, 3);
  look(steering);
  ASSERT_TRUE(turn(0, 2));
  EXPECT_EQ(request_of(site_of(some_region<30>)).under, m_number);
  EXPECT_EQ(run(some_region<30>, 1), 2u);
  const steer::snapshot now = look(steering);
  ASSERT_EQ(now.subjects.size(), 1u);
  EXPECT_EQ(now.subjects[0].measured.back().under, m_number);
  ASSERT_TRUE(turn(0, four));
  EXPECT_EQ(request_of(site_of(some_region<30>)).members, team_sizes::as_it_is) << "more, if the program wants more";
}

TEST_F(region_steering_test, what_earlier_runs_found_is_in_force_from_the_first_one_on) {
  const std::vector<steer::setting> saved{{key_of(some_region<40>), {{"chunk", "1"}, {"threads", "2"}}},
                                          {key_of(some_region<41>), {{"threads", "3"}}},
                                          {key_of(some_region<42>), {{"threads", "0"}}},
                                          {key_of(some_region<43>), {{"threads", "2x"}}}};
  region_steering steering(m_registry, saved, false);
  EXPECT_EQ(run(some_region<40>, 1), 2u);
  EXPECT_EQ(run(some_region<41>, 1), 3u) << "nobody knows yet how many it would have";
  EXPECT_EQ(run(some_region<42>, 1), team_sizes::as_it_is);
  EXPECT_EQ(run(some_region<43>, 1), team_sizes::as_it_is);
  const steer::snapshot now = look(steering);
  EXPECT_EQ(now.appeared.size(), 2u) << "at once: there is nothing to be waited for";
  EXPECT_TRUE(now.subjects.empty()) << "it was measured under no decision";
  EXPECT_EQ(run(some_region<40>, 1), 2u);
  EXPECT_EQ(run(some_region<41>, 1), team_sizes::as_it_is) << "3 is none of 1, 2, 4";
}

TEST_F(region_steering_test, what_earlier_runs_found_and_the_program_does_itself_is_measured) {
  region_steering steering(m_registry, {{key_of(some_region<44>), {{"threads", "4"}}}}, false);
  run(some_region<44>, 1);
  ASSERT_EQ(look(steering).appeared.size(), 1u);
  run(some_region<44>, 1);
  EXPECT_EQ(look(steering).subjects.size(), 1u);
}

TEST_F(region_steering_test, regions_that_are_recorded_as_one_are_not_one_subject) {
  region_steering steering(m_registry, {}, false);
  run(some_region<50>, 3);
  run(some_region<51>, 3);
  look(steering);
  ASSERT_EQ(m_appeared.size(), 2u);
  EXPECT_NE(m_appeared[0].id, m_appeared[1].id);
  EXPECT_EQ(m_registry.key_of(m_appeared[1].id), key_of(some_region<51>));
}

TEST_F(region_steering_test, all_is_over_once_the_program_was_told_a_number) {
  region_steering steering(m_registry, {}, false);
  run(some_region<60>, 3);
  run(some_region<61>, 2);  // no subject yet
  look(steering);
  ASSERT_EQ(m_appeared.size(), 1u);
  ASSERT_TRUE(turn(0, 2));
  the_team_sizes.ask(the_forker, &a_place_that_asks, four, false);
  EXPECT_EQ(run(some_region<60>, 1), team_sizes::as_it_is);
  EXPECT_EQ(look(steering).gone, (std::vector<steer::subject_id>{70}));
  EXPECT_TRUE(m_board.values(70).empty());
  run(some_region<61>, 3);
  const steer::snapshot after = look(steering);
  EXPECT_TRUE(after.gone.empty()) << "they are told of once";
  EXPECT_TRUE(after.appeared.empty());
}

}  // namespace
}  // namespace trimtab::openmp
