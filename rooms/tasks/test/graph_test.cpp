#include "trimtab/tasks/graph/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "on_policies.hpp"
#include "support.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks {
namespace {

class graphs : public on_a_runtime {};
INSTANTIATE_TEST_SUITE_P(tasks, graphs, all_policies({1, 2, 5}), name_of_case);

// Random graphs: each task changes one block from what it reads in two others, after up to two earlier tasks and after
// all earlier ones that use these blocks. The serial answer: the same one after the other.
struct model {
  static constexpr std::size_t blocks = 8, values = 16;
  struct step {
    std::size_t target, first_input, second_input;
    bool is_shared;  // read_write in place of exclusive_write
  };
  static void run(std::span<const long> input, std::span<const long> right, std::span<long> output, long number) {
    for (std::size_t i = 0; i < values; ++i)
      output[i] = (output[i] * 3 + input[i] * 5 + right[(i + 1) % values] + number) % 10007;
  }
};

TEST_P(graphs, random_ones_do_what_serial_execution_does) {
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<model::step> steps(200);
    for (auto& element : steps) {
      element.target = random() % model::blocks;
      do element.first_input = random() % model::blocks;
      while (element.first_input == element.target);
      do element.second_input = random() % model::blocks;
      while (element.second_input == element.target);
      element.is_shared = random() % 2 == 0;
    }
    std::vector<std::vector<long>> expected(model::blocks, std::vector<long>(model::values, 1));
    for (std::size_t i = 0; i < steps.size(); ++i)
      model::run(expected[steps[i].first_input], expected[steps[i].second_input], expected[steps[i].target],
                 static_cast<long>(i));

    graph g(rt);
    std::vector<block<long>> data;
    for (std::size_t i = 0; i < model::blocks; ++i) {
      data.push_back(g.make_block<long>(model::values));
      std::fill_n(data.back().values().begin(), model::values, 1);
    }
    // Dependences as a compiler would find them: on the last writer of each, and on its readers since.
    std::vector<output<>> created;
    std::vector<std::vector<std::size_t>> users(model::blocks);  // the last writer first
    std::vector<std::atomic<int>> runs(steps.size());
    std::atomic<int> wrong_order{0};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const model::step position = steps[i];
      std::vector<std::size_t> previous_steps(users[position.target]);
      for (const std::size_t source : {position.first_input, position.second_input})
        if (!users[source].empty()) previous_steps.push_back(users[source].front());
      std::sort(previous_steps.begin(), previous_steps.end());
      previous_steps.erase(std::unique(previous_steps.begin(), previous_steps.end()), previous_steps.end());
      event<> every_event = g.make_latch(static_cast<std::int64_t>(previous_steps.size()) + 1);
      for (const std::size_t element : previous_steps)
        g.task([every_event] { every_event.satisfy(); }, after(created[element]));
      const auto call = [&, i, previous_steps](std::span<const long> input, std::span<const long> right,
                                               std::span<long> output) {
        for (const std::size_t element : previous_steps) wrong_order += runs[element].load() != 1;
        model::run(input, right, output, static_cast<long>(i));
        runs[i] += 1;
      };
      if (position.is_shared)
        created.push_back(g.task("shared", call, read_only(data[position.first_input]),
                                 read_only(data[position.second_input]), read_write(data[position.target]),
                                 after(every_event)));
      else
        created.push_back(g.task("alone", call, read_only(data[position.first_input]),
                                 read_only(data[position.second_input]), exclusive_write(data[position.target]),
                                 after(every_event)));
      every_event.satisfy();
      users[position.target].assign(1, i);
      users[position.first_input].push_back(i);
      users[position.second_input].push_back(i);
    }
    g.wait();
    EXPECT_EQ(wrong_order.load(), 0);
    for (auto& element : runs) ASSERT_EQ(element.load(), 1);
    for (std::size_t i = 0; i < model::blocks; ++i)
      EXPECT_TRUE(std::equal(expected[i].begin(), expected[i].end(), data[i].values().begin())) << "seed " << seed;
  }
}

// Tasks that make tasks, and give blocks on.
output<long> fib(graph& g, long n) {
  if (n < 2)
    return g.task([&g, n] {
      auto created = g.make_block<long>(1);
      created.values()[0] = n;
      return created;
    });
  const event<long> sum = g.make_event<long>();
  g.task([&g, n, sum] {
    g.task(
        [&g, sum](std::span<const long> a, std::span<const long> b) {
          auto created = g.make_block<long>(1);
          created.values()[0] = a[0] + b[0];
          sum.satisfy(created);
        },
        read_only(fib(g, n - 1)), constant(fib(g, n - 2)));
  });
  return sum;
}

TEST_P(graphs, grow_while_they_run) {
  graph g(rt);
  const output<long> result = fib(g, 14);
  g.wait();
  EXPECT_EQ(result.result().values()[0], 377);
}

// Nobody is in a block together with whom it excludes, whatever is asked for in whatever order; and nothing is stuck.
TEST_P(graphs, conflicting_tasks_take_turns) {
  struct watched {
    std::atomic<int> readers{0}, sharers{0}, alone{0};
  };
  std::mt19937_64 random(7);
  graph g(rt);
  std::vector<block<int>> data;
  std::vector<watched> watch(4);
  for (int i = 0; i < 4; ++i) data.push_back(g.make_block<int>(100));
  std::atomic<int> wrong{0}, runs{0};
  const auto use = [&](std::size_t index, std::atomic<int> watched::* label) {
    watched& watched_block = watch[index];
    (watched_block.*label) += 1;
    wrong += (watched_block.readers > 0) + (watched_block.sharers > 0) + (watched_block.alone > 0) != 1 ||
             watched_block.alone > 1;
    for (int i = 0; i < 20; ++i) watched_block.readers.load();
    (watched_block.*label) -= 1;
  };
  for (int i = 0; i < 3000; ++i) {
    const std::size_t a = random() % 4, b = (a + 1 + random() % 3) % 4;
    switch (random() % 4) {
      case 0:
        g.task(
            [&, a, b](std::span<int> x, std::span<int> y) {
              use(a, &watched::alone);
              use(b, &watched::alone);
              x[0] += 1;
              y[1] += 1;
              ++runs;
            },
            exclusive_write(data[a]), exclusive_write(data[b]));
        break;
      case 1:
        g.task(
            [&, a, b](std::span<const int>, std::span<int> y) {
              use(a, &watched::readers);
              use(b, &watched::alone);
              y[1] += 1;
              ++runs;
            },
            read_only(data[a]), exclusive_write(data[b]));
        break;
      case 2:
        g.task(
            [&, a, b](std::span<int>, std::span<const int>, std::span<const int>) {
              use(a, &watched::sharers);
              use(b, &watched::readers);
              ++runs;
            },
            read_write(data[a]), read_only(data[b]), read_only(data[b]));
        break;
      default:
        g.task(
            [&, a](std::span<const int>) {
              use(a, &watched::readers);
              ++runs;
            },
            read_only(data[a]));
    }
  }
  g.wait();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(runs.load(), 3000);
}

TEST_P(graphs, slots_that_are_never_satisfied_are_told_and_may_be_later) {
  graph g(rt);
  const event<> start = g.make_event("go");
  int runs = 0;
  const auto first = g.task("first", [&] { ++runs; }, after(start));
  g.task("second", [&] { ++runs; }, after(first), after(g.make_latch(2, "twice")));
  const std::string text = thrown_text<graph_error>([&] { g.wait(); });
  EXPECT_TRUE(contains(text, "of 2 tasks not all slots are satisfied"));
  EXPECT_TRUE(contains(text, first.text() + ": slot 0 waits for " + start.text()));
  EXPECT_TRUE(contains(text, "(second): slot 0 waits for " + first.text()));
  start.satisfy();
  EXPECT_TRUE(contains(thrown_text<graph_error>([&] { g.wait(); }), "slot 1 waits for event"));
  EXPECT_EQ(runs, 1);
}

TEST_P(graphs, an_exception_keeps_what_depends_on_it_from_running) {
  graph g(rt);
  std::atomic<int> runs{0};
  const auto fails = g.task("fails", [] { throw std::runtime_error("here"); });
  g.task([&] { ++runs; }, after(fails));
  for (int i = 0; i < 50; ++i) g.task([&] { ++runs; });
  EXPECT_THROW(g.wait(), std::runtime_error);
  EXPECT_EQ(runs.load(), 50);
}

TEST(graph, events_are_satisfied_as_often_as_their_kind_says) {
  runtime rt({.workers = 2});
  graph g(rt);
  const event<> single_event = g.make_event("start");
  single_event.satisfy();
  EXPECT_TRUE(contains(thrown_text<graph_error>([&] { single_event.satisfy(); }),
                       single_event.text() + " may be satisfied once, and has been already"));
  EXPECT_TRUE(contains(thrown_text<graph_error>([&] { single_event.count_up(); }), "it is no latch"));
  const event<> sticky = g.make_event({}, event_kind::sticky);
  sticky.satisfy();
  sticky.satisfy();
  const event<> latch = g.make_latch(1);
  latch.count_up();
  latch.satisfy();
  EXPECT_FALSE(latch.has_happened());
  latch.satisfy();
  EXPECT_TRUE(latch.has_happened());
  EXPECT_TRUE(contains(thrown_text<graph_error>([&] { latch.satisfy(); }), "has been counted down already"));
  EXPECT_TRUE(contains(thrown_text<graph_error>([&] { g.make_latch(0); }), "count 0, expected at least 1"));
  int runs = 0;
  g.task([&] { ++runs; }, after(single_event), after(sticky), after(latch));
  g.wait();
  EXPECT_EQ(runs, 1);
}

TEST(graph, who_writes_to_what_is_constant_is_refused_by_name) {
  runtime rt({.workers = 2});
  graph g(rt);
  const auto data = g.make_block<int>(3, "field");
  const event<> start = g.make_event();
  const auto late = g.task("late", [](std::span<int>) {}, exclusive_write(data), after(start));
  g.task([](std::span<const int>) {}, constant(data));
  EXPECT_TRUE(contains(thrown_text<graph_error>([&] { g.wait(); }), "slot 1 waits for"));
  EXPECT_TRUE(contains(thrown_text<graph_error>([&] { g.task("later", [](std::span<int>) {}, read_write(data)); }),
                       "(later): slot 0 wants read_write access to " + data.id().text("field") + ", which is constant"));
  start.satisfy();
  EXPECT_TRUE(
      contains(thrown_text<graph_error>([&] { g.wait(); }),
               late.text() + ": slot 0 wants exclusive_write access to " + data.id().text("field") + ", which is constant"));
}

TEST(graph, a_task_must_not_want_one_block_in_ways_that_exclude_each_other) {
  runtime rt({.workers = 1});
  graph g(rt);
  const auto data = g.make_block<int>(3);
  g.task([](std::span<int>, std::span<const int>) {}, exclusive_write(data), constant(data));
  const std::string text = thrown_text<graph_error>([&] { g.wait(); });
  EXPECT_TRUE(contains(text, "access to " + data.id().text()));
  EXPECT_TRUE(contains(text, "which its slot"));
  int runs = 0;
  g.task([&](std::span<const int>, std::span<const int>) { ++runs; }, read_only(data), constant(data));
  g.wait();
  EXPECT_EQ(runs, 1);
}

TEST(graph, destroyed_blocks_go_when_nobody_uses_them) {
  runtime rt({.workers = 2});
  graph g(rt);
  auto data = g.make_block<int>(1000, "gone");
  const int* const memory = data.values().data();
  int observed = 0;
  g.task(
      [&, data](std::span<int> part) {
        data.destroy();
        part[999] = 5;
        observed = part[999];
      },
      exclusive_write(data));
  g.wait();
  EXPECT_EQ(observed, 5);
  EXPECT_TRUE(contains(thrown_text<graph_error>([&] { data.values(); }), "(gone) has been destroyed"));
  EXPECT_TRUE(contains(thrown_text<graph_error>([&] { g.task([](std::span<const int>) {}, read_only(data)); }),
                       "which has been destroyed"));
  // Its memory serves the next.
  EXPECT_EQ(g.make_block<int>(900).values().data(), memory);
}

TEST(graph, a_task_that_would_wait_is_told_so) {
  runtime rt({.workers = 2});
  graph g(rt);
  promise<int> unfulfilled;
  const auto waits = g.task("waiter", [from = unfulfilled.get_future()]() mutable { static_cast<void>(from.get()); });
  EXPECT_TRUE(contains(thrown_text<graph_error>([&] { g.wait(); }), waits.text() + " of a graph would wait for a future"));
  g.task("inner", [&] { g.wait(); });
  EXPECT_TRUE(contains(thrown_text<graph_error>([&] { g.wait(); }), "would wait for its graph"));
}

TEST(graph, values_are_for_who_excludes_no_task) {
  runtime rt({.workers = 1});
  graph g(rt);
  const auto data = g.make_block<int>(2);
  g.task([data](std::span<int>) { data.values(); }, read_write(data));
  EXPECT_TRUE(contains(thrown_text<graph_error>([&] { g.wait(); }), data.id().text() + " is in use by a task"));
}

TEST(graph, what_outlives_it) {
  runtime rt({.workers = 2});
  event<> left;
  block<int> data;
  {
    graph g(rt);
    left = g.make_event("left");
    data = g.make_block<int>(5);
    g.task([](std::span<int>) {}, read_write(data), after(left));
  }
  EXPECT_TRUE(
      contains(thrown_text<graph_error>([&] { left.satisfy(); }), left.text() + " is satisfied, but its graph has ended"));
  data.values()[4] = 1;
}

TEST(graph, identities_are_unique_and_printable) {
  runtime rt({.workers = 1});
  graph g(rt);
  const auto a = g.make_block<int>(1, "a");
  const auto b = g.make_block<int>(1);
  EXPECT_LT(a.id(), b.id());
  EXPECT_TRUE(contains(a.id().text(a.name()), "block "));
  EXPECT_TRUE(contains(a.id().text(a.name()), " (a)"));
  EXPECT_EQ(g.task("t", [] {}).id().object_kind(), identity::kind::task);
}

}  // namespace
}  // namespace trimtab::tasks
