// The contract of opening a job, and of what is left when it is over.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "transport_contract.hpp"
#include "transport_helpers.hpp"

namespace trimtab::parcels {
namespace {

constexpr std::uint64_t short_patience_ns = 300'000'000;

bool mentions(const std::vector<opened_transport>& results, const std::string& word) {
  return std::ranges::any_of(results, [&](const auto& result) { return result.error.find(word) != std::string::npos; });
}

void expect_all_failed(const std::vector<opened_transport>& results) {
  for (const opened_transport& result : results) {
    EXPECT_EQ(result.link, nullptr);
    EXPECT_NE(result.error, "");
  }
}

std::string all_errors(const std::vector<opened_transport>& results) {
  std::string text;
  for (const opened_transport& result : results) text += result.error + "\n";
  return text;
}

// What a process has and a job must not leave behind.
struct possessions {
  std::ptrdiff_t descriptors, threads, mappings;
};

possessions count_possessions() {
  const auto entries = [](const char* folder) {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  };
  std::ifstream maps("/proc/self/maps");
  const std::istreambuf_iterator<char> begin(maps), end;
  return {entries("/proc/self/fd"), entries("/proc/self/task"), std::count(begin, end, '\n')};
}

}  // namespace

TEST_P(transport_contract, members_may_come_in_any_order) {
  test_random random(5);
  const std::uint32_t size = GetParam().most_members;
  for (int round = 0; round < 20; ++round) {
    std::vector<membership> members;
    for (locality_number number = 0; number < size; ++number) members.push_back({number, size, "abc"});
    for (std::size_t place = size; place > 1; --place) std::swap(members[place - 1], members[random.below(place)]);
    auto results = open_these(members, size);
    for (std::size_t place = 0; place < size; ++place) {
      ASSERT_EQ(results[place].error, "");
      EXPECT_EQ(results[place].link->number(), members[place].number);
    }
    for (auto& result : results) result.link->leave(long_enough_ns);
  }
}

TEST_P(transport_contract, a_member_that_does_not_come_is_named) {
  if (!GetParam().checks_membership) GTEST_SKIP();
  for (locality_number absent = 0; absent < 3; ++absent) {
    std::vector<membership> members;
    for (locality_number number = 0; number < 3; ++number)
      if (number != absent) members.push_back({number, 3, "abc", short_patience_ns});
    const auto results = open_these(members, 3);
    expect_all_failed(results);
    EXPECT_TRUE(mentions(results, "locality " + std::to_string(absent))) << all_errors(results);
  }
}

TEST_P(transport_contract, another_secret_is_an_error) {
  if (!GetParam().checks_membership) GTEST_SKIP();
  for (const char* other : {"abd", "", "ab", "abcd"}) {
    const auto results = open_these({{0, 2, "abc", short_patience_ns}, {1, 2, other, short_patience_ns}}, 2);
    expect_all_failed(results);
    EXPECT_TRUE(mentions(results, "secret")) << all_errors(results);
  }
}

TEST_P(transport_contract, another_size_of_the_job_is_an_error) {
  if (!GetParam().checks_membership) GTEST_SKIP();
  const auto results = open_these({{0, 2, "abc", short_patience_ns}, {1, 3, "abc", short_patience_ns}}, 2);
  expect_all_failed(results);
  EXPECT_TRUE(mentions(results, "size")) << all_errors(results);
}

TEST_P(transport_contract, after_many_jobs_nothing_is_left_of_them) {
  const auto open_and_close = [&](int jobs) {
    for (int job = 0; job < jobs; ++job) {
      auto links = open_all(2);
      ASSERT_EQ(links.size(), 2u);
      if (job % 3 == 0) continue;
      std::jthread leaver([&] { links[1]->leave(long_enough_ns); });
      links[0]->leave(long_enough_ns);
    }
  };
  open_and_close(10);
  const possessions before = count_possessions();
  open_and_close(100);
  possessions after = count_possessions();
  // The kernel may list a thread a little longer than its end can be seen by who joins it: also in the first count.
  for (const test_deadline deadline; after.threads > before.threads && !deadline.is_over(); after = count_possessions())
    std::this_thread::yield();
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_LE(after.threads, before.threads);
  EXPECT_LT(after.mappings, before.mappings + 50) << "stacks and heaps of threads vary a little";
}

}  // namespace trimtab::parcels
