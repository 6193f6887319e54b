// What is recorded of forks, of which most run in place of who waits for them.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "own_recorder.hpp"
#include "trimtab/tasks/core/invoke.hpp"
#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks {
namespace {

std::uint32_t running_subject() { return worker::current()->running().subject; }

// Of the forks that one function makes.
struct forks_of_one {
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint32_t> subject{0};
  std::atomic<bool> is_mixed{false};

  void runs() {
    ++count;
    std::uint32_t known_subject = 0;
    if (!subject.compare_exchange_strong(known_subject, running_subject()) && known_subject != running_subject())
      is_mixed = true;
  }
  std::string wrong(const std::string& name) {
    const recorded_counts counts = recorded()[subject];
    if (subject == 0 || is_mixed) return "subjects of " + name;
    if (counts.ran != count) return "ran of " + name + ": " + std::to_string(counts.ran) + " of " + std::to_string(count);
    return counts.created == count ? "" : "made of " + name + ": " + std::to_string(counts.created);
  }
};

forks_of_one of_ping, of_pong, of_alone;
std::atomic<bool> is_subject_changed{false};

template <forks_of_one& mine, forks_of_one& others>
void recurse(int n) {
  if (n < 2) return;
  const std::uint32_t previous = running_subject();
  invoke([n] { recurse<others, mine>(n - 1); },
         [n] {
           mine.runs();
           recurse<others, mine>(n - 2);
         });
  if (running_subject() != previous) is_subject_changed = true;
}
// By turns, so that each fork is of another kind than what forks it.
void ping(int n) { recurse<of_ping, of_pong>(n); }
void alone(int n) { recurse<of_alone, of_alone>(n); }

template <std::uint32_t workers>
std::string wrong_of_forks() {
  static trimtab_api api = own_recorder();
  api.code_subject = [](const void* code) { return subject_called(std::to_string(reinterpret_cast<std::uintptr_t>(code))); };
  trimtab_attached_api = &api;
  {
    runtime rt({.workers = workers});
    rt.run([] { invoke([] { ping(20); }, [] { alone(20); }); });
  }
  if (is_subject_changed) return "what runs after a fork";
  if (of_ping.subject == of_pong.subject || of_ping.subject == of_alone.subject) return "subjects";
  return of_ping.wrong("ping") + of_pong.wrong("pong") + of_alone.wrong("alone");
}

TEST(recorded_forks, are_counted_each_under_its_own_function) { expect_nothing_wrong(wrong_of_forks<1>); }
TEST(recorded_forks, are_so_where_some_are_stolen) { expect_nothing_wrong(wrong_of_forks<2>); }

}  // namespace
}  // namespace trimtab::tasks
