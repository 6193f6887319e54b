// trimtab-network FOLDER [--short]: measures messages between processes of this machine, with and without communication
// servers, keeps the curves in FOLDER, where jobs look for them, and prints a line of JSON for each transport, which
// `trimtab doctor --network` shows. --short: a thirtieth of the time, and nothing is kept. Ends with 1 where a transport
// cannot be measured, and with 2 where it is called wrongly.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "job/curve_files.hpp"
#include "servers/measure_saturation.hpp"
#include "transport/tcp_socket.hpp"
#include "trimtab/base/topology.hpp"
#include "trimtab/parcels/transport/shm_transport.hpp"
#include "trimtab/parcels/transport/tcp_transport.hpp"

namespace {

using namespace trimtab::parcels;

measured_saturation measure_shm(const saturation_plan& plan) {
  const int file = memfd_create("trimtab-network", MFD_CLOEXEC);
  if (file < 0) return {{}, std::string("no memory file: ") + std::strerror(errno)};
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  measured_saturation result = measure_saturation([&](const membership& self) { return open_shm(self, {path}); }, plan);
  close(file);
  return result;
}

measured_saturation measure_tcp(const saturation_plan& plan) {
  tcp_options options;
  tcp::opened_listener listener = tcp::listen_at(tcp::parse_address(options.meeting_address, 0));
  if (!listener.socket.is_open()) return {{}, listener.error};
  options.meeting_port = tcp::local_address(listener.socket.get()).port();
  return measure_saturation(
      [&](const membership& self) {
        tcp_options own = options;
        if (self.number == 0) own.meeting_socket = dup(listener.socket.get());
        return open_tcp(self, own);
      },
      plan);
}

void print_point(const saturation_point& point, bool is_first) {
  std::printf("%s{\"bytes\": %llu, \"senders\": %u, \"in_flight\": %u, \"servers\": %u, \"messages_per_s\": %.6g}",
              is_first ? "" : ", ", static_cast<unsigned long long>(point.bytes), point.senders, point.in_flight,
              point.servers, point.messages_per_s);
}

// What a job would choose with so many CPUs for servers.
void print_choice(const saturation_curve& curve, std::uint32_t free_cpus, std::uint32_t senders) {
  const server_settings chosen = choose_servers(curve, free_cpus, senders);
  std::printf("%s{\"free_cpus\": %u, \"servers\": %u, \"selection\": [", free_cpus == 0 ? "" : ", ", free_cpus,
              chosen.servers);
  for (const served_sizes& sizes : chosen.selection)
    std::printf("%s{\"largest_bytes\": %zu, \"servers\": %u, \"least_messages\": %u}",
                &sizes == chosen.selection.data() ? "" : ", ", sizes.largest_bytes, std::min(sizes.servers, chosen.servers),
                sizes.least_messages);
  std::printf("]}");
}

void print(const saturation_curve& curve, const std::string& transport, const saturation_plan& plan) {
  std::printf("{\"transport\": \"%s\", \"points\": [", transport.c_str());
  for (const saturation_point& point : curve.points) print_point(point, &point == &curve.points.front());
  std::printf("], \"choices\": [");
  for (const std::uint32_t servers : plan.servers) print_choice(curve, servers, plan.senders.back());
  std::printf("]}\n");
}

bool measure(const std::string& transport, const std::string& folder, const saturation_plan& plan) {
  const measured_saturation measured = transport == "shm" ? measure_shm(plan) : measure_tcp(plan);
  std::string error = measured.error;
  if (error.empty() && !folder.empty()) error = write_curve(measured.curve, curve_file(folder, transport));
  if (!error.empty()) std::fprintf(stderr, "%s: %s\n", transport.c_str(), error.c_str());
  if (measured.error.empty()) print(measured.curve, transport, plan);
  return error.empty();
}

}  // namespace

int main(int count, char** arguments) {
  const bool is_short = count == 3 && std::strcmp(arguments[2], "--short") == 0;
  if (count < 2 || (count == 3 && !is_short) || count > 3 || arguments[1][0] == '-') {
    std::fputs("usage: trimtab-network FOLDER [--short]; `trimtab doctor --network` shows what it prints\n", stderr);
    return 2;
  }
  saturation_plan plan = plan_for(static_cast<std::uint32_t>(std::max(1.0, trimtab::base::read_cpu_limits().available)));
  if (is_short) plan.ns_each = 400'000, plan.rounds = 1;
  std::string folder = arguments[1];
  std::error_code failed;
  if (!is_short) std::filesystem::create_directories(folder, failed);
  if (failed) {
    std::fprintf(stderr, "%s: %s\n", folder.c_str(), failed.message().c_str());
    return 1;
  }
  if (is_short) folder.clear();
  const bool is_shm_measured = measure("shm", folder, plan);
  return measure("tcp", folder, plan) && is_shm_measured ? 0 : 1;
}
