// A forked process that a test works with.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace trimtab::parcels {

// Runs `work` in a forked process, which ends with its parent at the latest. Fork before there are threads.
class test_process {
 public:
  explicit test_process(const std::function<void()>& work) : m_process(::fork()) {
    if (m_process != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    work();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  ~test_process() {
    if (m_process <= 0) return;
    kill(m_process, SIGKILL);
    waitpid(m_process, nullptr, 0);
  }
  test_process(const test_process&) = delete;
  test_process& operator=(const test_process&) = delete;

  pid_t id() const { return m_process; }
  void send(int signal) const { kill(m_process, signal); }
  // Waits until it has ended by itself and without failures.
  void expect_success() {
    int status = -1;
    EXPECT_EQ(waitpid(m_process, &status, 0), m_process);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "wait status " << status;
    m_process = 0;
  }

 private:
  pid_t m_process;
};

}  // namespace trimtab::parcels
