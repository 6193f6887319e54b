// Which plan members of a team get, without any OpenMP runtime: its answers are made up here.
#include "steering/steered_loops.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "hooks/hook.hpp"
#include "steering/watching.hpp"

namespace trimtab::openmp {
namespace {

using observe::schedule;

constinit thread_local int level = 1;
constexpr int members = 3;
int ask_level() { return level; }
int ask_members() { return members; }

runtime& made_up_runtime() {
  static runtime* const created = [] {
    auto* const fresh = new runtime;
    fresh->functions[static_cast<unsigned>(symbol::omp_get_level)] = reinterpret_cast<void*>(ask_level);
    fresh->functions[static_cast<unsigned>(symbol::omp_get_num_threads)] = reinterpret_cast<void*>(ask_members);
    return fresh;
  }();
  return *created;
}
caller us() { return {&made_up_runtime(), false}; }

class steered_loops : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(prepare_sites());
    is_steering.store(true);
    level = 1;
    t_steered = {};
    t_steered_part = {};
  }
  void TearDown() override { is_steering.store(false); }

  // A team that is forked now.
  static std::unique_ptr<team> fork(const void* outlined) {
    auto new_team = std::make_unique<team>();
    new_team->outlined = outlined;
    new_team->of = &made_up_runtime();
    new_team->level = 1;
    new_team->mode = region_mode::shared_out;
    new_team->epoch = steering_epoch.load();
    new_team->shared_site = nullptr;
    return new_team;
  }
  static loop_to_share loop_of(std::uint64_t trip, schedule written = schedule::dynamic) {
    return {written, trip, 1, 0, trip, 1};
  }
  // The site of that loop, which it makes known.
  static loop_site& site_of(const void* outlined, std::uint64_t trip) {
    const auto shared_team = fork(outlined);
    begin_steered_part(*shared_team, 1);
    begin_shared(us(), loop_of(trip));
    loop_site& site_found = *t_steered.site;
    end_shared(us());
    end_steered_part();
    return site_found;
  }
  static void put_in_force(loop_site& site, sharing method, std::uint64_t decision_number) {
    // As long as the process, and found by those who look for leaks: sites are in memory that they do not search.
    static auto& plans = *new std::deque<loop_plan>;
    const std::uint64_t chunk = method == sharing::as_written ? 0 : 4;
    publish(site, plans.emplace_back(loop_plan{0, nullptr, decision_number, method, false, chunk, {}}));
  }
};

char region_a, region_b, region_c, region_d, region_e, region_f, region_g, region_h;

TEST_F(steered_loops, a_team_has_the_plans_of_when_it_was_forked) {
  loop_site& site = site_of(&region_a, 100);
  const auto before = fork(&region_a);
  put_in_force(site, sharing::fac2, 1);
  const auto team_between = fork(&region_a);
  put_in_force(site, sharing::guided, 2);
  put_in_force(site, sharing::as_written, 3);
  const auto after = fork(&region_a);
  const auto plan_in = [](const team& forked) {
    begin_steered_part(forked, 0);
    return begin_shared(us(), loop_of(100));
  };
  EXPECT_EQ(plan_in(*before), nullptr);
  ASSERT_NE(plan_in(*team_between), nullptr);
  EXPECT_EQ(plan_in(*team_between)->how, sharing::fac2);
  EXPECT_EQ(plan_in(*team_between)->under, 1u);
  EXPECT_EQ(plan_in(*after), nullptr);
}

TEST_F(steered_loops, only_loops_of_outermost_teams_of_our_own_are_served) {
  loop_site& site = site_of(&region_b, 100);
  put_in_force(site, sharing::fac2, 1);
  const auto shared_team = fork(&region_b);
  EXPECT_EQ(begin_shared(us(), loop_of(100)), nullptr) << "of no team";
  begin_steered_part(*shared_team, 0);
  EXPECT_NE(begin_shared(us(), loop_of(100)), nullptr);
  end_shared(us());
  level = 2;
  EXPECT_EQ(begin_shared(us(), loop_of(100)), nullptr) << "a region inside";
  level = 1;
  EXPECT_EQ(begin_shared({&made_up_runtime(), true}, loop_of(100)), nullptr) << "the runtime's own";
  runtime other;
  other.functions[static_cast<unsigned>(symbol::omp_get_level)] = reinterpret_cast<void*>(ask_level);
  other.functions[static_cast<unsigned>(symbol::omp_get_num_threads)] = reinterpret_cast<void*>(ask_members);
  EXPECT_EQ(begin_shared({&other, false}, loop_of(100)), nullptr) << "another runtime's team";
  EXPECT_EQ(begin_shared(us(), loop_of(5)), nullptr) << "less than two iterations a member";
  EXPECT_EQ(begin_shared(us(), loop_of(100, schedule::guided)), nullptr) << "another loop";
}

TEST_F(steered_loops, a_loop_under_way_is_not_disturbed_by_regions_inside) {
  loop_site& site = site_of(&region_c, 100);
  put_in_force(site, sharing::tss, 1);
  const auto shared_team = fork(&region_c);
  begin_steered_part(*shared_team, 0);
  ASSERT_NE(begin_shared(us(), loop_of(100)), nullptr);
  ASSERT_NE(shared_loop(us()), nullptr);
  level = 2;
  EXPECT_EQ(shared_loop(us()), nullptr);
  EXPECT_EQ(begin_shared(us(), loop_of(50)), nullptr);
  begin_unshared(us());
  end_shared(us());
  level = 1;
  ASSERT_NE(shared_loop(us()), nullptr);
  EXPECT_EQ(shared_loop(us())->plan->how, sharing::tss);
  end_shared(us());
  EXPECT_EQ(shared_loop(us()), nullptr);
}

TEST_F(steered_loops, too_many_trip_counts_are_one_site) {
  loop_site* common = nullptr;
  for (std::uint64_t trip = 100; trip < 150; ++trip) {
    loop_site& site = site_of(&region_d, trip);
    EXPECT_EQ(site.key.trip, trip < 108 ? trip : any_trip);
    if (trip == 108) common = &site;
    EXPECT_TRUE(trip <= 108 || &site == common);
  }
  EXPECT_EQ(site_of(&region_d, 100).key.trip, 100u);
}

TEST_F(steered_loops, what_is_known_is_in_force_from_the_first_one_on) {
  char key[256];
  ASSERT_TRUE(write_key({&region_f, 100, 1, schedule::dynamic}, key, sizeof key));
  EXPECT_NE(std::string(key).find("/dynamic,1/100"), std::string::npos);
  static const std::vector<known_plan> plans_saved{{key, {0, nullptr, under_what_was_known, sharing::guided, false, 8, {}}}};
  ASSERT_TRUE(prepare_sites(&plans_saved));
  const auto shared_team = fork(&region_f);
  begin_steered_part(*shared_team, 0);
  const loop_plan* const plan = begin_shared(us(), loop_of(100));
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->how, sharing::guided);
  EXPECT_EQ(begin_shared(us(), loop_of(101)), nullptr);
  prepare_sites();
}

TEST_F(steered_loops, an_instance_that_is_left_out_does_what_the_program_wrote) {
  loop_site& site = site_of(&region_g, 100);
  put_in_force(site, sharing::fac2, 1);
  const auto shared_team = fork(&region_g);
  shared_team->mode = region_mode::timed;
  for (std::uint32_t number = 0; number < members; ++number) {
    begin_steered_part(*shared_team, number);
    EXPECT_EQ(begin_shared(us(), loop_of(100)), nullptr);
    EXPECT_EQ(t_steered.site, nullptr) << "nor is it measured";
  }
  level = 0;
  EXPECT_EQ(share_at_fork(us(), *shared_team, loop_of(100), members), nullptr);
  EXPECT_EQ(shared_team->shared_site, nullptr);
  shared_team->mode = region_mode::shared_out;
  EXPECT_NE(share_at_fork(us(), *shared_team, loop_of(100), members), nullptr);
}

TEST_F(steered_loops, one_in_several_is_watched_of_who_is_watched_rarely) {
  std::uint64_t watched = 0, watched_of_a_row = 0;
  for (std::uint64_t i = 0; i < 8000; ++i)
    watched += is_drawn(i, watched_one_in), watched_of_a_row += is_drawn(i * watched_one_in, watched_one_in);
  EXPECT_NEAR(static_cast<double>(watched), 1000, 300);
  EXPECT_NEAR(static_cast<double>(watched_of_a_row), 1000, 300) << "of a region that does something else every eighth time";
}

TEST_F(steered_loops, those_that_are_watched_stand_for_those_that_are_not) {
  loop_site& site = site_of(&region_h, 200);
  const auto shared_team = fork(&region_h);
  shared_team->further_ones = watched_one_in - 1;
  const auto took = static_cast<ticks>(observe::the_recorder.ticks_of_ns(1e6));
  begin_steered_part(*shared_team, 0);
  begin_shared(us(), loop_of(200));
  end_shared(us());
  t_steered.chain.close(t_steered.chain.begin() + took);
  site_measurement sample_found{};
  ASSERT_TRUE(site.measured.take(sample_found));
  EXPECT_EQ(sample_found.took, took);
  EXPECT_EQ(sample_found.unwatched, (watched_one_in - 1) * took);
  put_in_force(site, sharing::guided, 1);
  shared_team->epoch = steering_epoch.load(std::memory_order_acquire);
  ASSERT_NE(begin_shared(us(), loop_of(200)), nullptr);
  end_shared(us());
  t_steered.chain.close(t_steered.chain.begin() + took);
  ASSERT_TRUE(site.measured.take(sample_found));
  EXPECT_EQ(sample_found.unwatched, 0u) << "the others ran as the program wrote it";
}

// Whatever is published meanwhile, and for as long as it takes until something was.
TEST_F(steered_loops, all_members_of_a_team_do_the_same) {
  loop_site& site = site_of(&region_e, 1000);
  constexpr int rounds = 2000;
  std::atomic<bool> is_finished{false};
  std::thread steering([&] {
    for (std::uint64_t n = 1; !is_finished.load(); ++n) {
      put_in_force(site, n % 2 == 0 ? sharing::fac2 : sharing::as_written, n);
      std::this_thread::yield();
    }
  });
  std::unique_ptr<team> shared_team = fork(&region_e);
  std::vector<const loop_plan*> plans_seen(members);
  int different = 0, served = 0, as_written = 0, round = 0;
  bool is_enough = false;
  std::barrier forked(members);
  std::barrier all_done(members, [&]() noexcept {
    for (const loop_plan* plan : plans_seen) different += plan != plans_seen[0];
    ++(plans_seen[0] != nullptr ? served : as_written);
    is_enough = ++round >= rounds && served > 0 && as_written > 0;
    shared_team->mode = round % 5 == 0 ? region_mode::timed : region_mode::shared_out;
    shared_team->epoch = steering_epoch.load(std::memory_order_acquire);
  });
  const auto work = [&](std::uint32_t number) {
    while (!is_enough) {
      forked.arrive_and_wait();
      begin_steered_part(*shared_team, number);
      plans_seen[number] = begin_shared(us(), loop_of(1000));
      end_shared(us());
      barrier_passed(us());
      end_steered_part();
      all_done.arrive_and_wait();
    }
  };
  std::vector<std::thread> others;
  for (std::uint32_t i = 1; i < members; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& each : others) each.join();
  is_finished = true;
  steering.join();
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace trimtab::openmp
