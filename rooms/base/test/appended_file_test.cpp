#include "trimtab/base/appended_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "scratch_folder.hpp"
#include "trimtab/base/mapped_file.hpp"
#include "trimtab/base/system_calls.hpp"

namespace trimtab::base::testing {
namespace {

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What `does` returns in a child of its own, whose limits and signals are nobody else's; -N: signal N ended it.
template <class work>
int in_a_child(work action) {
  const pid_t child = fork();
  if (child == 0) _exit(action());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void limit(int resource, rlim_t bound) {
  const rlimit soft_and_hard{bound, bound};
  if (setrlimit(static_cast<__rlimit_resource_t>(resource), &soft_and_hard) != 0) _exit(99);
}

// Sanitizers have far more of it in use than any limit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool can_limit_address_space = false;
#else
constexpr bool can_limit_address_space = true;
#endif

TEST(appended_file, keeps_what_is_written_wherever_its_window_is) {
  const scratch_folder folder;
  const std::string path = folder.path() + "/file";
  appended_file file;
  ASSERT_EQ(file.create(path.c_str(), 5000), 0);
  std::mt19937_64 random(20261125);
  std::string expected;
  while (expected.size() < 3'000'000) {
    std::string record(1 + random() % 9000, '\0');
    for (char& byte : record) byte = static_cast<char>(random());
    std::byte* const place = file.place(expected.size(), record.size());
    ASSERT_NE(place, nullptr);
    std::memcpy(place, record.data(), record.size());
    expected += record;
  }
  EXPECT_EQ(file.failure(), 0);
  const auto content = bytes_of(path);
  ASSERT_EQ(content.size(), file.size());
  ASSERT_GE(content.size(), expected.size());
  EXPECT_EQ(std::memcmp(content.data(), expected.data(), expected.size()), 0);
}

// 64 MiB were reserved for each of several files before: none of them could be made.
TEST(appended_file, needs_little_address_space) {
  if (!can_limit_address_space) GTEST_SKIP() << "a sanitizer needs more";
  const scratch_folder folder;
  EXPECT_EQ(in_a_child([&] {
              std::ifstream sizes("/proc/self/statm");
              rlim_t pages = 0;
              sizes >> pages;
              limit(RLIMIT_AS, pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (2 << 20));
              appended_file file;
              if (file.create((folder.path() + "/file").c_str(), 65536) != 0) return 1;
              for (std::size_t at = 0; at < (16u << 20); at += 4096)
                if (file.place(at, 4096) == nullptr) return 2;
              return 0;
            }),
            0);
}

TEST(appended_file, that_found_no_room_tries_nothing_again) {
  const scratch_folder folder;
  const std::string path = folder.path() + "/file";
  EXPECT_EQ(in_a_child([&] {
              limit(RLIMIT_FSIZE, 200'000);
              appended_file file;
              if (file.create(path.c_str(), 8192) != 0) return 1;
              std::size_t at = 0;
              while (file.place(at, 4096) != nullptr) at += 4096;
              // As far as whole pages reach, although the file could not be doubled.
              if (at != 200'000 / 4096 * 4096 || file.failure() != EFBIG) return 2;
              unlink(path.c_str());  // whoever tried again would find another error
              return file.place(at, 4096) == nullptr && file.failure() == EFBIG ? 0 : 3;
            }),
            0);
}

TEST(appended_file, that_cannot_be_made_is_not_tried_again) {
  appended_file file;
  EXPECT_EQ(file.create("/proc/nowhere/file", 4096), ENOENT);
  const scratch_folder folder;
  EXPECT_EQ(file.create((folder.path() + "/file").c_str(), 4096), ENOENT);
  file.close();
  EXPECT_EQ(file.create((folder.path() + "/file").c_str(), 4096), 0);
}

TEST(file_size_limit, ends_no_program) {
  const scratch_folder folder;
  EXPECT_EQ(in_a_child([&] {
              limit(RLIMIT_FSIZE, 4096);
              mapped_file small, large;
              if (small.create((folder.path() + "/small").c_str(), 4096, 1 << 20) != 0) return 1;
              if (large.create((folder.path() + "/large").c_str(), 8192, 1 << 20) != EFBIG) return 2;
              if (access((folder.path() + "/large").c_str(), F_OK) == 0) return 3;
              return small.grow(8192) == EFBIG ? 0 : 4;
            }),
            0);
}

TEST(file_size_limit, leaves_a_signal_of_the_programs_own_pending) {
  const scratch_folder folder;
  EXPECT_EQ(in_a_child([&] {
              sigset_t only, pending;
              sigemptyset(&only);
              sigaddset(&only, SIGXFSZ);
              sigprocmask(SIG_BLOCK, &only, nullptr);
              raise(SIGXFSZ);
              limit(RLIMIT_FSIZE, 4096);
              mapped_file large;
              if (large.create((folder.path() + "/large").c_str(), 8192, 8192) != EFBIG) return 1;
              sigpending(&pending);
              return sigismember(&pending, SIGXFSZ) == 1 ? 0 : 2;
            }),
            0);
}

TEST(mapped_file, reserves_less_where_address_space_is_limited) {
  if (!can_limit_address_space) GTEST_SKIP() << "a sanitizer needs more";
  const scratch_folder folder;
  EXPECT_EQ(in_a_child([&] {
              limit(RLIMIT_AS, rlim_t{1} << 30);
              std::size_t all = 0;
              for (int i = 0; i < 100; ++i) {
                mapped_file file;
                if (file.create((folder.path() + "/" + std::to_string(i)).c_str(), 4096, std::size_t{1} << 32) != 0)
                  return 1;
                all += file.reserve();
              }
              return all <= (std::size_t{1} << 30) / 16 + 100 * 4096 ? 0 : 2;
            }),
            0);
}

TEST(system_calls, none_is_made_once_they_are_forbidden) {
  const scratch_folder folder;
  EXPECT_EQ(in_a_child([&] {
              mapped_file mapped;
              appended_file appended;
              if (mapped.create((folder.path() + "/a").c_str(), 4096, 8192) != 0) return 1;
              if (appended.create((folder.path() + "/b").c_str(), 4096) != 0) return 2;
              forbid_system_calls();
              if (mapped.grow(8192) != EPERM || appended.place(4096, 10) != nullptr) return 3;
              if (appended.place(4000, 96) == nullptr) return 4;  // in what is mapped
              permit_system_calls();
              return mapped.grow(8192) == 0 && appended.place(4096, 10) != nullptr ? 0 : 5;
            }),
            0);
}

}  // namespace
}  // namespace trimtab::base::testing
