// What a task runtime does to be seen, through rooms/tasks' recording.hpp: two workers, each of which makes and runs
// tasks of two kinds. Prints the tasks that it ran by kind, and what one cost.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "trimtab/tasks/core/recording.hpp"

namespace recording = trimtab::tasks::recording;

namespace {

double cpu_s() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void spin(double seconds) {
  const double end = cpu_s() + seconds;
  while (cpu_s() < end) {
  }
}

template <class function>
void run(const function& body, recording::kind& what, recording::tally& counts) {
  if (!recording::is_enabled()) {
    body();
    return;
  }
  const std::uint32_t subject = what.subject();
  const std::uint64_t task = recording::record_created(subject, counts);
  recording::run_guard here(subject, task, counts);
  body();
}

void worker(std::uint32_t runtime, unsigned number, long tiny) {
  static recording::tally counts[2];
  recording::tally& mine = counts[number];
  recording::worker_begins(runtime, number);
  static recording::kind named(nullptr, "a named task", __FILE__, 7);
  long sum = 0;
  const auto closure = [&sum] { asm volatile("" : "+r"(sum)); };
  static recording::kind by_code(recording::code_of(closure));
  for (int i = 0; i < 100; ++i) run([&] { run([] { spin(2e-4); }, named, mine); }, named, mine);  // one in another
  const double begin = cpu_s();
  for (long i = 0; i < tiny; ++i) run(closure, by_code, mine);
  const double each_ns = (cpu_s() - begin) * 1e9 / static_cast<double>(tiny);
  if (number == 0) std::printf("cost %.2f ns\n", each_ns);
  mine.flush();
  recording::worker_state(recording::state::idle);
  recording::worker_ends();
}

}  // namespace

int main(int count, char** arguments) {
  const long tiny = count > 1 ? std::atol(arguments[1]) : 1000;
  const std::uint32_t runtime = recording::attach("adapter");
  std::thread first([=] { worker(runtime, 0, tiny); });
  first.join();  // one after the other: no two share a tally or a CPU
  std::thread second([=] { worker(runtime, 1, tiny); });
  second.join();
  // A thread that is no worker makes one task.
  if (recording::is_enabled()) {
    static recording::kind other(nullptr, "made outside", __FILE__, 8);
    recording::record_created(other.subject(), recording::tally_of_thread());
  }
  std::printf("tiny %ld\n", 2 * tiny);
}
