// All probes: one row each. docs/reference/counters.md lists the same rows; a test compares them.
#include "instances.hpp"

namespace trimtab::observe {

namespace {
constexpr probe_row rows[] = {
    {"threads", "time on a CPU, run delay, switches and migrations of each lane", true, 40, threads_probe_instance, true},
    {"states", "what the threads of a program without lanes do: run, or what they wait for", true, 10,
     thread_states_probe_instance, false, 0.002},
    {"switches", "every context switch of a lane with its CPU: preempted or gone to wait", true, 20,
     switches_probe_instance},
    {"cpu", "load of the CPUs that the program may use, and the program's part in it", true, 100, cpu_probe_instance},
    {"memory", "memory of the process and of the machine, page faults and what one costs, time in the kernel", true, 100,
     memory_probe_instance, true},
    {"allocator", "waits of threads for each other in malloc and free", true, 20, allocator_probe_instance, false, 0.002},
    {"psi", "pressure stall information: time in which work waited for CPU, memory or I/O", true, 200, psi_probe_instance},
    {"cgroup", "the CPU quota and the time lost to it", true, 100, cgroup_probe_instance},
    {"disk", "bytes read from disks and written to them, by the process and by the machine", true, 200, disk_probe_instance},
    {"network", "bytes received and sent over the network interfaces", true, 200, network_probe_instance},
    {"energy", "energy of processor packages and memory through powercap", true, 100, energy_probe_instance},
    {"hwcounters", "cycles, instructions and cache misses of each lane", false, 50, hwcounters_probe_instance},
    {nullptr, nullptr, false, 0, nullptr},
};
}  // namespace

const probe_row* const probe_table = rows;

}  // namespace trimtab::observe
