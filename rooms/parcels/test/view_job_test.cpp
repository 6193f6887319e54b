// Load that a job shares: with localities that are threads of this process, over the memory transport and shared memory.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "local_job.hpp"
#include "shm_meeting.hpp"
#include "trimtab/parcels/job/balanced.hpp"
#include "trimtab/tasks.hpp"

namespace trimtab::parcels {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t most_localities = 8;

// Each locality's runtime, so that a function knows where it runs: job::current() is the same for all here.
std::array<std::atomic<tasks::runtime*>, most_localities> homes;
std::array<std::atomic<std::uint64_t>, most_localities + 1> run_on;  // the last: where it is not known

void note_home(job& own) {
  homes[own.here().number()] = &own.home();
  run_on[own.here().number()] = 0;
  own.barrier();
}
std::uint32_t number_of_home() {
  for (std::uint32_t number = 0; number < most_localities; ++number)
    if (homes[number] == &tasks::worker::current()->owner()) return number;
  return most_localities;
}
std::uint32_t note_run() {
  const std::uint32_t number = number_of_home();
  run_on[number].fetch_add(1);
  return number;
}
int times_two(int number) {
  note_run();
  return 2 * number;
}
int sum_of_two(int one, int other) {
  note_run();
  return one + other;
}
[[noreturn]] int throw_it(int number) { throw std::range_error(std::to_string(number)); }

std::atomic<bool> is_released{false};
void hold() {
  while (!is_released) tasks::this_task::yield();
}

job_options sharing_options(load_sharing_options sharing = {}) {
  sharing.period_us = std::min(sharing.period_us, 500u);
  return {.shares_load = true, .sharing = sharing};
}

template <class condition>
void wait_for(condition&& is_true) {
  while (!is_true()) std::this_thread::sleep_for(200us);
}

bool knows_all(job& own) {
  for (const known_load& known : own.view())
    if (!known.is_known) return false;
  return true;
}

std::uint64_t messages_sent(job& own) {
  std::uint64_t sum = 0;
  for (locality_number other = 0; other < own.size(); ++other)
    if (other != own.here().number()) sum += own.messages()->traffic().to(other).messages().messages.get();
  return sum;
}

// As run_locally, over shared memory.
void run_in_shared_memory(std::uint32_t size, const job_options& options, const std::function<void(job&)>& body) {
  shm_meeting meeting(1 << 20);
  std::vector<std::thread> threads;
  for (locality_number number = 0; number < size; ++number)
    threads.emplace_back([&, number] {
      membership self;
      self.number = number;
      self.size = size;
      opened_transport opened = meeting.open(self);
      ASSERT_NE(opened.link, nullptr) << opened.error;
      job own(std::move(opened.link), options);
      body(own);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST(view_job, shows_what_others_do) {
  is_released = false;
  std::barrier all_have_seen(4);
  run_locally({.size = 4, .workers = 1, .options = sharing_options({.values = 2})}, [&](job& own) {
    const locality_number number = own.here().number();
    own.set_value(1, 10.0 + number);
    if (number == 2)
      for (int i = 0; i < 5; ++i) own.home().run([] { tasks::post(hold); });
    wait_for([&] {
      const std::vector<known_load> view = own.view();
      bool is_complete = view[2].tasks >= 5;
      for (locality_number other = 0; other < 4; ++other)
        is_complete &= view[other].is_known && view[other].values == std::vector<double>{0, 10.0 + other};
      return is_complete;
    });
    all_have_seen.arrive_and_wait();
    is_released = true;
    // The locality that has become idle tells the others.
    wait_for([&] { return own.view()[2].tasks == 0; });
    for (const known_load& known : own.view()) EXPECT_EQ(known.workers, 1);
  });
}

TEST(view_job, is_silent_while_nothing_happens_and_what_is_known_grows_older) {
  std::barrier all_know(3);
  run_locally({.size = 3, .workers = 1, .options = sharing_options()}, [&](job& own) {
    wait_for([&] { return knows_all(own); });
    all_know.arrive_and_wait();
    const locality_number other = (own.here().number() + 1) % 3;
    wait_for([&] { return own.view()[other].age > 60; });
    const std::uint64_t sent = messages_sent(own);
    wait_for([&] { return own.view()[other].age > 200; });
    // Views that were on their way may have been answered, no more.
    EXPECT_LE(messages_sent(own), sent + 4);
    all_know.arrive_and_wait();
  });
}

TEST(view_job, spreads_balanced_calls) {
  is_released = false;
  for (auto& counter : run_on) counter = 0;
  run_locally({.size = 4, .workers = 1, .options = sharing_options()}, [&](job& own) {
    note_home(own);
    wait_for([&] { return knows_all(own); });
    own.barrier();
    if (own.here().number() == 0)
      own.home().run([&] {
        std::vector<tasks::future<int>> results;
        for (int i = 0; i < 400; ++i) results.push_back(async_balanced(own, times_two, i));
        for (int i = 0; i < 400; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), 2 * i);
      });
    own.wait_until_quiet();
    EXPECT_GT(run_on[own.here().number()], 20u);
    EXPECT_EQ(own.all_reduce(run_on[own.here().number()].load(), std::plus<>()), 400u);
  });
}

TEST(view_job, spares_who_has_much_to_do) {
  is_released = false;
  run_locally({.size = 3, .workers = 1, .options = sharing_options()}, [&](job& own) {
    note_home(own);
    if (own.here().number() == 1)
      for (int i = 0; i < 200; ++i) own.home().run([] { tasks::post(hold); });
    if (own.here().number() == 0) {
      wait_for([&] { return own.view()[1].tasks > 150 && knows_all(own); });
      own.home().run([&] {
        for (int i = 0; i < 300; ++i) async_balanced(own, times_two, i);
      });
      is_released = true;
    }
    own.wait_until_quiet();
    const std::vector<std::uint64_t> run = own.all_gather(run_on[own.here().number()].load());
    EXPECT_EQ(run[0] + run[1] + run[2], 300u);
    EXPECT_LT(run[1], 60u);
  });
}

TEST(view_job, places_a_call_when_its_futures_are_ready) {
  is_released = false;
  run_locally({.size = 3, .workers = 1, .options = sharing_options()}, [&](job& own) {
    note_home(own);
    if (own.here().number() == 0)
      own.home().run([&] {
        tasks::promise<int> later;
        tasks::shared_future<int> shared = later.get_future().share();
        std::vector<tasks::future<int>> sums;
        for (int i = 0; i < 50; ++i)
          sums.push_back(async_balanced(own, sum_of_two, shared, async_balanced(own, times_two, i)));
        tasks::future<int> failed = async_balanced(own, sum_of_two, async_balanced(own, throw_it, 3), 1);
        EXPECT_THROW(failed.get(), std::range_error);
        for (const auto& sum : sums) EXPECT_FALSE(sum.ready());
        later.set_value(1000);
        for (int i = 0; i < 50; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)].get(), 1000 + 2 * i);
        for (int i = 0; i < 20; ++i) post_balanced(own, sum_of_two, async_balanced(own, times_two, i), i);
      });
    own.wait_until_quiet();
    EXPECT_EQ(own.all_reduce(run_on[own.here().number()].load(), std::plus<>()), 50u + 50u + 40u);
  });
}

TEST(view_job, brings_exceptions_back) {
  run_locally({.size = 2, .workers = 2, .options = sharing_options()}, [&](job& own) {
    own.home().run([&] {
      for (int i = 0; i < 50; ++i) {
        tasks::future<int> result = async_balanced(own, throw_it, i);
        EXPECT_THROW(result.get(), std::range_error);
      }
    });
  });
}

TEST(view_job, of_one_locality_runs_calls_here) {
  job own(nullptr, {.runtime = {.workers = 1}, .shares_load = true, .sharing = {.values = 1}});
  EXPECT_EQ(async_balanced([](int x) { return 3 * x; }, 5).get(), 15);
  EXPECT_EQ(async_balanced([](int x) { return 3 * x; }, async_balanced([](int x) { return x; }, 5)).get(), 15);
  own.set_value(0, 4);
  ASSERT_EQ(own.view().size(), 1u);
  EXPECT_EQ(own.view()[0].values, std::vector<double>{4});
  EXPECT_THROW(own.set_value(1, 4), std::out_of_range);
  EXPECT_THROW(own.set_value(0, std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
  EXPECT_EQ(own.gather(5), std::vector<int>{5});
  EXPECT_EQ(own.all_gather(5), std::vector<int>{5});
}

TEST(view_job, without_sharing_sends_nothing_and_calls_here) {
  run_locally({.size = 3, .workers = 1}, [&](job& own) {
    note_home(own);
    own.home().run([&] {
      for (int i = 0; i < 20; ++i) EXPECT_EQ(async_balanced(own, times_two, i).get(), 2 * i);
    });
    EXPECT_EQ(run_on[own.here().number()], 20u);
    EXPECT_EQ(own.messages()->sent(), 0u);
    EXPECT_EQ(own.messages()->gossip(), nullptr);
    EXPECT_FALSE(own.view()[(own.here().number() + 1) % 3].is_known);
  });
}

TEST(view_job, refuses_wrong_options) { EXPECT_THROW(job(nullptr, {.sharing = {.period_us = 3}}), std::invalid_argument); }

TEST(view_job, sends_views_along_with_messages) {
  // So few rounds that views must have come in another way.
  job_options options = sharing_options({.messages = 2});
  options.sharing.period_us = 1'000'000'000;
  options.sharing.fan_out = 0;
  run_locally({.size = 2, .workers = 1, .options = options}, [&](job& own) {
    const locality_number other = 1 - own.here().number();
    own.home().run([&] {
      while (!own.view()[other].is_known) async(own.at(other), times_two, 1).get();
    });
  });
}

TEST(view_job, ends_while_views_are_under_way) {
  for (int round = 0; round < 5; ++round)
    run_locally({.size = 4, .workers = 1, .options = sharing_options({.period_us = 100, .fan_out = 3, .messages = 1})},
                [&](job& own) {
                  own.home().run([&] {
                    for (int i = 0; i < 10; ++i) post_balanced(own, times_two, i);
                  });
                });
}

TEST(view_job, withstands_a_transport_with_faults) {
  run_locally({.size = 4, .workers = 2, .options = sharing_options({.fan_out = 2, .messages = 2}), .fault_seed = 5},
              [&](job& own) {
                note_home(own);
                own.home().run([&] {
                  std::vector<tasks::future<int>> results;
                  for (int i = 0; i < 200; ++i) results.push_back(async_balanced(own, times_two, i));
                  for (int i = 0; i < 200; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), 2 * i);
                });
                own.wait_until_quiet();
                EXPECT_EQ(own.all_reduce(run_on[own.here().number()].load(), std::plus<>()), 800u);
              });
}

TEST(view_job, works_over_shared_memory) {
  job_options options = sharing_options();
  options.runtime.workers = 1;
  run_in_shared_memory(3, options, [&](job& own) {
    note_home(own);
    wait_for([&] { return knows_all(own); });
    own.home().run([&] {
      std::vector<tasks::future<int>> results;
      for (int i = 0; i < 100; ++i) results.push_back(async_balanced(own, times_two, i));
      for (int i = 0; i < 100; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), 2 * i);
    });
    own.wait_until_quiet();
    EXPECT_EQ(own.all_reduce(run_on[own.here().number()].load(), std::plus<>()), 300u);
  });
}

TEST(view_job, gives_nothing_to_a_locality_that_is_lost) {
  std::atomic<int> lost_reports{0};
  job_options options = sharing_options();
  options.runtime.workers = 1;
  options.on_lost = [&](locality_number, std::string_view) { lost_reports += 1; };
  memory_meeting meeting(3);
  std::barrier<> all_are_there(3), all_have_looked(2);
  std::vector<std::thread> threads;
  for (locality_number number = 0; number < 3; ++number)
    threads.emplace_back([&, number] {
      try {
        job own(meeting.open({.number = number, .size = 3}).link, options);
        homes[number] = &own.home();
        // Not the job's barrier: its last messages may not have left when the locality ends.
        all_are_there.arrive_and_wait();
        if (number == 2) throw std::runtime_error("an exception that ends the locality");
        wait_for([&] { return !own.view()[2].is_present; });
        own.home().run([&] {
          for (int i = 0; i < 100; ++i) EXPECT_EQ(async_balanced(own, times_two, i).get(), 2 * i);
        });
        all_have_looked.arrive_and_wait();
        throw std::runtime_error("the others end, too");
      } catch (const std::runtime_error&) {
        // The job was left by an exception.
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(lost_reports, 2);
}

TEST(collectives, gather_in_the_order_of_the_localities) {
  for (const std::uint32_t size : {1u, 2u, 3u, 5u, 8u})
    run_locally({.size = size, .workers = 1}, [&](job& own) {
      const locality_number number = own.here().number();
      std::vector<std::string> expected;
      for (locality_number other = 0; other < size; ++other) expected.push_back("of " + std::to_string(other));
      for (locality_number root = 0; root < size; ++root)
        EXPECT_EQ(own.gather("of " + std::to_string(number), root), number == root ? expected : std::vector<std::string>{});
      EXPECT_EQ(own.all_gather("of " + std::to_string(number)), expected);
    });
}

}  // namespace trimtab::parcels
