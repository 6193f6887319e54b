// Trimtab's coroutines, by clang 19.
#include "on_trimtab.hpp"

namespace {

trimtab::task<std::int64_t> fib(std::int64_t n) {
  if (n < 2) co_return n;
  auto a = trimtab::fork(fib(n - 1));
  const std::int64_t b = co_await fib(n - 2);
  co_return co_await a + b;
}

void coroutines(const bench::arguments& with) {
  trimtab::runtime runtime(bench::with_workers(with));
  bench::time_fib(with, [&](std::int64_t n) { return runtime.run([&] { return trimtab::spawn(fib(n)).get(); }); });
}

trimtab::task<std::int64_t> waits(bench::gate opened) { co_return co_await opened; }

void suspended(const bench::arguments& with) {
  bench::time_suspended(with, [](const bench::gate& opened) { return trimtab::spawn(waits(opened)); });
}

}  // namespace

int main(int argc, char** argv) { return bench::main(argc, argv, {{"coroutines", coroutines}, {"suspended", suspended}}); }
