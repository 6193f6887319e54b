// The contract of policies/contract.hpp, kept by all six: random operations on the policy object against a plain set.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "policies/abp_priority.hpp"
#include "policies/hierarchy.hpp"
#include "policies/local.hpp"
#include "policies/local_priority.hpp"
#include "policies/periodic_priority.hpp"
#include "policies/static_priority.hpp"

namespace trimtab::tasks {
namespace {

constexpr search patient{1000};  // may use force

template <class policy>
constexpr bool has_priorities = !std::is_same_v<policy, local> && !std::is_same_v<policy, hierarchy>;

// A policy and its queues, and what must be inside.
template <class policy>
class modelled {
 public:
  modelled(std::uint32_t workers, const std::vector<std::uint32_t>& domains, std::uint64_t seed)
      : m_queues(workers, domains, policy::offers), m_policy(m_queues), m_random(seed) {}

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(m_random() % limit); }

  // As worker::push.
  void push(std::uint32_t worker, priority level) {
    task& made = make(level);
    if (policy::keeps_own && level == priority::normal)
      m_queues[worker].normal.push(made);
    else
      m_policy.push(m_queues, worker, made);
  }
  void fork(std::uint32_t worker) { m_queues[worker].normal.push(make(priority::normal)); }
  task& put(priority level, std::int32_t hint) {
    task& made = make(level);
    m_policy.put(m_queues, made, hint);
    return made;
  }

  void take_newest(std::uint32_t worker) {
    if (m_inside.empty()) return;
    auto which = m_inside.begin();
    std::advance(which, below(static_cast<std::uint32_t>(std::min<std::size_t>(m_inside.size(), 8))));
    task* const wanted = *which;
    if (m_queues[worker].normal.take(*wanted)) leaves(wanted);
  }

  task* next(std::uint32_t worker, search how) {
    const bool may_find = m_policy.may_find(m_queues, worker);
    const queue_counts& counts = m_queues[worker].counts;
    const std::uint64_t accesses = counts.accesses.get(), misses = counts.misses.get();
    const std::uint64_t stolen = counts.stolen.get(), steals = counts.steals.get();
    const std::uint32_t own = own_length(worker);
    bool is_offered = false;
    task* const found = m_policy.next(m_queues, worker, how, is_offered);
    EXPECT_TRUE(may_find || found == nullptr) << "found what may_find denied";
    EXPECT_TRUE(!may_find || found != nullptr || !how.may_raid()) << "not found by force what may_find promised";
    EXPECT_LE(m_inside.empty(), found == nullptr);
    const std::uint64_t looks = counts.accesses.get() - accesses, vain = counts.misses.get() - misses;
    EXPECT_GE(looks, 1u);
    EXPECT_TRUE(vain == looks || (vain == looks - 1 && found != nullptr));
    const std::uint64_t more = counts.stolen.get() - stolen;
    EXPECT_EQ(counts.steals.get() - steals, more == 0 ? 0u : 1u);
    if constexpr (!std::is_same_v<policy, hierarchy>) {
      EXPECT_EQ(looks, 1u);
      // All but the one that is run go to the thief's own queues.
      EXPECT_EQ(own_length(worker), own + (more == 0 ? 0 : more - 1) - (vain == 0 ? 1 : 0));
      if (found != nullptr && vain == 1 && found->level != priority::low) {
        EXPECT_GE(more, 1u);
      }
    }
    EXPECT_TRUE(vain == looks || more == 0) << "stolen though there was something of its own";
    if (found != nullptr) leaves(found);
    return found;
  }

  void set_active(std::uint32_t count) { m_queues.active.store(count); }
  std::uint32_t active() const { return m_queues.active.load(); }
  std::uint32_t workers() const { return m_queues.size(); }
  const std::set<task*>& inside() const { return m_inside; }

  void check_length() {
    EXPECT_EQ(m_queues.tasks(), m_inside.size());
    bool may_any = false;
    for (std::uint32_t worker = 0; worker < active(); ++worker) may_any |= m_policy.may_find(m_queues, worker);
    EXPECT_EQ(may_any, !m_inside.empty()) << "whether some worker below the cap would look on";
  }

  // Every worker below the cap in turn, until all is out.
  void drain() {
    for (std::uint32_t in_vain = 0; !m_inside.empty(); ++in_vain) {
      ASSERT_LT(in_vain, active()) << m_inside.size() << " tasks cannot be found";
      for (std::uint32_t worker = 0; worker < active(); ++worker)
        while (next(worker, patient) != nullptr) in_vain = 0;
    }
    check_length();
  }

 private:
  task& make(priority level) {
    m_all.push_back(std::make_unique<task>());
    task& made = *m_all.back();
    made.level = level;
    m_inside.insert(&made);
    return made;
  }
  void leaves(task* which) { EXPECT_EQ(m_inside.erase(which), 1u) << "a task came out twice"; }
  std::uint32_t own_length(std::uint32_t worker) { return m_queues[worker].tasks(); }

  queues m_queues;
  policy m_policy;
  std::mt19937_64 m_random;
  std::vector<std::unique_ptr<task>> m_all;
  std::set<task*> m_inside;
};

template <class policy>
class policies : public ::testing::Test {};
struct names {
  template <class policy>
  static std::string GetName(int) {
    return policy::name;
  }
};
using all_six = ::testing::Types<local, local_priority, abp_priority, hierarchy, static_priority, periodic_priority>;
TYPED_TEST_SUITE(policies, all_six, names);

TYPED_TEST(policies, random_operations_agree_with_a_set) {
  for (const std::uint32_t workers : {1u, 2u, 3u, 5u, 8u, 13u})
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      SCOPED_TRACE("workers " + std::to_string(workers) + ", seed " + std::to_string(seed));
      const std::vector<std::uint32_t> domains =
          seed % 3 == 0 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{0, 0, 1};
      modelled<TypeParam> model(workers, domains, seed);
      // So that queues are empty at some times, and grow at others.
      const std::uint32_t share_of_pushes = 30 + model.below(50);
      for (int step = 0; step < 4000 && !this->HasFailure(); ++step) {
        const auto level = static_cast<priority>(model.below(3));
        const std::uint32_t worker = model.below(workers);
        if (model.below(100) < share_of_pushes) {
          switch (model.below(4)) {
            case 0:
              model.push(worker, level);
              break;
            case 1:
              model.push(worker, priority::normal);
              break;
            case 2:
              model.fork(worker);
              break;
            default:
              model.put(level, static_cast<std::int32_t>(model.below(workers + 1)) - 1);
          }
        } else if (model.below(4) == 0) {
          model.take_newest(worker);
        } else {
          model.next(model.below(model.active()), search{model.below(4) == 0 ? 1000u : model.below(100)});
        }
        if (model.below(200) == 0) model.set_active(1 + model.below(workers));
        if (step % 16 == 0) model.check_length();
      }
      if (this->HasFailure()) return;
      model.drain();
      if (this->HasFatalFailure()) return;
    }
}

TYPED_TEST(policies, one_worker_serves_high_before_normal_before_low) {
  if constexpr (has_priorities<TypeParam>) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      modelled<TypeParam> model(1, {}, seed);
      for (int i = 0; i < 200; ++i) {
        const auto level = static_cast<priority>(model.below(3));
        if (model.below(2) == 0)
          model.push(0, level);
        else
          model.put(level, -1);
      }
      priority last = priority::high;
      while (!model.inside().empty()) {
        task* const found = model.next(0, {});
        ASSERT_NE(found, nullptr);
        ASSERT_GE(found->level, last) << "seed " << seed;
        last = found->level;
      }
    }
  }
}

// A worker that pushes and takes has tasks that it has not offered; they are found by force while it does nothing.
TYPED_TEST(policies, what_an_owner_hides_is_found_by_force) {
  if constexpr (!std::is_same_v<TypeParam, static_priority>) {
    modelled<TypeParam> model(2, {}, 1);
    for (int i = 0; i < 1000; ++i) model.fork(0);
    std::size_t found = 0;
    while (model.next(1, patient) != nullptr) ++found;
    EXPECT_EQ(found, 1000u);
  }
}

TYPED_TEST(policies, work_from_outside_is_not_kept_waiting_by_work_that_makes_work) {
  modelled<TypeParam> model(1, {}, 1);
  model.push(0, priority::normal);
  task* const outside = &model.put(priority::normal, -1);
  int steps = 0;
  for (; steps < 1000 && model.inside().count(outside) != 0; ++steps) {
    model.push(0, priority::normal);
    ASSERT_NE(model.next(0, {}), nullptr);
  }
  EXPECT_LT(steps, 100);
}

}  // namespace
}  // namespace trimtab::tasks
