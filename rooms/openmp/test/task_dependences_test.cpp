// Which siblings a task depends on: against the rule applied to the whole list of earlier siblings.
#include "accounting/task_dependences.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "hooks/gomp/depend_list.hpp"

namespace trimtab::openmp {
namespace {

using givers = std::set<std::uint64_t>;

class dependences_of_siblings : public ::testing::Test {
 protected:
  void SetUp() override {
    void* const memory =
        mmap(nullptr, sizeof(task_dependences), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    m_table = static_cast<task_dependences*>(memory);
  }
  void TearDown() override { munmap(m_table, sizeof(task_dependences)); }

  givers add(task_scope& scope, std::uint64_t task, const std::vector<dependence>& list) {
    givers result;
    for (const dependence& item : list) m_table->add(scope, item, task, [&](std::uint64_t giver) { result.insert(giver); });
    return result;
  }
  static dependence in(std::uintptr_t address) { return {address, dependence_kind::in}; }
  static dependence out(std::uintptr_t address) { return {address, dependence_kind::out}; }
  static dependence set(std::uintptr_t address) { return {address, dependence_kind::inoutset}; }

  task_dependences* m_table = nullptr;
};

TEST_F(dependences_of_siblings, readers_wait_for_the_writer_and_the_next_writer_for_all_readers) {
  task_scope scope;
  EXPECT_EQ(add(scope, 1, {out(8)}), givers{});
  EXPECT_EQ(add(scope, 2, {in(8)}), givers{1});
  EXPECT_EQ(add(scope, 3, {in(8)}), givers{1});
  EXPECT_EQ(add(scope, 4, {out(8), in(16)}), (givers{2, 3}));
  EXPECT_EQ(add(scope, 5, {in(16), in(8)}), givers{4});
}

TEST_F(dependences_of_siblings, members_of_a_set_do_not_wait_for_each_other) {
  task_scope scope;
  add(scope, 1, {in(8)});
  EXPECT_EQ(add(scope, 2, {set(8)}), givers{1});
  EXPECT_EQ(add(scope, 3, {set(8)}), givers{1});
  EXPECT_EQ(add(scope, 4, {in(8)}), (givers{2, 3}));
}

TEST_F(dependences_of_siblings, children_of_another_task_are_no_siblings) {
  task_scope outer, inner;
  add(outer, 1, {out(8)});
  EXPECT_EQ(add(inner, 2, {out(8)}), givers{});
  m_table->end(inner);
  EXPECT_EQ(add(outer, 3, {in(8)}), givers{1});
}

TEST_F(dependences_of_siblings, all_memory_waits_for_all_and_all_later_ones_wait_for_it) {
  task_scope scope;
  add(scope, 1, {out(8)});
  add(scope, 2, {out(16)});
  EXPECT_EQ(add(scope, 3, {out(0)}), (givers{1, 2}));
  EXPECT_EQ(add(scope, 4, {in(24)}), givers{3});
  EXPECT_EQ(add(scope, 5, {in(24)}), givers{3});
  EXPECT_EQ(add(scope, 6, {out(0)}), (givers{4, 5}));
  EXPECT_EQ(add(scope, 7, {out(0)}), givers{6});
}

TEST_F(dependences_of_siblings, random_lists_have_the_givers_of_the_rule) {
  std::mt19937 random(20240817);
  for (int round = 0; round < 50; ++round) {
    task_scope scope;
    struct earlier {
      std::uint64_t task;
      dependence item;
    };
    std::vector<earlier> siblings;
    for (std::uint64_t task = 1; task <= 200; ++task) {
      const dependence item{8 + 8 * (random() % 5), static_cast<dependence_kind>(1 + random() % 3)};
      // The rule: the latest run of siblings whose kinds differ from this one's, or that run alone.
      std::vector<std::vector<earlier>> runs;
      for (const earlier& sibling : siblings) {
        if (sibling.item.address != item.address) continue;
        const bool joins =
            !runs.empty() && sibling.item.kind != dependence_kind::out && runs.back().back().item.kind == sibling.item.kind;
        if (!joins) runs.emplace_back();
        runs.back().push_back(sibling);
      }
      if (!runs.empty() && item.kind != dependence_kind::out && runs.back().back().item.kind == item.kind) runs.pop_back();
      givers wanted;
      if (!runs.empty())
        for (const earlier& sibling : runs.back()) wanted.insert(sibling.task);
      EXPECT_EQ(add(scope, task, {item}), wanted) << "seed 20240817, round " << round << ", task " << task;
      siblings.push_back({task, item});
    }
    m_table->end(scope);
  }
  EXPECT_EQ(m_table->lost(), 0u);
}

TEST_F(dependences_of_siblings, what_has_no_room_is_counted_and_the_end_of_a_scope_makes_room) {
  for (int round = 0; round < 3; ++round) {
    task_scope scope;
    for (std::uintptr_t address = 1; address <= task_dependences::max_entries / 2; ++address)
      add(scope, address, {out(8 * address)});
    EXPECT_EQ(m_table->lost(), 0u) << round;
    m_table->end(scope);
  }
  task_scope crowded;
  for (std::uintptr_t address = 1; address <= 2 * task_dependences::max_entries; ++address)
    add(crowded, address, {out(8 * address)});
  EXPECT_GE(m_table->lost(), task_dependences::max_entries);
}

std::vector<dependence> items_of(void* const* depend) {
  std::vector<dependence> result;
  for_depend_list(depend,
                  [&](const dependence* list, std::size_t count) { result.insert(result.end(), list, list + count); });
  return result;
}
void* word(std::uintptr_t value) { return reinterpret_cast<void*>(value); }
TEST(depend_lists, the_old_layout_has_outs_first) {
  void* const list[] = {word(3), word(1), word(8), word(16), word(24)};
  const std::vector<dependence> wanted{{8, dependence_kind::out}, {16, dependence_kind::in}, {24, dependence_kind::in}};
  EXPECT_TRUE(items_of(list) == wanted);
}

TEST(depend_lists, the_new_layout_has_depend_objects_last) {
  depend_object reads{40, 1}, writes{48, 3}, joins{56, 5};
  void* const list[] = {word(0), word(6), word(1), word(1), word(1), word(8), word(16), word(24), &reads, &writes, &joins};
  const std::vector<dependence> wanted{{8, dependence_kind::out},  {16, dependence_kind::out},
                                       {24, dependence_kind::in},  {40, dependence_kind::in},
                                       {48, dependence_kind::out}, {56, dependence_kind::inoutset}};
  EXPECT_TRUE(items_of(list) == wanted);
}

TEST(depend_lists, long_ones_come_in_parts) {
  std::vector<void*> list{word(40), word(0)};
  for (std::uintptr_t i = 1; i <= 40; ++i) list.push_back(word(8 * i));
  const std::vector<dependence> items = items_of(list.data());
  ASSERT_EQ(items.size(), 40u);
  EXPECT_EQ(items.back().address, 320u);
}

}  // namespace
}  // namespace trimtab::openmp
