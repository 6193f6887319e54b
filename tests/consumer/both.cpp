// Subjects and counters of the program's own beside the task runtime, whose counters have another name.
#include <trimtab.h>
#include <trimtab/tasks.hpp>

#include <cstdio>

double of_runtime(trimtab::runtime& rt, const trimtab::snapshot& since);

int main() {
  static const trimtab::subject work("work of both");
  static const trimtab::counter answers("answers", "1");
  trimtab::runtime rt({.workers = 2});
  const trimtab::snapshot before(rt);
  rt.run([] {
    const trimtab::scope here(work);
    answers.set(trimtab::async([] { return 42; }).get());
  });
  std::printf("%s\n", of_runtime(rt, before) > 0 ? "tasks are counted" : "nothing is counted");
}
