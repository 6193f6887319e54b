// By which names tasks of graphs are recorded.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "own_recorder.hpp"
#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/this_task.hpp"
#include "trimtab/tasks/graph/graph.hpp"

namespace trimtab::tasks {
namespace {

const annotation annotated("annotated");

// What is wrong: "" if nothing is.
std::string recorded_wrong() {
  static const trimtab_api api = own_recorder();
  trimtab_attached_api = &api;
  std::string names;
  {
    runtime rt({.workers = 1});
    graph tasks_graph(rt);
    const event<> begin = tasks_graph.make_event("begin");
    for (int i = 0; i < 3; ++i) tasks_graph.task("fill", [&] { names += this_task::name(); }, after(begin));
    // Of storage that is gone when it runs.
    tasks_graph.task("sum " + std::to_string(1), [&] { names += this_task::name(); }, after(begin));
    tasks_graph.task({.name = &annotated}, "named twice", [&] { names += this_task::name(); }, after(begin));
    tasks_graph.task([&] { names += this_task::name(); }, after(begin));
    begin.satisfy();
    tasks_graph.wait();
  }
  if (names != "fillfillfillsum 1annotated") return "this_task::name: " + names;
  const std::map<std::string, std::uint64_t> expected{{"fill", 3}, {"sum 1", 1}, {"annotated", 1}, {"a function", 1}};
  std::string wrong;
  for (const auto& [name, count] : expected)
    if (recorded()[subject_called(name)].ran != count) wrong += name + " ";
  if (subjects().size() != expected.size()) wrong += "others";
  return wrong;
}

TEST(recorded_graphs, tasks_have_the_names_that_they_were_given) { expect_nothing_wrong(recorded_wrong); }

}  // namespace
}  // namespace trimtab::tasks
