// All probes: one row each. docs/counters.md lists the same rows.
#include "trimtab/observe/probe.hpp"

namespace trimtab::observe {

probe* threads_probe_instance();

constexpr probe_row rows[] = {
    {"threads", "time on a CPU, run delay and switches of each lane", true, threads_probe_instance},
    {nullptr, nullptr, false, nullptr},
};

// constexpr has internal linkage; this is the table that the rest sees.
const probe_row* const probe_table = rows;

}  // namespace trimtab::observe
