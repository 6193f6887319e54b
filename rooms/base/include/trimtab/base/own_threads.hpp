// Threads that Trimtab makes in a watched program: they are not among the program's.
#pragma once

namespace trimtab::base {

// While it exists, threads that the calling thread makes are ours.
class own_thread_made {
 public:
  own_thread_made() noexcept { s_is_making = true; }
  ~own_thread_made() { s_is_making = false; }
  own_thread_made(const own_thread_made&) = delete;
  own_thread_made& operator=(const own_thread_made&) = delete;

  static bool is_making() noexcept { return s_is_making; }

 private:
  static inline constinit thread_local bool s_is_making = false;
};

}  // namespace trimtab::base
