// Uses the library of a room.
#include <cstdio>
#include <trimtab/base/clock.hpp>
#include <trimtab/base/topology.hpp>

int main() {
  const trimtab::base::cpu_limits limits = trimtab::base::read_cpu_limits();
  const auto before = trimtab::base::now();
  std::printf("%u\n", limits.affinity);
  return limits.available > 0 && trimtab::base::now() > before ? 0 : 1;
}
