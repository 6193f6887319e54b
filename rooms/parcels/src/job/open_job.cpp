#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>

#include "job/arrival_report.hpp"
#include "job/curve_files.hpp"
#include "job/job_plan.hpp"
#include "job/option_table.hpp"
#include "trimtab/base/topology.hpp"
#include "trimtab/options/environment.hpp"

namespace trimtab::parcels {

namespace {

// A process can be the same locality only once.
std::atomic<bool> has_been_member{false};

opened_transport open_transport(const job_plan& plan) {
  switch (plan.transport) {
    case job_transport::shm:
      return open_shm(plan.self, plan.shm);
    case job_transport::tcp:
      return open_tcp(plan.self, plan.tcp);
    case job_transport::mpi:
      return open_mpi(plan.mpi);
    default:
      return {};
  }
}

// MPI's launchers say how many ranks they have started on a host.
std::uint32_t local_ranks_of_mpi() noexcept {
  constexpr const char* variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
  for (const char* const variable : variables) {
    const options::option option_row{variable, "", options::number(1, options::most_ranks), ""};
    const char* const text = options::value_of(option_row);
    if (text == nullptr) continue;
    if (const auto count = options::check(option_row.allowed, text)) return static_cast<std::uint32_t>(count->number);
  }
  return 1;
}

std::uint32_t workers_on_this_machine(const job_plan& plan) noexcept {
  const base::cpu_limits limits = base::read_cpu_limits();
  const cpu_share cpus{static_cast<std::uint32_t>(std::max(1.0, std::ceil(limits.available))), limits.online};
  const bool is_mpi = plan.transport == job_transport::mpi;
  return default_workers(cpus, is_mpi ? std::max(plan.local_size, local_ranks_of_mpi()) : plan.local_size, is_mpi);
}

// The CPUs that no worker of this host's localities uses, of which each has an equal share.
std::vector<server_place> places_for_this_locality(const job_plan& plan) {
  const std::uint32_t on_host = std::max(plan.local_size, 1u);
  const std::vector<server_place> all = places_beside_workers(plan.options.runtime.workers * on_host);
  const std::size_t share = all.size() / on_host, first = share * (plan.self.number % on_host);
  return {all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(first + share)};
}

// As many as were asked for, or by what was measured here. MPI's transport has a server of its own.
void add_servers(opened_job& opened, const job_plan& plan) {
  if (plan.transport != job_transport::shm && plan.transport != job_transport::tcp) return;
  const std::string curve = curve_file(plan.curve_folder, plan.transport == job_transport::shm ? "shm" : "tcp");
  // Before anything is read of the machine: most jobs have no servers.
  if (plan.options.servers ? *plan.options.servers == 0 : access(curve.c_str(), F_OK) != 0) return;
  std::vector<server_place> places = places_for_this_locality(plan);
  server_settings chosen;
  if (plan.options.servers)
    chosen.servers = *plan.options.servers;
  else
    chosen = measured_servers(curve, plan.options.runtime.workers, static_cast<std::uint32_t>(places.size()));
  if (const std::string problem = problem_of(chosen); !problem.empty())
    throw std::runtime_error("trimtab: job_options::servers: " + problem);
  if (chosen.servers == 0) return;
  opened.link = std::make_unique<served_transport>(std::move(opened.link), chosen, std::move(places));
}

void forget_membership() noexcept {
  for (const auto& option_row : option_table())
    if (is_forgotten(option_row)) options::forget(option_row);
}

}  // namespace

opened_job open_from_environment(const job_options& options) {
  job_plan plan = plan_job(options, options::value_of);
  if (plan.transport == job_transport::none && has_been_member)
    throw std::runtime_error(
        "trimtab: this process has been a locality of the job that it was started for, and cannot be one again: "
        "create one trimtab::job, and keep it");
  // Programs that this one starts are no localities of the job, and must not know its secret.
  forget_membership();
  if (plan.transport != job_transport::none && plan.options.home == nullptr && plan.options.runtime.workers == 0)
    plan.options.runtime.workers = workers_on_this_machine(plan);
  if (plan.transport == job_transport::none) return {nullptr, std::move(plan.options)};
  has_been_member = true;
  const arrival_report arrival(plan.arrivals, plan.self.number);
  opened_transport opened = open_transport(plan);
  if (opened.link == nullptr) throw std::runtime_error("trimtab: cannot join the job: " + opened.error);
  arrival.joined();
  opened_job result{std::move(opened.link), {}};
  add_servers(result, plan);
  result.options = std::move(plan.options);
  return result;
}

job::job(const job_options& options) : job(from_environment{}, open_from_environment(options)) {}
job::job(from_environment, opened_job opened) : job(std::move(opened.link), opened.options) {}

}  // namespace trimtab::parcels
