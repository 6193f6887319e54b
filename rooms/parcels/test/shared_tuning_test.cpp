// Knobs that all localities of a job search together: over the memory transport, faulty or not, and over shared memory.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <thread>

#include "local_job.hpp"
#include "shm_meeting.hpp"
#include "test_process.hpp"
#include "trimtab/parcels/job/tuned_together.hpp"

namespace trimtab::parcels {
namespace {

const std::vector<tuned_knob> two_knobs{{"x", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 1}, {"y", {0, 1, 2, 3, 4}, 0}};

// What parallel rank order comes to here: the best values have 1, the initial ones 4.4.
constexpr double good = 1.85;

// No clock is read: a step costs what this says.
double cost_of(std::span<const std::int64_t> values) {
  const double x = static_cast<double>(values[0] - 6), y = static_cast<double>(values[1] - 3);
  return 1 + x * x / 10 + y * y / 10;
}

// Steps until the search is over here. The others may still need this locality, so it goes on until all are there.
void step_until_settled(job& own, tuned_together& tuned, const std::function<double()>& cost) {
  for (bool is_over = false; !is_over;) {
    for (int i = 0; i < 20; ++i) {
      tuned.sample(cost());
      std::this_thread::yield();
    }
    is_over = own.all_reduce(tuned.is_settled() ? 1 : 0, [](int a, int b) { return a & b; }) == 1;
  }
}

void expect_found_by_all(job& own) {
  tuned_together tuned(own, "bowl", two_knobs);
  step_until_settled(own, tuned, [&] { return (1.0 + own.here().number()) * cost_of(tuned.values()); });
  EXPECT_LE(cost_of(tuned.values()), good);
  const std::int64_t code = 10 * tuned.value(0) + tuned.value(1);
  EXPECT_EQ(own.broadcast(code), code) << "locality " << own.here().number() << " runs with something else than locality 0";
}

TEST(tuned_together, all_localities_keep_the_same_good_values) {
  for (const std::uint32_t size : {1u, 2u, 5u}) {
    SCOPED_TRACE(size);
    run_locally({.size = size}, expect_found_by_all);
  }
}

TEST(tuned_together, finds_the_same_over_a_faulty_transport) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) run_locally({.size = 3, .fault_seed = seed}, expect_found_by_all);
}

TEST(tuned_together, alone_it_searches_alone) {
  job own(nullptr, job_options{});
  expect_found_by_all(own);
}

TEST(tuned_together, messages_of_the_search_are_not_work_of_the_program) {
  run_locally({.size = 2}, [](job& own) {
    tuned_together tuned(own, "bowl", two_knobs);
    step_until_settled(own, tuned, [&] { return cost_of(tuned.values()); });
    own.wait_until_quiet();
    EXPECT_EQ(own.messages()->sent(), 0u);
    EXPECT_EQ(own.messages()->handled(), 0u);
  });
}

TEST(tuned_together, applies_values_by_the_functions_of_the_program) {
  run_locally({.size = 2}, [](job& own) {
    std::vector<std::int64_t> applied{1, 0};
    const tuned_together_options options{.apply = [&](std::span<const std::int64_t> values) {
      if (values[0] == 6) return false;  // cannot be had here
      applied.assign(values.begin(), values.end());
      return true;
    }};
    tuned_together tuned(own, "bowl", two_knobs, options);
    step_until_settled(own, tuned, [&] {
      EXPECT_TRUE(std::equal(applied.begin(), applied.end(), tuned.values().begin()));
      return cost_of(applied);
    });
    EXPECT_NE(applied[0], 6);
    EXPECT_LT(cost_of(applied), cost_of(std::vector<std::int64_t>{1, 0}));
  });
}

TEST(tuned_together, a_failed_measurement_is_never_kept) {
  run_locally({.size = 2}, [](job& own) {
    tuned_together tuned(own, "bowl", two_knobs);
    step_until_settled(
        own, tuned, [&] { return tuned.value() >= 5 ? std::numeric_limits<double>::infinity() : cost_of(tuned.values()); });
    EXPECT_LT(tuned.value(), 5);
  });
}

TEST(tuned_together, the_job_may_end_in_the_middle_of_a_search) {
  for (int steps = 0; steps < 60; steps += 7) {
    SCOPED_TRACE(steps);
    run_locally({.size = 3}, [&](job& own) {
      std::vector<std::int64_t> in_force{1, 0};
      {
        tuned_together tuned(own, "bowl", two_knobs, {.apply = [&](std::span<const std::int64_t> values) {
                               in_force.assign(values.begin(), values.end());
                               return true;
                             }});
        for (int i = 0; i < steps * static_cast<int>(1 + own.here().number()); ++i) tuned.sample(cost_of(tuned.values()));
      }
      // What was on trial has been taken back: either nothing was kept, or something better.
      EXPECT_LE(cost_of(in_force), cost_of(std::vector<std::int64_t>{1, 0}));
    });
  }
}

TEST(tuned_together, localities_may_come_and_go) {
  run_locally({.size = 3}, [](job& own) {
    for (int round = 0; round < 5; ++round) {
      tuned_together tuned(own, "bowl", two_knobs);
      for (std::uint32_t i = 0; i < 30 * (1 + own.here().number()); ++i) tuned.sample(cost_of(tuned.values()));
    }
    own.barrier();
    expect_found_by_all(own);
  });
}

TEST(tuned_together, without_locality_0_nothing_is_searched) {
  run_locally({.size = 2}, [](job& own) {
    if (own.here().number() == 1) {
      tuned_together tuned(own, "bowl", two_knobs);
      for (int i = 0; i < 100; ++i) tuned.sample(cost_of(tuned.values()));
      EXPECT_EQ(tuned.value(), 1);
      EXPECT_FALSE(tuned.is_settled());
    }
    own.barrier();
  });
}

TEST(tuned_together, locality_0_may_begin_anew_while_the_others_stay) {
  run_locally({.size = 3}, [](job& own) {
    std::optional<tuned_together> tuned;
    tuned.emplace(own, "bowl", two_knobs);
    for (int i = 0; i < 25; ++i) tuned->sample(cost_of(tuned->values()));
    if (own.here().number() == 0) {
      tuned.reset();
      tuned.emplace(own, "bowl", two_knobs);
    }
    step_until_settled(own, *tuned, [&] { return cost_of(tuned->values()); });
    EXPECT_LE(cost_of(tuned->values()), good);
    const std::int64_t code = 10 * tuned->value(0) + tuned->value(1);
    EXPECT_EQ(own.broadcast(code), code);
  });
}

// Two processes, as `trimtab launch` starts them.
TEST(tuned_together, over_shared_memory_processes_keep_the_same_values) {
  shm_meeting meeting(1 << 20);
  const auto take_part = [&meeting](locality_number number) {
    membership self;
    self.number = number;
    self.size = 2;
    opened_transport opened = meeting.open(self);
    ASSERT_NE(opened.link, nullptr) << opened.error;
    job_options options;
    options.runtime.workers = 1;
    job own(std::move(opened.link), options);
    expect_found_by_all(own);
  };
  test_process other([&] { take_part(1); });
  take_part(0);
  other.expect_success();
}

// A locality that dies in the middle of a search: its candidates are measured by the others.
TEST(tuned_together, a_lost_locality_holds_nothing_up) {
  shm_meeting meeting(1 << 20);
  const auto take_part = [&meeting](locality_number number, bool is_to_die) {
    membership self;
    self.number = number;
    self.size = 3;
    opened_transport opened = meeting.open(self);
    ASSERT_NE(opened.link, nullptr) << opened.error;
    // Whoever of the others has settled leaves, too, and may be the one who leads the search.
    std::atomic<bool> is_lost{false}, is_alone{false};
    job_options options;
    options.runtime.workers = 1;
    options.on_lost = [&](locality_number which, std::string_view) { (which == 2 ? is_lost : is_alone) = true; };
    job own(std::move(opened.link), options);
    {
      tuned_together tuned(own, "bowl", two_knobs);
      for (int i = 0; is_to_die && i < 30; ++i) tuned.sample(cost_of(tuned.values()));
      if (is_to_die) raise(SIGKILL);
      while (!is_alone && (!is_lost || !tuned.is_settled())) {
        tuned.sample(cost_of(tuned.values()));
        std::this_thread::yield();
      }
      if (!is_alone) {
        EXPECT_LE(cost_of(tuned.values()), good);
      }
      // Whoever is done first must not leave the other one alone with the rest of the search.
      for (int i = 0; i < 1000; ++i) tuned.sample(cost_of(tuned.values()));
    }
    // Without all localities a job cannot end in order.
    throw std::runtime_error("a locality was lost");
  };
  const auto ends_early = [&](locality_number number, bool is_to_die) {
    try {
      take_part(number, is_to_die);
    } catch (const std::runtime_error&) {
    }
  };
  test_process second([&] { ends_early(1, false); });
  test_process third([&] { ends_early(2, true); });
  ends_early(0, false);
  second.expect_success();
}

TEST(tuned_together, several_searches_go_on_at_the_same_time) {
  run_locally({.size = 2}, [](job& own) {
    tuned_together one(own, "one", two_knobs), other(own, "other", {{"z", {1, 2, 4, 8, 16}, 1}});
    step_until_settled(own, one, [&] {
      other.sample(1 + std::abs(static_cast<double>(other.value()) - 8));
      return cost_of(one.values());
    });
    step_until_settled(own, other, [&] { return 1 + std::abs(static_cast<double>(other.value()) - 8); });
    EXPECT_LE(cost_of(one.values()), good);
    EXPECT_EQ(other.value(), 8);
  });
}

TEST(tuned_together, other_knobs_under_the_same_name_are_left_alone) {
  run_locally({.size = 2}, [](job& own) {
    const bool is_first = own.here().number() == 0;
    tuned_together tuned(own, "bowl", is_first ? two_knobs : std::vector<tuned_knob>{{"x", {1, 2}, 1}});
    for (int i = 0; i < 2000; ++i) tuned.sample(is_first ? cost_of(tuned.values()) : 1);
    own.barrier();
    EXPECT_TRUE(is_first || tuned.value() == 1);
    own.barrier();
  });
}

std::atomic<std::uint64_t> received_sum{0};
void receive_number(std::uint64_t number) { received_sum += number; }

// Nothing is said of what is found, which depends on the machine: the answers are right, and the job ends while it searches.
TEST(tuned_together, the_coalescing_of_a_whole_job_can_be_searched_while_it_works) {
  received_sum = 0;
  constexpr std::uint64_t rounds = 50, parcels = 400;
  local_job_options setting;
  setting.options.standard = {.rules = coalescing::way::strict, .count = 1, .wait_us = 100};
  setting.options.tunes_coalescing = setting.options.tunes_coalescing_together = true;
  run_locally(setting, [](job& own) {
    const locality other = own.at(1 - own.here().number());
    for (std::uint64_t round = 0; round < rounds; ++round) {
      own.home().run([&] {
        for (std::uint64_t i = 1; i <= parcels; ++i) post(other, receive_number, i);
      });
      own.wait_until_quiet();
    }
  });
  EXPECT_EQ(received_sum, 2 * rounds * (parcels * (parcels + 1) / 2));
}

TEST(tuned_together, refuses_knobs_that_make_no_sense) {
  job own(nullptr, job_options{});
  EXPECT_THROW(tuned_together(own, "a", {}), std::invalid_argument);
  EXPECT_THROW(tuned_together(own, "a", {{"x", {}, 1}}), std::invalid_argument);
  EXPECT_THROW(tuned_together(own, "a", {{"x", {1, 2}, 3}}), std::invalid_argument);
  EXPECT_THROW(tuned_together(own, "a", {{"x", {1, 2}, 1}, {"x", {1, 2}, 1}}), std::invalid_argument);
  const tuned_together first(own, "a", {{"x", {1, 2}, 1}});
  EXPECT_THROW(tuned_together(own, "a", {{"x", {1, 2}, 1}}), std::invalid_argument);
}

TEST(tuned_together, several_threads_may_receive_while_one_measures) {
  run_locally({.size = 3, .workers = 2}, [](job& own) {
    tuned_together tuned(own, "bowl", two_knobs);
    own.home().run([&] {
      for (int i = 0; i < 300; ++i) {
        tuned.sample(cost_of(tuned.values()));
        tasks::this_task::yield();
      }
    });
    own.barrier();
  });
}

}  // namespace
}  // namespace trimtab::parcels
