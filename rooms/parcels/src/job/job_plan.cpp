#include "job/job_plan.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>

#include "job/curve_files.hpp"
#include "job/option_table.hpp"
#include "trimtab/options/run_options.hpp"

namespace trimtab::parcels {

namespace {

using options::job_launcher;

constexpr std::uint64_t ns_per_s = 1'000'000'000;

[[noreturn]] void refuse(std::string_view variable, const std::string& expected, std::string_view actual) {
  throw std::runtime_error("trimtab: " + std::string(variable) + ": expected " + expected +
                           (actual.empty() ? ", but it is not set" : ", found '" + std::string(actual) + "'"));
}

job_settings read_settings(options::look_up_function look_up) {
  job_settings settings;
  const options::mistake wrong = options::fill(settings, option_table(), look_up);
  if (wrong.of != nullptr) refuse(wrong.of->variable, options::expected(wrong.of->allowed), wrong.text);
  return settings;
}

bool is_mpi_launcher(job_launcher launcher) noexcept {
  return launcher != job_launcher::none && launcher != job_launcher::trimtab;
}

job_transport kind_of(const job_settings& settings, const options::job_rank& place) noexcept {
  switch (settings.transport) {
    case transport_choice::shm:
      return job_transport::shm;
    case transport_choice::tcp:
      return job_transport::tcp;
    case transport_choice::mpi:
      return job_transport::mpi;
    default:
      break;
  }
  if (!settings.path.empty()) return job_transport::shm;
  if (!settings.meeting.empty()) return job_transport::tcp;
  // Where the launcher does not say the size, MPI knows it.
  return is_mpi_launcher(place.launcher) && place.size != 1 ? job_transport::mpi : job_transport::none;
}

// What a member of a job without MPI must be told.
membership member_of(const job_settings& settings) {
  if (!settings.rank) refuse("TRIMTAB_JOB_RANK", "the number of this locality, from 0", "");
  if (!settings.size) refuse("TRIMTAB_JOB_SIZE", "the number of localities", "");
  if (*settings.rank >= *settings.size)
    refuse("TRIMTAB_JOB_RANK", "a number below TRIMTAB_JOB_SIZE, which is " + std::to_string(*settings.size),
           std::to_string(*settings.rank));
  return {*settings.rank, *settings.size, std::string(settings.secret), settings.patience_s * ns_per_s};
}

shm_options shm_of(const job_settings& settings) {
  if (settings.path.empty()) refuse("TRIMTAB_JOB_PATH", "the file that all localities map", "");
  return {std::string(settings.path), settings.ring_bytes};
}

tcp_options tcp_of(const job_settings& settings) {
  const std::string_view meeting = settings.meeting;
  const std::size_t colon = meeting.rfind(':');
  std::uint16_t port = 0;
  if (colon != meeting.npos && colon != 0) {
    const char* const end = meeting.data() + meeting.size();
    const auto [stopped, error] = std::from_chars(meeting.data() + colon + 1, end, port);
    if (error != std::errc() || stopped != end) port = 0;
  }
  if (port == 0) refuse("TRIMTAB_JOB_MEETING", "ADDRESS:PORT, with a port from 1 to 65535", meeting);
  tcp_options tcp;
  tcp.meeting_address = meeting.substr(0, colon);
  tcp.meeting_port = port;
  if (settings.rank == 0u) tcp.meeting_socket = settings.meeting_socket.value_or(-1);
  tcp.listen_address = settings.listen_address;
  return tcp;
}

mpi_options mpi_of(const job_settings& settings, const options::job_rank& place) {
  mpi_options mpi;
  mpi.library = settings.mpi_library;
  if (place.launcher == job_launcher::open_mpi) mpi.started_by = mpi_launcher::open_mpi;
  if (place.launcher == job_launcher::pmi) mpi.started_by = mpi_launcher::mpich;
  if (is_mpi_launcher(place.launcher) && place.size > 0) mpi.started_size = static_cast<std::uint32_t>(place.size);
  mpi.patience_ns = settings.patience_s * ns_per_s;
  return mpi;
}

// What the user has set counts more than what the program has.
coalescing coalescing_of(const job_settings& settings, coalescing standard) noexcept {
  if (settings.parcel_count) {
    standard.rules = *settings.parcel_count == 0 ? coalescing::way::adaptive : coalescing::way::strict;
    standard.count = std::max(*settings.parcel_count, 1u);
  }
  if (settings.parcel_wait_us) standard.wait_us = *settings.parcel_wait_us;
  if (settings.parcel_bytes) standard.most_bytes = *settings.parcel_bytes;
  return standard;
}

// The program's own number counts more than the variable: it may come from the same variable and an argument.
std::uint32_t workers_of(std::uint32_t own, options::look_up_function look_up) {
  const char* const text = look_up(options::workers_option);
  if (own != 0 || text == nullptr || text[0] == '\0') return own;
  const auto checked = options::check(options::workers_option.allowed, text);
  if (!checked) refuse(options::workers_option.variable, options::expected(options::workers_option.allowed), text);
  return static_cast<std::uint32_t>(checked->number);
}

}  // namespace

job_plan plan_job(const job_options& options, options::look_up_function look_up) {
  const job_settings settings = read_settings(look_up);
  const options::job_rank place = options::find_rank(look_up);
  job_plan plan;
  plan.options = options;
  plan.options.standard = coalescing_of(settings, options.standard);
  if (settings.servers) plan.options.servers = settings.servers;
  plan.curve_folder = curve_folder(settings.network_folder, look_up);
  plan.options.tunes_coalescing = settings.parcel_tune.value_or(options.tunes_coalescing);
  plan.options.runtime.workers = workers_of(options.runtime.workers, look_up);
  plan.transport = kind_of(settings, place);
  if (plan.transport == job_transport::mpi) plan.mpi = mpi_of(settings, place);
  if (plan.transport == job_transport::shm || plan.transport == job_transport::tcp) plan.self = member_of(settings);
  if (plan.transport == job_transport::shm) plan.shm = shm_of(settings);
  if (plan.transport == job_transport::tcp) plan.tcp = tcp_of(settings);
  const std::uint32_t others_unknown = plan.transport == job_transport::shm ? plan.self.size : 1;
  plan.arrivals = settings.arrivals;
  plan.local_size = settings.local_size.value_or(others_unknown);
  return plan;
}

std::uint32_t default_workers(cpu_share cpus, std::uint32_t local_size, bool is_bound) noexcept {
  const std::uint32_t all = is_bound ? cpus.online : cpus.available;
  return std::min(cpus.available, std::max(1u, all / std::max(local_size, 1u)));
}

}  // namespace trimtab::parcels
