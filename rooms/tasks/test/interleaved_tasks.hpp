// Tasks on the machine of interleaving.hpp, and what tests on it have in common. To be included when `trimtab` means the
// namespace of interleaved.hpp.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "background_of_threads.hpp"
#include "interleaved.hpp"
#include "stack.hpp"
#include "trimtab/tasks/core/misuse.hpp"
#include "trimtab/tasks/core/worker.hpp"

// The machine's threads are workers if are_workers, each with one stack.
namespace trimtab::tasks {
namespace {
bool are_workers = false;
stack stacks[4];
bool is_set_aside[4];
}  // namespace

// There are no messages here.
bool is_background_set() noexcept { return false; }
std::vector<std::shared_ptr<background_work>> background_of_threads() { return {}; }

[[noreturn]] void detail::misused(const char*, const void*) noexcept { std::abort(); }

worker* worker::ask_current() noexcept {
  static char variable;
  return are_workers ? reinterpret_cast<worker*>(&variable) : nullptr;
}

void worker::suspend(wait_reason, const void*, void (*published)(void*, stack&) noexcept, void* argument) noexcept {
  interleaving::machine& score = *interleaving::machine::current();
  const std::size_t index = score.running_thread();
  is_set_aside[index] = true;
  published(argument, stacks[index]);
  if (is_set_aside[index]) score.sleep(&stacks[index]);
}

void worker::ready(stack& suspended) noexcept {
  is_set_aside[&suspended - stacks] = false;
  interleaving::machine::current()->wake(&suspended, 1);
}

namespace {

using interleaving::faults;
using interleaving::machine;
using bodies = std::vector<machine::body>;

#if defined(__SANITIZE_THREAD__)
constexpr bool can_run = false;  // its stacks are not announced; and all runs on one thread
#else
constexpr bool can_run = true;
#endif

class interleaved : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_run) GTEST_SKIP() << "not under ThreadSanitizer";
  }
};

// All schedules with few switches, and some random ones.
template <class model, class make_bodies>
std::string tried(make_bodies&& make_model, bool by_workers, std::uint64_t least_runs = 0) {
  are_workers = by_workers;
  std::unique_ptr<model> current_model;
  machine simulator;
  const auto verdict = [&] { return current_model->verdict(); };
  std::string wrong = simulator.try_all(
      2,
      [&] {
        current_model = std::make_unique<model>();
        return make_model(*current_model);
      },
      verdict);
  EXPECT_GE(simulator.runs(), least_runs);
  if (wrong.empty())
    wrong = simulator.random(
        1, 2'000,
        [&](std::uint64_t) {
          current_model = std::make_unique<model>();
          return make_model(*current_model);
        },
        verdict);
  are_workers = false;
  return wrong;
}

template <class model, class make_bodies>
void expect_well(make_bodies&& make_model) {
  for (const bool by_workers : {false, true}) EXPECT_EQ((tried<model>(make_model, by_workers, 50)), "");
}

}  // namespace
}  // namespace trimtab::tasks
