#include <trimtab/tasks.hpp>
#include <trimtab.h>

// Tasks that have ended since then.
double of_runtime(trimtab::runtime& rt, const trimtab::snapshot& since) {
  static const trimtab::counter asked("asked", "1");
  asked.set(1);
  double sum = 0;
  for (const trimtab::runtime_counter& each : trimtab::find_counters(rt, "/threads/count/cumulative"))
    sum += each.value(trimtab::snapshot(rt), since);
  return sum;
}
