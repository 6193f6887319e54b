#include "trimtab/parcels/job/job.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <complex>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "local_job.hpp"
#include "trimtab/tasks.hpp"

namespace trimtab::parcels {

namespace {

int square(int number) { return number * number; }
double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }
std::vector<double> doubled(std::vector<double> values) {
  for (double& value : values) value *= 2;
  return values;
}
std::map<std::string, int> lengths_of(const std::vector<std::string>& words) {
  std::map<std::string, int> lengths;
  for (const std::string& word : words) lengths[word] = static_cast<int>(word.size());
  return lengths;
}
[[noreturn]] void throw_range_error(std::string text) { throw std::range_error(text); }
tasks::future<int> later_square(int number) { return tasks::async(square, number); }

std::array<std::atomic<std::uint64_t>, 8> received;  // by locality of the receiver
void add_to(std::uint32_t counter, std::uint64_t value) { received[counter].fetch_add(value); }
void clear_received() {
  for (auto& counter : received) counter = 0;
}

std::atomic<bool> may_end{false};
void wait_until_it_may_end() {
  while (!may_end) tasks::this_task::sleep_for(std::chrono::milliseconds(1));
}

struct setting_of_test {
  std::string name;
  std::uint32_t size, workers;
  std::uint64_t fault_seed;
  coalescing standard;
  bool is_tuned = false;
};

std::vector<setting_of_test> all_settings() {
  constexpr auto strict = coalescing::way::strict;
  std::vector<setting_of_test> settings;
  for (const std::uint32_t size : {1u, 2u, 3u, 5u})
    for (const std::uint32_t workers : {1u, 2u}) {
      const std::string name = std::to_string(size) + "_of_" + std::to_string(workers);
      settings.push_back({name + "_adaptive", size, workers, 0, {}});
      settings.push_back({name + "_faulty", size, workers, 17 * size + workers, {}});
    }
  settings.push_back({"each_alone", 2, 1, 0, {.rules = strict, .count = 1}});
  settings.push_back({"count_and_wait", 3, 1, 0, {.rules = strict, .count = 64, .wait_us = 500}});
  settings.push_back({"count_and_wait_faulty", 3, 1, 5, {.rules = strict, .count = 7, .wait_us = 200}});
  settings.push_back({"before_waiting", 2, 1, 0, {.rules = strict, .count = 4096, .sends_before_waiting = true}});
  settings.push_back({"tuned", 3, 2, 0, {}, true});
  settings.push_back({"tuned_faulty", 2, 1, 3, {.rules = strict, .count = 64, .wait_us = 500}, true});
  settings.push_back({"small_queues", 3, 2, 9, {.most_bytes = 64}});
  return settings;
}

class jobs : public ::testing::TestWithParam<setting_of_test> {
 protected:
  void SetUp() override { clear_received(); }
  static void run(const std::function<void(job&)>& body) {
    local_job_options options{.size = GetParam().size, .workers = GetParam().workers, .fault_seed = GetParam().fault_seed};
    options.options.standard = GetParam().standard;
    options.options.tunes_coalescing = GetParam().is_tuned;
    run_locally(options, body);
  }
};

INSTANTIATE_TEST_SUITE_P(all, jobs, ::testing::ValuesIn(all_settings()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST_P(jobs, call_functions_everywhere) {
  run([](job& own) {
    for (const locality where : own.localities()) {
      EXPECT_EQ(async(where, square, 7).get(), 49);
      EXPECT_EQ(async(where, [](int a, double b) { return a + b; }, 1, 2.5).get(), 3.5);
      EXPECT_EQ(async(where, later_square, 5).get(), 25);
      EXPECT_EQ(async(where, lengths_of, std::vector<std::string>{"a", "bcd"}).get().at("bcd"), 3);
      EXPECT_EQ(async(where, [](std::complex<double> z) { return std::norm(z); }, std::complex<double>(3, 4)).get(), 25);
      async(where, [](std::uint32_t) {}, where.number()).get();
    }
  });
}

TEST_P(jobs, call_from_tasks_with_many_calls_under_way) {
  run([](job& own) {
    const int sum = own.home().run([&] {
      std::vector<tasks::future<int>> results;
      for (int i = 0; i < 300; ++i)
        results.push_back(async(own.at(static_cast<locality_number>(i) % own.size()), square, i));
      int total = 0;
      for (auto& result : results) total += result.get();
      return total;
    });
    EXPECT_EQ(sum, 299 * 300 * 599 / 6);
  });
}

TEST_P(jobs, send_long_arguments_and_results) {
  run([](job& own) {
    std::vector<double> values(300'000);
    std::iota(values.begin(), values.end(), 0.0);
    for (const locality where : own.localities()) {
      EXPECT_EQ(async(where, sum_of, values).get(), 299'999.0 * 150'000.0);
      const std::vector<double> results = async(where, doubled, std::vector<double>(values)).get();
      ASSERT_EQ(results.size(), values.size());
      EXPECT_EQ(results[299'999], 2 * 299'999.0);
      // Short ones after long ones.
      EXPECT_EQ(async(where, sum_of, std::vector<double>{1, 2}).get(), 3);
    }
  });
}

TEST_P(jobs, bring_exceptions_back) {
  run([](job& own) {
    for (const locality where : own.localities()) {
      try {
        async(where, throw_range_error, "too far").get();
        FAIL() << "nothing was thrown";
      } catch (const std::range_error& error) {
        EXPECT_STREQ(error.what(), "too far");
      }
    }
  });
}

TEST_P(jobs, handle_everything_that_was_posted_before_they_are_quiet) {
  run([](job& own) {
    constexpr std::uint64_t count = 2000;
    own.home().run([&] {
      for (std::uint64_t i = 1; i <= count; ++i)
        for (const locality where : own.localities()) post(where, add_to, where.number(), i);
    });
    own.wait_until_quiet();
    EXPECT_EQ(received[own.here().number()], own.size() * count * (count + 1) / 2);
    own.barrier();
  });
}

// Each call posts a task of its own locality, which is what is waited for, too.
TEST_P(jobs, wait_for_tasks_that_parcels_leave_behind) {
  constexpr auto leave_task = [](std::uint32_t counter) {
    tasks::post([counter] {
      tasks::this_task::sleep_for(std::chrono::milliseconds(2));
      add_to(counter, 1);
    });
  };
  run([&](job& own) {
    for (const locality where : own.localities()) post(where, leave_task, where.number());
    own.wait_until_quiet();
    EXPECT_EQ(received[own.here().number()], own.size());
    own.barrier();
  });
}

TEST_P(jobs, broadcast_reduce_and_meet) {
  run([](job& own) {
    const auto number = std::uint64_t{own.here().number()}, size = std::uint64_t{own.size()};
    for (locality_number root = 0; root < own.size(); ++root) {
      EXPECT_EQ(own.broadcast(std::string("from ") + std::to_string(number), root), "from " + std::to_string(root));
      const std::uint64_t sum = own.reduce(number + 1, std::plus<>(), root);
      if (number == root) {
        EXPECT_EQ(sum, size * (size + 1) / 2);
      }
    }
    // In the order of the localities.
    const std::string all = own.all_reduce(std::to_string(number), std::plus<>());
    EXPECT_EQ(all, std::string("01234").substr(0, size));
    for (std::uint64_t round = 1; round <= 20; ++round) {
      received[number].fetch_add(1);
      own.barrier();
      for (std::uint64_t other = 0; other < size; ++other) EXPECT_EQ(received[other], round);
      own.barrier();
    }
  });
}

TEST(job, of_one_process_needs_no_transport) {
  job own(nullptr, {.runtime = {.workers = 1}});
  EXPECT_EQ(&job::current(), &own);
  EXPECT_EQ(own.size(), 1u);
  EXPECT_EQ(find_all_localities().size(), 1u);
  EXPECT_EQ(find_here().process(), getpid());
  EXPECT_EQ(async(find_here(), square, 3).get(), 9);
  EXPECT_THROW(own.at(1), std::out_of_range);
}

TEST(job, is_needed_for_current) { EXPECT_THROW(job::current(), std::logic_error); }

TEST(job, reports_a_locality_that_is_lost) {
  std::atomic<int> lost_reports{0};
  may_end = false;
  job_options options{.runtime = {.workers = 1}};
  options.on_lost = [&](locality_number which, std::string_view) { lost_reports += which == 2; };
  memory_meeting meeting(3);
  std::barrier<> all_have_looked(2);
  std::vector<std::thread> threads;
  for (locality_number number = 0; number < 3; ++number)
    threads.emplace_back([&, number] {
      try {
        job own(meeting.open({.number = number, .size = 3}).link, options);
        own.barrier();
        if (number == 2) throw std::runtime_error("an exception that ends the locality");
        EXPECT_THROW(async(own.at(2), wait_until_it_may_end).get(), locality_lost);
        may_end = true;
        EXPECT_THROW(own.barrier(), locality_lost);
        EXPECT_THROW(async(own.at(2), square, 3).get(), locality_lost);
        EXPECT_EQ(async(own.at(1 - number), square, 3).get(), 9);
        all_have_looked.arrive_and_wait();
        throw std::runtime_error("the others end, too");
      } catch (const std::runtime_error&) {
        // The job was left by an exception.
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost_reports, 2);
}

}  // namespace
}  // namespace trimtab::parcels
