// Tasks that wait for locks and channels: task_givers WHAT WORKERS.
#include <chrono>
#include <string>
#include <thread>
#include <trimtab/tasks.hpp>

namespace {

void compute(double us) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(static_cast<long>(us * 1e3));
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Every task holds the same mutex for nearly all of its time.
void convoy(unsigned workers) {
  trimtab::mutex shared;
  trimtab::task_scope scope;
  for (unsigned task = 0; task < workers; ++task)
    scope.spawn([&shared] {
      for (int turn = 0; turn < 60; ++turn) {
        compute(50);
        shared.lock();
        compute(400);
        shared.unlock();
      }
    });
  scope.wait();
}

struct make_values {
  trimtab::channel<int>& values;
  double us;
  void operator()() const {
    for (int value = 0; value < 100; ++value) {
      compute(us);
      values.send(value);
    }
    values.close();
  }
};

struct use_values {
  trimtab::channel<int>& values;
  double us;
  void operator()() const {
    for ([[maybe_unused]] const int value : values) compute(us);
  }
};

void pipeline(double producer_us, double consumer_us, std::size_t capacity) {
  trimtab::channel<int> values(capacity);
  trimtab::task_scope scope;
  scope.spawn(use_values{values, consumer_us});
  scope.spawn(make_values{values, producer_us});
  scope.wait();
}

// The values come from a thread that is no worker.
void from_outside(trimtab::runtime& rt) {
  trimtab::channel<int> values(4);
  std::thread sender(make_values{values, 400});
  rt.run([&] { use_values{values, 20}(); });
  sender.join();
}

}  // namespace

int main(int count, char** arguments) {
  const std::string program = count == 3 ? arguments[1] : "";
  const unsigned workers = count == 3 ? static_cast<unsigned>(std::stoul(arguments[2])) : 2;
  trimtab::runtime rt({.workers = workers});
  if (program == "outside") {
    from_outside(rt);
    return 0;
  }
  rt.run([&] {
    if (program == "convoy")
      convoy(workers);
    else if (program == "slow_producer")
      pipeline(400, 20, 4);
    else
      pipeline(20, 400, 4);
  });
}
