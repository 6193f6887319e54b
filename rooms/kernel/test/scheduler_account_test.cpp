#include "trimtab/kernel/scheduler_account.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace trimtab::kernel {

namespace {

scheduler_event switched(std::uint64_t time_ns, std::uint16_t cpu, thread_number from, thread_number to, bool can_run) {
  return {.time_ns = time_ns, .thread = from, .other = to, .process = from, .cpu = cpu, .can_run = can_run};
}
scheduler_event woken(std::uint64_t time_ns, std::uint16_t target, thread_number who, thread_number by) {
  return {.time_ns = time_ns, .thread = who, .other = by, .cpu = 0, .target_cpu = target, .kind = event_kind::woken};
}
scheduler_event ran(std::uint64_t time_ns, thread_number who, std::uint32_t ns) {
  return {.time_ns = time_ns, .thread = who, .other = ns, .kind = event_kind::ran};
}
scheduler_event moved(std::uint64_t time_ns, std::uint16_t target, thread_number who) {
  return {.time_ns = time_ns, .thread = who, .cpu = 0, .target_cpu = target, .kind = event_kind::moved};
}

scheduler_account account_of(const std::vector<scheduler_event>& events, std::uint64_t begin, std::uint64_t end) {
  scheduler_account account(begin);
  for (const scheduler_event& one : events) account.add(one);
  account.end(end);
  return account;
}

std::uint64_t charged(const thread_account& to) {
  std::uint64_t sum = to.idle_though_ready_ns + to.unknown_ns;
  for (const auto* const charges : {&to.ran_after_wake_up, &to.ran_after_preemption})
    for (const auto& [thread, ns] : *charges) sum += ns.ns;
  return sum;
}

}  // namespace

TEST(scheduler_account, who_runs_is_charged_with_the_wait_of_who_could) {
  const auto account =
      account_of({woken(100, 0, 7, 3), switched(160, 0, 3, 7, true), switched(200, 0, 7, 3, false)}, 0, 250);
  const thread_account& waiter = account.threads().at(7);
  EXPECT_EQ(waiter.woken_waits.sum_ns(), 60u);
  EXPECT_EQ(waiter.seen_running_ns, 40u);
  EXPECT_EQ(waiter.voluntary_switches, 1u);
  EXPECT_EQ(waiter.ran_after_wake_up.at(3).ns, 60u);
  EXPECT_EQ(waiter.ran_after_wake_up.at(3).count, 1u);
  EXPECT_EQ(waiter.late_wakes.at(3).ns, 60u);
  const thread_account& other = account.threads().at(3);
  EXPECT_EQ(other.seen_running_ns, 160u + 50u) << "it has run since the beginning";
  EXPECT_EQ(other.involuntary_switches, 1u);
  EXPECT_EQ(other.preempted_waits.sum_ns(), 40u);
  EXPECT_EQ(other.ran_after_preemption.at(7).ns, 40u);
  EXPECT_EQ(account.busy_ns(), 250u);
}

TEST(scheduler_account, several_that_run_meanwhile_are_charged_with_their_parts) {
  const auto account = account_of({switched(0, 0, 0, 1, false), woken(10, 0, 2, 1), switched(30, 0, 1, 3, true),
                                   switched(70, 0, 3, 2, false), switched(90, 0, 2, 1, false)},
                                  0, 100);
  const thread_account& waiter = account.threads().at(2);
  EXPECT_EQ(waiter.woken_waits.sum_ns(), 60u);
  EXPECT_EQ(waiter.ran_after_wake_up.at(1).ns, 20u);
  EXPECT_EQ(waiter.ran_after_wake_up.at(3).ns, 40u);
}

TEST(scheduler_account, an_idle_cpu_is_nobodys_fault) {
  const auto account = account_of({switched(0, 1, 5, 0, false), woken(50, 1, 5, 0), switched(58, 1, 0, 5, false)}, 0, 100);
  const thread_account& waiter = account.threads().at(5);
  EXPECT_EQ(waiter.idle_though_ready_ns, 8u);
  EXPECT_TRUE(waiter.ran_after_wake_up.empty());
  EXPECT_TRUE(waiter.ran_after_preemption.empty());
  EXPECT_TRUE(waiter.late_wakes.empty()) << "an interrupt has woken it";
  EXPECT_EQ(account.idle_ns(), 58u);
}

TEST(scheduler_account, a_switch_of_an_idle_cpu_that_was_not_recorded_is_inferred) {
  const auto account = account_of({switched(0, 1, 5, 0, false), woken(50, 1, 5, 0), switched(90, 1, 5, 0, false)}, 0, 100);
  const thread_account& own = account.threads().at(5);
  EXPECT_EQ(own.seen_running_ns, 40u);
  EXPECT_EQ(own.woken_waits.count(), 1u);
  EXPECT_EQ(own.woken_waits.sum_ns(), 0u);
  EXPECT_EQ(own.unknown_ns, 0u);
  EXPECT_EQ(account.idle_ns(), 60u);
  EXPECT_EQ(account.inferred_switches(), 1u);
}

TEST(scheduler_account, an_idle_cpu_takes_a_thread_from_another_one_without_a_record) {
  const auto account = account_of(
      {switched(0, 1, 5, 0, false), switched(0, 0, 0, 1, false), woken(50, 0, 7, 1), switched(90, 1, 7, 0, false)}, 0, 100);
  const thread_account& own = account.threads().at(7);
  EXPECT_EQ(own.seen_running_ns, 40u);
  EXPECT_EQ(own.woken_waits.count(), 1u);
  EXPECT_EQ(own.woken_waits.sum_ns(), 0u);
  EXPECT_EQ(charged(own), 0u);
  EXPECT_EQ(account.threads().at(1).seen_running_ns, 100u);
  EXPECT_EQ(account.idle_ns(), 60u);
  EXPECT_EQ(account.inferred_switches(), 1u);
}

TEST(scheduler_account, a_thread_whose_end_is_never_recorded_does_not_have_the_time_of_others) {
  const auto account =
      account_of({switched(0, 0, 0, 1, false), switched(40, 0, 1, 99, true), switched(90, 0, 1, 0, false)}, 0, 100);
  EXPECT_EQ(account.threads().at(1).seen_running_ns, 40u + 50u);
  EXPECT_EQ(account.threads().at(1).preempted_waits.count(), 1u);
  EXPECT_EQ(account.threads().at(99).seen_running_ns, 0u);
  EXPECT_EQ(account.inferred_switches(), 1u);
}

// Whatever is missing: the charges add up to the waits, and no CPU has more time than passes.
TEST(scheduler_account, stays_consistent_where_events_are_missing) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<scheduler_event> events;
    std::uint64_t time = 0;
    const auto thread = [&] { return static_cast<thread_number>(random() % 6); };
    const auto cpu = [&] { return static_cast<std::uint16_t>(random() % 3); };
    for (int i = 0; i < 200; ++i) {
      time += random() % 10;
      switch (random() % 3) {
        case 0:
          events.push_back(switched(time, cpu(), thread(), thread(), random() % 2 == 0));
          break;
        case 1:
          events.push_back(woken(time, cpu(), thread(), thread()));
          break;
        default:
          events.push_back(moved(time, cpu(), thread()));
      }
    }
    const auto account = account_of(events, 0, time + 5);
    ASSERT_LE(account.busy_ns() + account.idle_ns(), 3 * (time + 5)) << round;
    for (const auto& [number, own] : account.threads())
      ASSERT_EQ(charged(own), own.woken_waits.sum_ns() + own.preempted_waits.sum_ns()) << round << ", thread " << number;
  }
}

TEST(scheduler_account, who_moves_is_kept_waiting_by_who_runs_there) {
  const auto account = account_of({switched(0, 0, 0, 1, false), switched(0, 1, 0, 2, false), woken(10, 0, 9, 1),
                                   moved(30, 1, 9), switched(45, 1, 2, 9, true)},
                                  0, 60);
  const thread_account& waiter = account.threads().at(9);
  EXPECT_EQ(waiter.ran_after_wake_up.at(1).ns, 20u);
  EXPECT_EQ(waiter.ran_after_wake_up.at(2).ns, 15u);
  EXPECT_EQ(waiter.moves, 1u);
  EXPECT_EQ(waiter.woken_waits.count(), 1u);
}

TEST(scheduler_account, a_second_wake_up_changes_nothing) {
  const auto account = account_of({switched(0, 0, 0, 1, false), woken(10, 0, 2, 1), woken(20, 0, 2, 1), woken(25, 0, 1, 2),
                                   switched(40, 0, 1, 2, false)},
                                  0, 50);
  EXPECT_EQ(account.threads().at(2).woken_waits.count(), 1u);
  EXPECT_EQ(account.threads().at(2).woken_waits.sum_ns(), 30u);
  EXPECT_EQ(account.threads().at(1).woken_waits.count(), 0u);
}

TEST(scheduler_account, what_was_lost_is_unknown_and_charged_to_nobody) {
  const scheduler_event lost{.time_ns = 40, .thread = 12, .cpu = 0, .kind = event_kind::lost};
  const auto account =
      account_of({switched(0, 0, 0, 1, false), woken(10, 0, 2, 1), lost, switched(60, 0, 5, 2, false)}, 0, 70);
  EXPECT_EQ(account.lost_events(), 12u);
  const thread_account& waiter = account.threads().at(2);
  EXPECT_EQ(waiter.unknown_ns, 50u) << "from the last event that was seen";
  EXPECT_EQ(charged(waiter), waiter.woken_waits.sum_ns());
  EXPECT_EQ(account.threads().at(5).seen_running_ns, 0u);
}

TEST(scheduler_account, waits_that_have_not_ended_count_up_to_the_end) {
  const auto account = account_of({switched(0, 0, 0, 1, false), woken(10, 0, 2, 1), switched(20, 0, 1, 3, true)}, 0, 100);
  EXPECT_EQ(account.threads().at(2).woken_waits.sum_ns(), 90u);
  EXPECT_EQ(account.threads().at(1).preempted_waits.sum_ns(), 80u);
  EXPECT_EQ(account.threads().at(1).ran_after_preemption.at(3).ns, 80u);
}

TEST(scheduler_account, what_the_kernel_says_of_running_time_counts) {
  // The switch to thread 1 and its wake-up were not recorded.
  const auto account = account_of({switched(0, 0, 3, 0, false), ran(95, 1, 40), switched(100, 0, 1, 0, false)}, 0, 200);
  const thread_account& thread = account.threads().at(1);
  EXPECT_EQ(thread.seen_running_ns, 0u);
  EXPECT_EQ(account.running_ns(thread), 40u);
  EXPECT_EQ(account.busy_ns(), 40u);
  EXPECT_EQ(account.busy_ns() + account.idle_ns(), 200u - 100u) << "from 0 to 100 it is not known what ran there";
}

TEST(scheduler_account, what_ran_since_the_last_report_counts_too) {
  const auto account = account_of({switched(0, 0, 0, 1, false), ran(40, 1, 40)}, 0, 70);
  EXPECT_EQ(account.running_ns(account.threads().at(1)), 70u);
}

TEST(scheduler_account, a_report_does_not_go_back_to_before_the_recording) {
  const auto account = account_of({switched(1'000, 0, 0, 1, false), ran(1'030, 1, 4'000'000)}, 1'000, 1'030);
  EXPECT_EQ(account.running_ns(account.threads().at(1)), 30u);
}

TEST(scheduler_account, where_reports_may_be_lost_the_greater_time_counts) {
  const scheduler_event lost{.time_ns = 90, .thread = 12, .cpu = 1, .kind = event_kind::lost};
  const auto account =
      account_of({switched(0, 0, 0, 1, false), ran(10, 1, 10), switched(80, 0, 1, 0, false), ran(85, 1, 5), lost}, 0, 100);
  EXPECT_EQ(account.running_ns(account.threads().at(1)), 80u);
}

// Reports at ticks and when a thread leaves its CPU, as kernels make them: whether switches to threads are recorded or not,
// the running time is right.
TEST(scheduler_account, running_time_is_right_although_switches_are_missing) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    std::map<thread_number, std::uint64_t> expected_running, reported_until;
    thread_number running = 0;
    scheduler_account account(0);
    account.add(switched(0, 0, 9, 0, false));
    for (std::uint64_t now = 1; now <= 1'000; ++now) {
      if (running != 0) ++expected_running[running];
      const bool leaves = random() % 20 == 0;
      if (running != 0 && (leaves || now % 64 == 0)) {
        account.add(ran(now, running, static_cast<std::uint32_t>(now - reported_until[running])));
        reported_until[running] = now;
      }
      if (!leaves) continue;
      const thread_number next = running == 0 ? 1 + static_cast<thread_number>(random() % 5) : 0;
      if (running != 0 || random() % 2 == 0) account.add(switched(now, 0, running, next, false));
      reported_until[next] = now;
      running = next;
    }
    if (running != 0) account.add(ran(1'000, running, static_cast<std::uint32_t>(1'000 - reported_until[running])));
    account.end(1'000);
    for (const auto& [thread, ns] : expected_running)
      ASSERT_EQ(account.running_ns(account.threads().at(thread)), ns) << seed << ", thread " << thread;
  }
}

// Random machines: what is counted is what a look at each nanosecond gives.
TEST(scheduler_account, agrees_with_a_look_at_each_nanosecond) {
  constexpr std::uint16_t cpus = 3;
  constexpr thread_number threads = 7;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    std::array<thread_number, cpus> running{};
    std::map<thread_number, std::uint16_t> waiting;                                     // where
    std::map<std::pair<thread_number, thread_number>, std::uint64_t> expected_charges;  // who waits, who runs
    std::map<thread_number, std::uint64_t> expected_running, expected_wait;
    scheduler_account account(0);
    for (std::uint16_t number = 0; number < cpus; ++number) account.add(switched(0, number, 0, 0, false));
    const std::uint64_t end = 400;
    for (std::uint64_t now = 0; now < end; ++now) {
      for (int event = 0; event < 2; ++event) {
        const auto number = static_cast<std::uint16_t>(random() % cpus);
        const auto thread = static_cast<thread_number>(1 + random() % threads);
        const bool runs = std::ranges::find(running, thread) != running.end();
        switch (random() % 4) {
          case 0:
            account.add(woken(now, number, thread, running[0]));
            if (!runs && !waiting.contains(thread)) waiting[thread] = number;
            break;
          case 1:
            if (!waiting.contains(thread)) break;
            account.add(moved(now, number, thread));
            waiting[thread] = number;
            break;
          default: {
            thread_number next = 0;
            for (const auto& [who, where] : waiting)
              if (where == number) next = who;
            const thread_number before = running[number];
            const bool can_run = before != 0 && random() % 2 == 0;
            account.add(switched(now, number, before, next, can_run));
            waiting.erase(next);
            if (can_run) waiting[before] = number;
            running[number] = next;
          }
        }
      }
      for (const thread_number who : running)
        if (who != 0) ++expected_running[who];
      for (const auto& [who, where] : waiting) {
        ++expected_wait[who];
        ++expected_charges[{who, running[where]}];
      }
    }
    account.end(end);
    for (thread_number thread = 1; thread <= threads; ++thread) {
      const auto found = account.threads().find(thread);
      if (found == account.threads().end()) continue;
      const thread_account& own = found->second;
      ASSERT_EQ(own.seen_running_ns, expected_running[thread]) << seed;
      ASSERT_EQ(own.woken_waits.sum_ns() + own.preempted_waits.sum_ns(), expected_wait[thread]) << seed;
      ASSERT_EQ(charged(own), expected_wait[thread]) << seed;
      ASSERT_EQ(own.idle_though_ready_ns, (expected_charges[{thread, 0}])) << seed;
      std::map<thread_number, std::uint64_t> found_charges;
      for (const auto& [who, to] : own.ran_after_wake_up) found_charges[who] += to.ns;
      for (const auto& [who, to] : own.ran_after_preemption) found_charges[who] += to.ns;
      for (const auto& [who, ns] : found_charges) ASSERT_EQ(ns, (expected_charges[{thread, who}])) << seed;
    }
  }
}

}  // namespace trimtab::kernel
