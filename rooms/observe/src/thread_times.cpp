#include "trimtab/observe/thread_times.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "trimtab/base/read_file.hpp"

namespace trimtab::observe {

namespace {

bool is_of_our_namespace(const char* root) noexcept {
  const int saved = errno;
  char path[512], target[16] = {};
  std::snprintf(path, sizeof path, "%s/proc/self", root);
  const bool is_own = readlink(path, target, sizeof target - 1) > 0 && std::strtol(target, nullptr, 10) == getpid();
  errno = saved;
  return is_own;
}

std::optional<thread_times> read_times(const char* root, std::uint32_t tid) noexcept {
  char path[512], text[128];
  write_thread_path(path, sizeof path, root, tid, "schedstat");
  unsigned long long run = 0, delay = 0, slices = 0;
  if (base::read_file(path, text, sizeof text) <= 0) return std::nullopt;
  if (std::sscanf(text, "%llu %llu %llu", &run, &delay, &slices) != 3) return std::nullopt;
  return thread_times{run, delay, slices};
}

}  // namespace

void write_thread_path(char* path, std::size_t bytes, const char* root, std::uint32_t tid, const char* file) noexcept {
  std::snprintf(path, bytes, "%s/proc/%u/%s", root, tid, file);
}

proc_threads::proc_threads(const char* root) noexcept : m_root(root), m_is_ours(is_of_our_namespace(root)) {}

std::optional<thread_times> proc_threads::times(std::uint32_t tid) const noexcept {
  return m_is_ours ? read_times(m_root, tid) : std::nullopt;
}

thread_call read_thread_call(const char* text) noexcept {
  thread_call call;
  if (std::strncmp(text, "running", 7) == 0) {
    call.state = thread_call::kind::runs;
    return call;
  }
  const int fields = std::sscanf(text, "%ld 0x%" SCNx64 " 0x%" SCNx64, &call.number, &call.arguments[0], &call.arguments[1]);
  if (fields < 1) return {};
  call.state = thread_call::kind::blocked;
  call.argument_count = fields - 1;
  return call;
}

std::optional<thread_call> proc_threads::call(std::uint32_t tid) const noexcept {
  char path[512], text[256];
  write_thread_path(path, sizeof path, m_root, tid, "syscall");
  if (!m_is_ours || base::read_file(path, text, sizeof text) <= 0) return std::nullopt;
  return read_thread_call(text);
}

std::optional<std::uint32_t> proc_threads::cpu(std::uint32_t tid) const noexcept {
  constexpr int words_before = 36;
  char text[1024];
  const char* at = read_stat(tid, text, sizeof text);
  for (int i = 0; i <= words_before && at != nullptr; ++i) at = std::strchr(at + 1, ' ');
  unsigned cpu = 0;
  if (at == nullptr || std::sscanf(at, "%u", &cpu) != 1) return std::nullopt;
  return cpu;
}

std::optional<cpu_usage> proc_threads::usage(std::uint32_t tid) const noexcept {
  char text[1024];
  const char* const at = read_stat(tid, text, sizeof text);
  unsigned long long minor = 0, major = 0, program = 0, kernel = 0;
  // state ppid pgrp session tty_nr tpgid flags minflt cminflt majflt cmajflt utime stime
  if (at == nullptr ||
      std::sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %llu %*u %llu %*u %llu %llu", &minor, &major, &program, &kernel) != 4)
    return std::nullopt;
  const auto ns_per_step = static_cast<std::uint64_t>(1'000'000'000 / sysconf(_SC_CLK_TCK));
  return cpu_usage{program * ns_per_step, kernel * ns_per_step, minor, major};
}

const char* proc_threads::read_stat(std::uint32_t tid, char* text, std::size_t bytes) const noexcept {
  char path[512];
  write_thread_path(path, sizeof path, m_root, tid, "stat");
  return m_is_ours && base::read_file(path, text, bytes) > 0 ? std::strrchr(text, ')') : nullptr;
}

void for_each_thread(const char* root, void (*visit)(void* context, std::uint32_t tid), void* context) noexcept {
  // getdents64 and not opendir, which allocates.
  struct directory_entry {
    std::uint64_t inode;
    std::int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
  };
  const int saved = errno;
  char path[512];
  std::snprintf(path, sizeof path, "%s/proc/self/task", root);
  if (const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); fd >= 0) {
    alignas(8) char entries[4096];
    for (long bytes_read; (bytes_read = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0;) {
      for (long at = 0; at < bytes_read;) {
        const auto* const entry = reinterpret_cast<const directory_entry*>(entries + at);
        at += entry->length;
        if (entry->name[0] != '.') visit(context, static_cast<std::uint32_t>(std::strtoul(entry->name, nullptr, 10)));
      }
    }
    close(fd);
  }
  errno = saved;
}

std::optional<thread_times> read_process_times(const char* root) noexcept {
  struct pass {
    const char* root;
    std::optional<thread_times> sum;
  } all{root, std::nullopt};
  for_each_thread(
      root,
      [](void* context, std::uint32_t tid) {
        auto& [from, sum] = *static_cast<pass*>(context);
        const auto times = read_times(from, tid);
        if (!times) return;
        if (!sum) sum.emplace();
        sum->run_ns += times->run_ns;
        sum->run_delay_ns += times->run_delay_ns;
        sum->time_slices += times->time_slices;
      },
      &all);
  return all.sum;
}

}  // namespace trimtab::observe
