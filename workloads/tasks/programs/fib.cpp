// Fibonacci numbers the slow way: a task for each call, which does nothing but make two more.
#include "program.hpp"

namespace programs::fib {

std::int64_t by_async(std::int64_t n) {
  if (n < 2) return n;
  auto other = trimtab::async([n] { return by_async(n - 1); });
  const std::int64_t mine = by_async(n - 2);
  return other.get() + mine;
}

std::int64_t known(std::int64_t n) {
  std::int64_t now = 0, next = 1;
  for (; n > 0; --n) now = std::exchange(next, now + next);
  return now;
}

}  // namespace programs::fib

const programs::program programs::fib_program = {"fib", "n", 32, fib::by_async, fib::known};
