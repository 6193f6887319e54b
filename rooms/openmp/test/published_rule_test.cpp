// asat-v1 from the evaluation to the decision: the team that measures and takes a thread by itself, the knobs, the policy.
// How members share the 1000 iterations is scripted: a runtime without threads calls them one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "made_up_record.hpp"
#include "steering/team_evaluation.hpp"
#include "steering/team_sizes.hpp"
#include "trimtab/openmp/thread_steering.hpp"
#include "trimtab/steer/engine.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/thread_fitting/asat_v1.hpp"

namespace trimtab::openmp {
namespace {

enum class sharing { even, uneven };

struct {
  sharing iterations = sharing::even;
  unsigned members = 0, member = 0;
} scripted_team;

void scripted_fork(void (*work)(void*), void* data, unsigned members, unsigned) {
  scripted_team.members = members;
  for (scripted_team.member = 0; scripted_team.member < members; ++scripted_team.member) work(data);
}
void no_barrier() {}
bool scripted_start(long begin, long end, long, long, long* own_begin, long* own_end) {
  const bool is_first = scripted_team.member == 0;
  const long all = end - begin;
  const long uneven_share = is_first ? all : 0;
  *own_begin = begin;
  *own_end = begin + (scripted_team.iterations == sharing::uneven ? uneven_share : all / scripted_team.members);
  return *own_end > *own_begin;
}
bool no_other_chunk(long*, long*) { return false; }
void no_end() {}

class asat_v1_process {
 public:
  asat_v1_process(std::uint32_t own_count, std::uint32_t bad_trig) : m_own_count(own_count) {
    std::construct_at(&the_team_sizes);  // other tests leave rules behind
    set_threads_if_bad(0);
    has(symbol::GOMP_parallel, scripted_fork);
    has(symbol::GOMP_barrier, no_barrier);
    has(symbol::GOMP_loop_dynamic_start, scripted_start);
    has(symbol::GOMP_loop_dynamic_next, no_other_chunk);
    has(symbol::GOMP_loop_end_nowait, no_end);
    thread_steering_options options;
    options.evaluates = thread_steering_options::evaluated::iterations;
    options.bad_spread = 400;
    options.bad_trig = bad_trig;
    options.root = "/nowhere";
    m_steering = std::make_unique<thread_steering>(m_registry, options);
    steer::asat_v1_options tunables;
    tunables.bad_trig = bad_trig;
    m_engine.add(std::make_unique<steer::asat_v1>(tunables));
    begin();
  }
  asat_v1_process(const asat_v1_process&) = delete;
  asat_v1_process& operator=(const asat_v1_process&) = delete;
  ~asat_v1_process() { thread_steering::leave_teams(); }

  // The program forks a region; how many members it gets.
  std::uint32_t region(sharing iterations) {
    scripted_team.iterations = iterations;
    evaluate_if_due({&m_runtime, false}, m_own_count);
    the_team_sizes.fork({1, nullptr}, m_own_count);
    return the_team_sizes.latest();
  }
  void look() {
    steer::snapshot now;
    now.time_s = m_time_s += 0.01;
    m_steering->add_to(now);
    for (const steer::decision& decided : m_engine.step(now)) {
      EXPECT_TRUE(m_knobs.apply(decided));
      if (decided.changes.front().knob == 0) m_thread_decisions.push_back(decided);
    }
  }
  // Until the uneven evaluation was judged, and the next one is asked for.
  std::uint32_t uneven_region() {
    const std::uint32_t members = region(sharing::uneven);
    look();
    look();
    return members;
  }
  const std::vector<steer::decision>& thread_decisions() const { return m_thread_decisions; }

 private:
  template <class function>
  void has(symbol replaced, function* replacement) {
    m_runtime.functions[static_cast<unsigned>(replaced)] = reinterpret_cast<void*>(replacement);
  }
  // The policy is not to see the latest evaluation of another test: an even one follows it.
  void begin() {
    ask_for_evaluation(evaluation_kind::iterations);
    for (int i = 0; i < 2; ++i) region(sharing::even);
    for (int i = 0; i < 2; ++i) look();
  }

  const std::uint32_t m_own_count;
  runtime m_runtime;
  steer::board m_knobs;
  steer::decision_record m_record{std::make_unique<made_up_record>()};
  steer::knob_registry m_registry{m_knobs, m_record};
  std::unique_ptr<thread_steering> m_steering;
  steer::engine m_engine;
  double m_time_s = 0;
  std::vector<steer::decision> m_thread_decisions;
};

TEST(asat_v1_team, keeps_its_threads_when_uneven_evaluations_do_not_follow_each_other) {
  asat_v1_process process_run(2, 2);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(process_run.uneven_region(), 2u) << i;
    for (int others = 0; others <= i; ++others) process_run.region(sharing::even);  // the policy does not see them
  }
  EXPECT_TRUE(process_run.thread_decisions().empty());
}

TEST(asat_v1_team, drops_in_the_region_of_the_second_uneven_evaluation_in_a_row) {
  asat_v1_process process_run(3, 2);
  process_run.uneven_region();
  process_run.region(sharing::even);
  EXPECT_EQ(process_run.uneven_region(), 3u);
  EXPECT_EQ(process_run.uneven_region(), 2u);
  EXPECT_EQ(process_run.uneven_region(), 1u) << "and at each further one";
  ASSERT_EQ(process_run.thread_decisions().size(), 2u);
  const steer::decision& first = process_run.thread_decisions().front();
  EXPECT_EQ(first.changes.front(), (steer::change{0, 3, 2}));
  EXPECT_EQ(first.reason, "threads do unequal shares of 1000 empty iterations");
}

TEST(asat_v1_team, drops_at_one_uneven_evaluation_where_one_is_enough) {
  asat_v1_process process_run(3, 1);
  EXPECT_EQ(process_run.uneven_region(), 2u);
  for (int i = 0; i < 3; ++i) process_run.region(sharing::even);
  EXPECT_EQ(process_run.uneven_region(), 1u);
  EXPECT_EQ(process_run.thread_decisions().size(), 2u);
}

// As printed (Severance 1996), whatever the policy sees of the even evaluations.
TEST(asat_v1_team, has_the_threads_of_the_printed_pseudo_code_and_a_decision_for_each_drop) {
  steer::random_source random(11);
  for (int round = 0; round < 100; ++round) {
    const auto own_count = static_cast<std::uint32_t>(2 + 6 * random.share());
    const auto bad_trig = static_cast<std::uint32_t>(1 + 4 * random.share());
    asat_v1_process process_run(own_count, bad_trig);
    std::uint32_t threads = own_count, bad = 0;
    for (int i = 0; i < 100 && threads > 1; ++i) {
      const bool is_bad = random.share() < 0.5;
      bad = is_bad ? bad + 1 : 0;
      if (bad >= bad_trig) threads -= 1;
      const std::uint64_t before = latest_evaluation().number;
      ASSERT_EQ(is_bad ? process_run.uneven_region() : process_run.region(sharing::even), threads)
          << "round " << round << ", evaluation " << i << ", bad_trig " << bad_trig;
      ASSERT_EQ(latest_evaluation().number, before + 1);
      if (!is_bad && random.share() < 0.3) process_run.look();
      ASSERT_EQ(process_run.thread_decisions().size(), own_count - threads) << "round " << round << ", evaluation " << i;
    }
  }
}

}  // namespace
}  // namespace trimtab::openmp
