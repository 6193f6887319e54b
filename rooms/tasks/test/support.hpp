// What several tests need: texts of errors, what a runtime and this process have done, children, tasks by hand.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::tasks {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr int slower = 10;
#else
inline constexpr int slower = 1;
#endif

// What an `error` says that call() throws.
template <class error, class function>
std::string thrown_text(function&& call) {
  try {
    call();
  } catch (const error& thrown) {
    return thrown.what();
  }
  return "nothing was thrown";
}

inline ::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
}

// A task that calls a function, as often as it is submitted.
struct calling_task : task {
  explicit calling_task(std::function<void()> called) : call(std::move(called)) {
    run = [](task& self, place) noexcept { static_cast<calling_task&>(self).call(); };
  }
  std::function<void()> call;
};

inline std::uint64_t times_parked(const runtime& rt) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < rt.workers(); ++i) sum += rt.counters(i).parked.get();
  return sum;
}

// Of all threads of this process.
inline std::chrono::microseconds processor_time() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// Whether there comes a window in which the process uses less than `limit`: workers rest sooner or later, later on a loaded
// machine.
inline bool comes_to_rest(std::chrono::microseconds window, std::chrono::microseconds limit) {
  for (int i = 0; i < 30; ++i) {
    const auto start = processor_time();
    std::this_thread::sleep_for(window);
    if (processor_time() - start < limit) return true;
  }
  return false;
}

// What the child's checks say: 0 is well. It leaves by exit or by _exit; whoever hangs is killed.
enum class leaving { by_exit, by_quick_exit };
template <class function>
int status_of_child(leaving ending, function&& in_child) {
  const pid_t child = ::fork();
  if (child == 0) {
    alarm(60);
    const int status = in_child();
    if (ending == leaving::by_exit) std::exit(status);
    _exit(status);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace trimtab::tasks
