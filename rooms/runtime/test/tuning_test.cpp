// Runtimes that are steered, by policies that are sound, that are not, and by ours: programs' answers stay the same, and
// nothing is left of steering when the runtime has gone.
#include "trimtab/runtime/tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <latch>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "trimtab/steer/random.hpp"
#include "trimtab/tasks.hpp"

namespace trimtab {
namespace {

using steer::outcome;
using steer::proposal;
using steer::view;

// Of this process. Once none is listed that has ended: the kernel lists what was joined for a moment longer, on a loaded
// machine for many moments, and may leave others out where one goes meanwhile.
std::size_t threads() {
  constexpr unsigned long is_exiting = 4;  // PF_EXITING, set before who joins is told
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::size_t living = 0;
  for (std::size_t ended = 1; ended != 0 && std::chrono::steady_clock::now() < end; std::this_thread::yield()) {
    living = ended = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string stat;
      std::getline(std::ifstream(entry.path() / "stat"), stat);
      unsigned long flags = is_exiting;
      std::sscanf(stat.c_str() + std::min(stat.size(), stat.rfind(')')), ") %*c %*d %*d %*d %*d %*d %lu", &flags);
      ++((flags & is_exiting) == 0 ? living : ended);
    }
  }
  return living;
}

class scripted final : public steer::policy {
 public:
  using script = std::function<void(const view&, std::vector<proposal>&)>;
  explicit scripted(script policy_script) : m_what(std::move(policy_script)) {}
  std::string_view name() const noexcept override { return "scripted"; }
  bool is_search() const noexcept override { return false; }
  void observe(const view& now, std::vector<proposal>& out) override { m_what(now, out); }

 private:
  script m_what;
};

tuning_options steered_by(scripted::script policy_script) {
  tuning_options options{.workers = true, .grain = true};
  options.policies.push_back([what = std::move(policy_script)] { return std::make_unique<scripted>(what); });
  options.period_s = 0.001;
  options.patience_s = 60;  // these hang only where a machine with others to serve makes them
  return options;
}

// Turns every knob to any of its values, or proposes what there is not, or throws.
scripted::script anything(std::uint64_t seed, double nonsense) {
  return [random = steer::random_source(seed), nonsense](const view& now, std::vector<proposal>& out) mutable {
    for (const steer::subject_view& subject : now.subjects) {
      const steer::domain& values = subject.info.knobs[0].values;
      proposal proposed;
      proposed.subject = subject.info.id;
      proposed.what = random.coin() ? outcome::set : outcome::trial;
      proposed.changes = {{0, values.at(random.below(values.size()))}};
      if (random.share() < nonsense) proposed.changes[0].to = -99;
      out.push_back(std::move(proposed));
    }
    if (random.share() < nonsense) throw 1;
  };
}

long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

// A ring of partitions, each of whose steps waits for three of the step before.
long stencil(int partitions, int steps) {
  std::vector<shared_future<long>> now, next(static_cast<std::size_t>(partitions));
  for (long i = 0; i < partitions; ++i) now.push_back(make_ready_future(i).share());
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < now.size(); ++i)
      next[i] = dataflow(unwrapping([](long a, long b, long c) { return (a + 2 * b + c) % 1'000'003; }),
                         now[i == 0 ? now.size() - 1 : i - 1], now[i], now[i + 1 == now.size() ? 0 : i + 1])
                    .share();
    std::swap(now, next);
  }
  long sum = 0;
  for (const auto& result : now) sum += result.get();
  return sum;
}

long serial_stencil(int partitions, int steps) {
  std::vector<long> now(static_cast<std::size_t>(partitions)), next(now);
  std::iota(now.begin(), now.end(), 0);
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < now.size(); ++i)
      next[i] = (now[i == 0 ? now.size() - 1 : i - 1] + 2 * now[i] + now[i + 1 == now.size() ? 0 : i + 1]) % 1'000'003;
    std::swap(now, next);
  }
  return std::accumulate(now.begin(), now.end(), 0L);
}

// All kinds of work, until at least so many decisions were made (or it was long enough); every answer is checked.
void work(runtime& rt, const std::atomic<int>& decisions, int wanted) {
  const long expected = serial_stencil(40, 20);
  tuned_steps steps(rt, "steps", {1, 2, 4, 8}, 2);
  for (int round = 0; round < 2000 && (round < 3 || decisions < wanted); ++round) {
    EXPECT_EQ(rt.run([] { return fib(16); }), 987);
    EXPECT_EQ(rt.run([] { return stencil(40, 20); }), expected);
    std::vector<int> counts(50'000);
    rt.run([&] { for_loop(std::size_t{0}, counts.size(), [&](std::size_t i) { counts[i] += 1; }); });
    EXPECT_EQ(static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 1)), counts.size());
    const auto size = static_cast<std::size_t>(steps.begin());
    EXPECT_TRUE(size == 1 || size == 2 || size == 4 || size == 8) << size;
    std::atomic<int> sum{0};
    rt.run([&] { for_loop(dynamic_chunks{size}, 0, 1000, [&](int i) { sum += i; }); });
    EXPECT_EQ(sum, 499'500);
    steps.end(1000);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(tuning, answers_are_right_whatever_policies_do) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    std::atomic<int> decisions{0};
    tuning_options options = steered_by(anything(seed, seed % 2 == 0 ? 0.02 : 0));
    options.told = [&](const steer::decision&, const steer::subject_info&, bool) { ++decisions; };
    runtime rt({.workers = 4, .policy = static_cast<policy>(seed % 6), .companion = tuned(options)});
    work(rt, decisions, seed % 2 == 0 ? 1 : 40);
    EXPECT_GT(decisions, 0);
    EXPECT_GE(rt.active_workers(), 1u);
    EXPECT_LE(rt.active_workers(), 4u);
  }
}

TEST(tuning, our_policies_leave_answers_right) {
  for (const cap_policy which : {cap_policy::tuner, cap_policy::queue_length, cap_policy::power_limit, cap_policy::fit}) {
    std::atomic<int> decisions{0};
    tuning_options options{.workers = true, .grain = true, .policy = which};
    options.period_s = 0.001;
    if (which == cap_policy::power_limit) options.power_limit_w = 1;
    std::atomic<long> asked_count{0};
    options.energy_j = [&asked_count] { return std::optional<double>(static_cast<double>(++asked_count) * 100); };
    options.told = [&](const steer::decision&, const steer::subject_info&, bool) { ++decisions; };
    runtime rt({.workers = 3, .companion = tuned(options)});
    work(rt, decisions, which == cap_policy::fit ? 0 : 2);
  }
}

// The size that a search keeps of steps whose larger sizes take longer and less energy.
std::int64_t size_kept_for(tuning_objective objective) {
  std::atomic<double> joules = 0;
  std::atomic<std::int64_t> size_kept = 0;
  tuning_options options{.grain = true, .objective = objective};
  options.energy_j = [&joules] { return std::optional(joules.load()); };
  options.told = [&](const steer::decision& made, const steer::subject_info& of, bool) {
    if (of.name == "steps" && made.what == outcome::kept) size_kept = made.changes.front().to;
  };
  runtime rt({.workers = 2, .companion = tuned(options)});
  tuned_steps steps(rt, "steps", {1, 2, 4}, 2);
  for (int step = 0; step < 1000 && size_kept == 0; ++step) {
    const auto size = static_cast<double>(steps.begin());
    std::this_thread::sleep_for(std::chrono::duration<double>(0.1 + 0.02 * size));
    joules = joules + 12 / size;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    steps.end(1);
  }
  return size_kept;
}

TEST(tuning, makes_small_what_it_is_told_to) {
  EXPECT_EQ(size_kept_for(tuning_objective::energy), 4);
  EXPECT_EQ(size_kept_for(tuning_objective::time), 1);
}

TEST(tuning, fit_has_no_more_workers_than_there_are_cpus) {
  const std::uint32_t cpus = std::max(1u, runtime::available_cpus());
  std::mutex lock;
  std::vector<std::string> reasons;
  tuning_options options{.workers = true, .policy = cap_policy::fit};
  options.told = [&](const steer::decision& decision, const steer::subject_info&, bool is_applied) {
    const std::lock_guard guard(lock);
    EXPECT_TRUE(is_applied);
    EXPECT_EQ(decision.policy, "fit");
    reasons.push_back(decision.reason);
  };
  runtime rt({.workers = cpus + 3, .companion = tuned(options)});
  while (rt.active_workers() > cpus) EXPECT_EQ(rt.run([] { return fib(16); }), 987);
  // Told after it was applied.
  for (bool has_report = false; !has_report;) {
    std::this_thread::yield();
    const std::lock_guard guard(lock);
    has_report = !reasons.empty();
  }
  const std::lock_guard guard(lock);
  EXPECT_NE(reasons.front().find("CPUs"), std::string::npos) << reasons.front();
}

TEST(tuning, nothing_remains_when_the_runtime_has_gone) {
  {
    runtime first({.workers = 2});
  }  // threads that there is one of in a process
  const std::size_t before = threads();
  for (int i = 0; i < 5; ++i) {
    runtime first({.workers = 2, .companion = tuned({.workers = true})});
    runtime other({.workers = 3, .companion = tuned({.workers = true, .grain = true})});
    EXPECT_EQ(threads(), before + 2 + 3 + 4);
    EXPECT_EQ(first.run([] { return fib(12); }), 144);
    EXPECT_EQ(other.run([] { return fib(12); }), 144);
  }
  EXPECT_EQ(threads(), before);
}

TEST(tuning, two_runtimes_have_a_cap_each) {
  const auto caps_at = [](steer::knob_value cap) {
    return steered_by([cap](const view& now, std::vector<proposal>& out) {
      for (const steer::subject_view& subject : now.subjects)
        if (subject.info.knobs[0].name == "workers") out.push_back({subject.info.id, outcome::set, {{0, cap}}, "", {}, {}});
    });
  };
  runtime first({.workers = 4, .companion = tuned(caps_at(1))}), other({.workers = 4, .companion = tuned(caps_at(3))});
  while (first.active_workers() != 1 || other.active_workers() != 3) std::this_thread::yield();
}

TEST(tuning, is_off_unless_asked_for) {
  EXPECT_FALSE(tuned({}));
  runtime rt({.workers = 2});
  EXPECT_TRUE(rt.loops_adapt());
  EXPECT_EQ(rt.grains(), nullptr);
  tuned_steps steps(rt, "steps", {1, 2}, 2);
  EXPECT_FALSE(steps.may_change());
  EXPECT_EQ(steps.begin(), 2);
  steps.end(1);
  EXPECT_THROW(tuned({.workers = true, .policy = cap_policy::power_limit}), std::invalid_argument);
  EXPECT_THROW(tuned_steps(rt, "steps", {1, 2}, 3), std::invalid_argument);
}

TEST(tuning, a_cap_that_the_program_sets_is_left_to_it) {
  std::atomic<bool> has_decision{false}, has_left{false};
  const auto options = steered_by([&](const view& now, std::vector<proposal>& out) {
    bool is_listed = false;
    for (const steer::subject_view& subject : now.subjects) {
      if (subject.info.knobs[0].name != "workers") continue;
      is_listed = true;
      if (!has_decision) out.push_back({subject.info.id, outcome::set, {{0, 2}}, "", {}, {}});
    }
    if (is_listed) has_decision = true;
    if (has_decision && !is_listed) has_left = true;
  });
  runtime rt({.workers = 4, .companion = tuned(options)});
  while (rt.active_workers() != 2) std::this_thread::yield();
  rt.set_active_workers(3);
  while (!has_left) std::this_thread::yield();
  EXPECT_EQ(rt.active_workers(), 3u);
}

TEST(tuning, loops_take_their_grain_from_the_engine) {
  std::atomic<bool> is_set{false};
  tuning_options options = steered_by([](const view& now, std::vector<proposal>& out) {
    for (const steer::subject_view& subject : now.subjects)
      if (subject.info.knobs[0].name == "grain")
        out.push_back({subject.info.id, outcome::set, {{0, subject.info.knobs[0].values.at(1)}}, "", {}, {}});
  });
  std::string name;
  steer::knob_value grain = 0;
  options.told = [&](const steer::decision& decision, const steer::subject_info& subject, bool is_applied) {
    if (is_set || !is_applied || decision.changes.empty()) return;
    name = subject.name;
    grain = decision.changes[0].to;
    is_set = true;
  };
  runtime rt({.workers = 2, .companion = tuned(options)});
  const auto loop = [&rt](auto&& body) { rt.run([&] { for_loop(0, 4096, body); }); };  // one place
  const auto spin = [](int) {
    for (int i = 0; i < 50; ++i) asm volatile("");
  };
  while (!is_set) loop(spin);
  EXPECT_TRUE(name.starts_with("for_loop at tuning_test.cpp:")) << name;
  EXPECT_GE(grain, 1);
  EXPECT_EQ(grain & (grain - 1), 0) << grain;
}

TEST(tuning, a_policy_that_hangs_is_given_up_and_the_program_goes_on) {
  struct latches {
    std::atomic<bool> is_hanging{false};
    std::latch goes_on{1};
  };
  // Its thread is left behind when the runtime has gone.
  const auto shared = std::make_shared<latches>();
  const std::size_t before = threads();
  {
    tuning_options options = steered_by([shared](const view& now, std::vector<proposal>& out) {
      if (now.subjects[0].in_force[0] == 4) {
        out.push_back({now.subjects[0].info.id, outcome::set, {{0, 2}}, "", {}, {}});
        return;
      }
      shared->is_hanging = true;
      shared->goes_on.wait();
    });
    options.patience_s = 0.5;
    runtime rt({.workers = 4, .companion = tuned(options)});
    while (!shared->is_hanging) EXPECT_EQ(rt.run([] { return fib(14); }), 377);
    EXPECT_EQ(rt.run([] { return fib(14); }), 377);
    EXPECT_EQ(rt.active_workers(), 2u);
  }
  EXPECT_EQ(threads(), before + 1);
  shared->goes_on.count_down();
  while (threads() != before) std::this_thread::yield();
}

}  // namespace
}  // namespace trimtab
