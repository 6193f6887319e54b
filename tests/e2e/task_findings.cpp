// Programs whose tasks lack something: task_findings WHAT. Two workers.
#include <chrono>
#include <cstdio>
#include <string>
#include <trimtab/tasks.hpp>

namespace {

void compute(double us) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(static_cast<long>(us * 1e3));
  while (std::chrono::steady_clock::now() < end) {
  }
}

// One of 1,000 tasks takes as long as all others.
void straggler() {
  trimtab::task_scope scope;
  for (int i = 0; i < 1000; ++i) scope.spawn([i] { compute(i == 500 ? 400'000 : 200); });
  scope.wait();
}

void chain() {
  trimtab::future<int> last = trimtab::async([] { return 0; });
  for (int i = 0; i < 2000; ++i)
    last = last.then([](trimtab::future<int> before) {
      compute(200);
      return before.get() + 1;
    });
  last.get();
}

void mutex() {
  trimtab::mutex one;
  trimtab::task_scope scope;
  for (int i = 0; i < 1000; ++i)
    scope.spawn([&one] {
      one.lock();
      compute(400);
      one.unlock();
    });
  scope.wait();
}

// Makes tasks more slowly than one worker runs them.
void producer() {
  trimtab::task_scope scope;
  for (int i = 0; i < 10'000; ++i) {
    compute(40);
    scope.spawn([] { compute(10); });
  }
  scope.wait();
}

// Three tasks at a time, of which one takes as long as the other two.
void few() {
  for (int i = 0; i < 400; ++i) {
    trimtab::task_scope scope;
    for (int part = 0; part < 3; ++part) scope.spawn([part] { compute(part == 0 ? 1000 : 100); });
    scope.wait();
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count == 2 ? arguments[1] : "";
  void (*const run)() = what == "straggler"  ? straggler
                        : what == "chain"    ? chain
                        : what == "mutex"    ? mutex
                        : what == "producer" ? producer
                                             : few;
  trimtab::runtime rt({.workers = 2});
  rt.run([run] { run(); });
}
