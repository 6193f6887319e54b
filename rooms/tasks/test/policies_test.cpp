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

  std::uint32_t random_below(std::uint32_t limit) { return static_cast<std::uint32_t>(m_random() % limit); }

  // As worker::push.
  void push(std::uint32_t worker, priority level) {
    task& created = make_task(level);
    if (policy::keeps_own && level == priority::normal)
      m_queues[worker].normal.push(created);
    else
      m_policy.push(m_queues, worker, created);
  }
  void fork(std::uint32_t worker) { m_queues[worker].normal.push(make_task(priority::normal)); }
  task& place(priority level, std::int32_t hint) {
    task& created = make_task(level);
    m_policy.place(m_queues, created, hint);
    return created;
  }

  void take_newest(std::uint32_t worker) {
    if (m_queued.empty()) return;
    auto index = m_queued.begin();
    std::advance(index, random_below(static_cast<std::uint32_t>(std::min<std::size_t>(m_queued.size(), 8))));
    task* const wanted = *index;
    if (m_queues[worker].normal.claim(*wanted)) leaves(wanted);
  }

  task* next(std::uint32_t worker, search effort) {
    const bool may_find = m_policy.may_find(m_queues, worker);
    const queue_counts& counts = m_queues[worker].counts;
    const std::uint64_t accesses = counts.accesses.get(), misses = counts.misses.get();
    const std::uint64_t stolen = counts.stolen.get(), steals = counts.steals.get();
    const std::uint32_t own_count = own_length(worker);
    bool is_offered = false;
    task* const item = m_policy.next(m_queues, worker, effort, is_offered);
    EXPECT_TRUE(may_find || item == nullptr) << "found what may_find denied";
    EXPECT_TRUE(!may_find || item != nullptr || !effort.may_raid()) << "not found by force what may_find promised";
    EXPECT_LE(m_queued.empty(), item == nullptr);
    const std::uint64_t looks = counts.accesses.get() - accesses, vain = counts.misses.get() - misses;
    EXPECT_GE(looks, 1u);
    EXPECT_TRUE(vain == looks || (vain == looks - 1 && item != nullptr));
    const std::uint64_t extra = counts.stolen.get() - stolen;
    EXPECT_EQ(counts.steals.get() - steals, extra == 0 ? 0u : 1u);
    if constexpr (!std::is_same_v<policy, hierarchy>) {
      EXPECT_EQ(looks, 1u);
      // All but the one that is run go to the thief's own queues.
      EXPECT_EQ(own_length(worker), own_count + (extra == 0 ? 0 : extra - 1) - (vain == 0 ? 1 : 0));
      if (item != nullptr && vain == 1 && item->level != priority::low) {
        EXPECT_GE(extra, 1u);
      }
    }
    EXPECT_TRUE(vain == looks || extra == 0) << "stolen though there was something of its own";
    if (item != nullptr) leaves(item);
    return item;
  }

  void set_active(std::uint32_t count) { m_queues.active.store(count); }
  std::uint32_t active() const { return m_queues.active.load(); }
  std::uint32_t workers() const { return m_queues.size(); }
  const std::set<task*>& queued() const { return m_queued; }

  void check_length() {
    EXPECT_EQ(m_queues.tasks(), m_queued.size());
    bool can_find = false;
    for (std::uint32_t worker = 0; worker < active(); ++worker) can_find |= m_policy.may_find(m_queues, worker);
    EXPECT_EQ(can_find, !m_queued.empty()) << "whether some worker below the cap would look on";
  }

  // Every worker below the cap in turn, until all is out.
  void drain() {
    for (std::uint32_t in_vain = 0; !m_queued.empty(); ++in_vain) {
      ASSERT_LT(in_vain, active()) << m_queued.size() << " tasks cannot be found";
      for (std::uint32_t worker = 0; worker < active(); ++worker)
        while (next(worker, patient) != nullptr) in_vain = 0;
    }
    check_length();
  }

 private:
  task& make_task(priority level) {
    m_tasks.push_back(std::make_unique<task>());
    task& created = *m_tasks.back();
    created.level = level;
    m_queued.insert(&created);
    return created;
  }
  void leaves(task* item) { EXPECT_EQ(m_queued.erase(item), 1u) << "a task came out twice"; }
  std::uint32_t own_length(std::uint32_t worker) { return m_queues[worker].tasks(); }

  queues m_queues;
  policy m_policy;
  std::mt19937_64 m_random;
  std::vector<std::unique_ptr<task>> m_tasks;
  std::set<task*> m_queued;
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
      const std::uint32_t share_of_pushes = 30 + model.random_below(50);
      for (int step = 0; step < 4000 && !this->HasFailure(); ++step) {
        const auto level = static_cast<priority>(model.random_below(3));
        const std::uint32_t worker = model.random_below(workers);
        if (model.random_below(100) < share_of_pushes) {
          switch (model.random_below(4)) {
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
              model.place(level, static_cast<std::int32_t>(model.random_below(workers + 1)) - 1);
          }
        } else if (model.random_below(4) == 0) {
          model.take_newest(worker);
        } else {
          model.next(model.random_below(model.active()),
                     search{model.random_below(4) == 0 ? 1000u : model.random_below(100)});
        }
        if (model.random_below(200) == 0) model.set_active(1 + model.random_below(workers));
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
        const auto level = static_cast<priority>(model.random_below(3));
        if (model.random_below(2) == 0)
          model.push(0, level);
        else
          model.place(level, -1);
      }
      priority last = priority::high;
      while (!model.queued().empty()) {
        task* const item = model.next(0, {});
        ASSERT_NE(item, nullptr);
        ASSERT_GE(item->level, last) << "seed " << seed;
        last = item->level;
      }
    }
  }
}

// A worker that pushes and takes has tasks that it has not offered; they are found by force while it does nothing.
TYPED_TEST(policies, what_an_owner_hides_is_found_by_force) {
  if constexpr (!std::is_same_v<TypeParam, static_priority>) {
    modelled<TypeParam> model(2, {}, 1);
    for (int i = 0; i < 1000; ++i) model.fork(0);
    std::size_t count = 0;
    while (model.next(1, patient) != nullptr) ++count;
    EXPECT_EQ(count, 1000u);
  }
}

TYPED_TEST(policies, work_from_outside_is_not_kept_waiting_by_work_that_makes_work) {
  modelled<TypeParam> model(1, {}, 1);
  model.push(0, priority::normal);
  task* const external_task = &model.place(priority::normal, -1);
  int steps = 0;
  for (; steps < 1000 && model.queued().count(external_task) != 0; ++steps) {
    model.push(0, priority::normal);
    ASSERT_NE(model.next(0, {}), nullptr);
  }
  EXPECT_LT(steps, 100);
}

}  // namespace
}  // namespace trimtab::tasks
