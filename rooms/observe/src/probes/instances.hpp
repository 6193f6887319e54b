// The probes of probe_table, each defined in the file of its name.
#pragma once

#include "trimtab/observe/probe.hpp"

namespace trimtab::observe {

probe* threads_probe_instance();
// As the probe of threads saw it last: the lanes' threads were ready to run, and without a CPU, for 5 % of their time.
bool do_threads_lack_cpus() noexcept;
probe* thread_states_probe_instance();
probe* switches_probe_instance();
probe* cpu_probe_instance();
probe* memory_probe_instance();
probe* allocator_probe_instance();
probe* psi_probe_instance();
probe* cgroup_probe_instance();
probe* disk_probe_instance();
probe* network_probe_instance();
probe* energy_probe_instance();
probe* hwcounters_probe_instance();

}  // namespace trimtab::observe
