/* A library with a work and a knob of its own, which is unloaded while they are tuned. */
#include <trimtab.h>
#include <unistd.h>

void library_work(int count) {
  trimtab_work* const work = trimtab_tuned_work("of a library");
  const trimtab_knob batch = trimtab_knob_range(work, "batch", 1, 8, 1, 1);
  for (int i = 0; i < count; ++i) {
    const trimtab_event event = trimtab_event_begin(work);
    usleep(50);
    trimtab_event_costs(&event, 100.0 / (double)trimtab_knob_value(&event, batch));
  }
}
