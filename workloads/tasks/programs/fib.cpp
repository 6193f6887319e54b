// Fibonacci numbers the slow way: a task for each call, which does nothing but make two more.
#include "program.hpp"

namespace programs::fib {

std::int64_t by_async(std::int64_t n) {
  if (n < 2) return n;
  auto second = trimtab::async([n] { return by_async(n - 1); });
  const std::int64_t left_result = by_async(n - 2);
  return second.get() + left_result;
}

std::int64_t expected_answer(std::int64_t n) {
  std::int64_t current = 0, next = 1;
  for (; n > 0; --n) current = std::exchange(next, current + next);
  return current;
}

}  // namespace programs::fib

const programs::program programs::fib_program = {"fib", "n", 32, fib::by_async, fib::expected_answer};
