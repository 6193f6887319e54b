#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "trimtab/parcels/archive/archive.hpp"
#include "trimtab/parcels/view/load_sharing.hpp"

namespace trimtab::parcels {

namespace {

// Localities without a network: each round of each is one step.
class sharing_group {
 public:
  sharing_group(std::uint32_t size, const load_sharing_options& settings) : m_settings(settings) {
    for (locality_number self = 0; self < size; ++self) m_members.emplace_back(size, self, settings, 16 << 10);
    m_states.resize(size);
  }
  load_sharing& operator[](locality_number which) { return m_members[which]; }
  load_sharing::own_state& state(locality_number which) { return m_states[which]; }
  std::uint64_t sent() const noexcept { return m_sent; }

  bool deliver(locality_number from, locality_number to) {
    byte_buffer bytes;
    m_members[from].note_sent(to, m_members[from].write(bytes, to));
    ++m_sent;
    return m_members[to].merge(bytes.view(), from);
  }
  void pass_period() {
    for (std::uint32_t round = 0; round < m_settings.rounds; ++round)
      for (locality_number from = 0; from < m_members.size(); ++from)
        for (const locality_number to : m_members[from].begin_round(m_states[from], round == 0 ? 1 : 0))
          if (deliver(from, to)) deliver(to, from);
  }
  bool is_silent() const {
    return std::all_of(m_members.begin(), m_members.end(), [](const load_sharing& one) { return one.is_silent(); });
  }

 private:
  const load_sharing_options m_settings;
  std::vector<load_sharing> m_members;
  std::vector<load_sharing::own_state> m_states;
  std::uint64_t m_sent = 0;
};

double tasks_known(const load_sharing& at, locality_number of) { return at.view().of(of).values[load_sharing::tasks_value]; }

}  // namespace

TEST(load_sharing, is_silent_when_all_know_that_nothing_happens) {
  sharing_group group(8, {});
  group.state(3).tasks = 5;
  for (int period = 0; period < 10; ++period) group.pass_period();
  for (locality_number which = 0; which < 8; ++which) EXPECT_EQ(tasks_known(group[which], 3), 5);
  EXPECT_FALSE(group.is_silent());
  // The end of its tasks is told to all, and then nothing more.
  group.state(3).tasks = 0;
  group.state(3).finished = 5;
  int periods = 0;
  for (; !group.is_silent() && periods < 100; ++periods) group.pass_period();
  EXPECT_LT(periods, 20);
  for (locality_number which = 0; which < 8; ++which) EXPECT_EQ(tasks_known(group[which], 3), 0);
  const std::uint64_t sent = group.sent();
  for (int period = 0; period < 10; ++period) group.pass_period();
  EXPECT_EQ(group.sent(), sent);
  EXPECT_GE(group[0].view().of(3).age, 10u);
}

TEST(load_sharing, reports_again_when_tasks_have_come_and_gone_within_a_period) {
  sharing_group group(2, {});
  for (int period = 0; period < 10; ++period) group.pass_period();
  ASSERT_TRUE(group.is_silent());
  group.state(1).finished = 1;
  group.pass_period();
  EXPECT_LE(group[0].view().of(1).age, 1u);
}

TEST(load_sharing, sends_again_what_could_not_be_sent) {
  sharing_group group(2, {});
  group.state(0).tasks = 3;
  EXPECT_EQ(group[0].begin_round(group.state(0), 1), std::vector<locality_number>{1});
  byte_buffer lost;
  EXPECT_EQ(group[0].write(lost, 1).size(), 1u);
  // The same round again.
  EXPECT_EQ(group[0].begin_round(group.state(0), 0), std::vector<locality_number>{1});
  group.deliver(0, 1);
  EXPECT_EQ(tasks_known(group[1], 0), 3);
  EXPECT_TRUE(group[0].begin_round(group.state(0), 0).empty());
}

TEST(load_sharing, counts_several_messages_at_once) {
  load_sharing rules(2, 0, {.messages = 16}, 16 << 10);
  EXPECT_FALSE(rules.on_messages(1, 15));
  EXPECT_TRUE(rules.on_messages(1, 1));
  EXPECT_TRUE(rules.on_messages(1, 40));
  EXPECT_FALSE(rules.on_messages(1, 15));
}

TEST(load_sharing, answers_only_who_does_not_know) {
  sharing_group group(2, {});
  group[0].begin_round({.tasks = 1}, 1);
  group[1].begin_round({.tasks = 2}, 1);
  EXPECT_TRUE(group.deliver(0, 1));
  EXPECT_FALSE(group.deliver(1, 0));
  EXPECT_EQ(tasks_known(group[0], 1), 2);
  EXPECT_FALSE(group.deliver(0, 1));
}

TEST(load_sharing, draws_by_load_and_by_seed) {
  const auto draws_of = [](std::uint64_t seed) {
    sharing_group group(3, {.local_preference = 0, .seed = seed});
    group.state(1).tasks = 99;
    for (int period = 0; period < 10; ++period) group.pass_period();
    std::vector<locality_number> drawn;
    for (int draw = 0; draw < 40; ++draw) {
      drawn.push_back(group[0].choose(0));
      group.pass_period();
    }
    return drawn;
  };
  const auto first = draws_of(1);
  EXPECT_GT(std::count(first.begin(), first.end(), 2), 30);
  EXPECT_EQ(std::count(first.begin(), first.end(), 0), 0);
  EXPECT_EQ(first, draws_of(1));
  EXPECT_NE(first, draws_of(2));
}

TEST(load_sharing, expects_others_to_send_as_it_does) {
  // All but locality 3 have much to do, and see at the same moment that it has not.
  sharing_group group(4, {.local_preference = 0});
  for (int round = 0; round < 2; ++round)
    for (locality_number which = 0; which < 3; ++which) {
      group.state(which).tasks = 20;
      group.pass_period();
      group[which].choose(20);
    }
  for (int period = 0; period < 3; ++period) group.pass_period();
  int sent = 0;
  for (int task = 0; task < 20; ++task)
    for (locality_number which = 0; which < 3; ++which) sent += group[which].choose(20) == 3;
  // As many as would make it equal to the others, and not the 40 that each by itself would think right.
  EXPECT_GT(sent, 15);
  EXPECT_LT(sent, 35);
}

TEST(load_sharing, gives_nothing_to_who_has_gone) {
  sharing_group group(3, {.local_preference = 0});
  for (int period = 0; period < 10; ++period) group.pass_period();
  group[0].set_gone(2);
  for (int draw = 0; draw < 100; ++draw) EXPECT_EQ(group[0].choose(50), 1u);
  group[0].set_gone(1);
  EXPECT_EQ(group[0].choose(50), 0u);
  EXPECT_TRUE(group[0].begin_round({.tasks = 1}, 1).empty());
}

TEST(load_sharing, carries_values_of_the_program) {
  sharing_group group(2, {.values = 2});
  const std::array values{1.5, -2.5};
  group.state(1).values = values;
  for (int period = 0; period < 3; ++period) group.pass_period();
  EXPECT_EQ(group[0].view().of(1).values, (std::vector<double>{0, 1, 0, 1.5, -2.5}));
}

TEST(load_sharing, says_what_is_wrong_with_options) {
  EXPECT_EQ(problem_of(load_sharing_options{}), "");
  EXPECT_NE(problem_of(load_sharing_options{.period_us = 1}).find("period_us"), std::string::npos);
  EXPECT_NE(problem_of(load_sharing_options{.rounds = 0}).find("rounds"), std::string::npos);
  EXPECT_THROW(load_sharing(2, 0, {.local_preference = -1}, 1000), std::invalid_argument);
}

}  // namespace trimtab::parcels
