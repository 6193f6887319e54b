// Processes that are members of a registry and do what the test says, one word at a time. They are killed with the test.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "trimtab/base/clock.hpp"
#include "trimtab/observe/cpu_registry.hpp"

namespace trimtab::observe::testing {

class registry_child {
 public:
  struct answer {
    std::uint32_t others = 0, share = 0, is_alone = 0;
  };

  explicit registry_child(const std::string& path, std::uint32_t wanted = 4, cpu_fold allowed = {}) {
    int to[2], from[2];
    EXPECT_EQ(pipe(to), 0);
    EXPECT_EQ(pipe(from), 0);
    m_pid = fork();
    if (m_pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      live(path, wanted, allowed, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    m_to = to[1];
    m_from = from[0];
  }
  registry_child(registry_child&& other) noexcept
      : m_pid(std::exchange(other.m_pid, -1)),
        m_to(std::exchange(other.m_to, -1)),
        m_from(std::exchange(other.m_from, -1)) {}
  ~registry_child() {
    if (m_pid < 0) return;
    kill_it();
    reap();
    close(m_to);
    close(m_from);
  }

  pid_t pid() const { return m_pid; }
  answer beat(std::uint64_t now_ns, std::uint32_t cpus) {
    tell({'b', cpus, now_ns});
    answer heard;
    EXPECT_EQ(read(m_from, &heard, sizeof heard), static_cast<ssize_t>(sizeof heard));
    return heard;
  }
  // Beats so often as fast as it can, with nobody waiting for it.
  void begin_beating(std::uint64_t times) { tell({'r', 0, times}); }
  void leave() {
    tell({'q', 0, 0});
    reap();
  }
  void kill_it() const { kill(m_pid, SIGKILL); }
  void reap() {
    if (!std::exchange(m_is_reaped, true)) waitpid(m_pid, nullptr, 0);
  }

 private:
  struct word {
    char what;
    std::uint32_t cpus;
    std::uint64_t value;
  };
  void tell(const word& what) const { EXPECT_EQ(write(m_to, &what, sizeof what), static_cast<ssize_t>(sizeof what)); }

  [[noreturn]] static void live(const std::string& path, std::uint32_t wanted, const cpu_fold& allowed, int in, int out) {
    cpu_registry registry(path.c_str());
    word heard{};
    while (read(in, &heard, sizeof heard) == static_cast<ssize_t>(sizeof heard)) {
      if (heard.what == 'r')
        for (std::uint64_t i = 0; i < heard.value; ++i) registry.beat(base::monotonic_ns(), wanted, wanted, allowed);
      if (heard.what == 'q') {
        registry.leave();
        break;
      }
      if (heard.what != 'b') continue;
      registry.beat(heard.value, wanted, wanted, allowed);
      const answer told{static_cast<std::uint32_t>(registry.others()), registry.share(heard.cpus, 0),
                        registry.why_alone()[0] != '\0'};
      if (write(out, &told, sizeof told) != static_cast<ssize_t>(sizeof told)) break;
    }
    _exit(0);
  }

  pid_t m_pid = -1;
  int m_to = -1, m_from = -1;
  bool m_is_reaped = false;
};

}  // namespace trimtab::observe::testing
