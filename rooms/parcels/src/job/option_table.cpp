#include "job/option_table.hpp"

#include <algorithm>

#include "trimtab/options/rank_variables.hpp"
#include "trimtab/parcels/servers/server_settings.hpp"

namespace trimtab::parcels {

namespace {

using options::any_text;
using options::number;
using options::row;
using options::value;
using options::word;
using options::word_of;

constexpr std::uint64_t most_number = 0xffffffffu;
constexpr std::uint64_t most_localities = 65'536;
constexpr const options::rank_variables& own_rank =
    options::rank_table[static_cast<std::size_t>(options::job_launcher::trimtab)];

constexpr std::uint32_t narrowed(const value& to) noexcept { return static_cast<std::uint32_t>(to.number); }

constexpr row<job_settings> job_table[] = {
    {{"TRIMTAB_JOB_TRANSPORT", "auto", word(word_of<transport_words>),
      "how the localities reach each other. auto: shm where TRIMTAB_JOB_PATH is set, tcp where TRIMTAB_JOB_MEETING is, mpi "
      "in what mpirun or srun has started, and otherwise a job of one locality"},
     [](job_settings& into, const value& to) { into.transport = static_cast<transport_choice>(to.index); }},
    {{own_rank.rank, "", number(0, most_localities - 1), "shm, tcp: number of this locality, from 0"},
     [](job_settings& into, const value& to) { into.rank = narrowed(to); }},
    {{own_rank.size, "", number(1, most_localities), "shm, tcp: localities of the job"},
     [](job_settings& into, const value& to) { into.size = narrowed(to); }},
    {{"TRIMTAB_JOB_LOCAL_SIZE", "", number(1, most_localities),
      "localities on this host, which share its CPUs; not set: with shm all of them, otherwise one"},
     [](job_settings& into, const value& to) { into.local_size = narrowed(to); }},
    {{"TRIMTAB_JOB_SECRET", "", any_text(), "shm, tcp: only processes that know this text are members"},
     [](job_settings& into, const value& to) { into.secret = to.text; }},
    {{"TRIMTAB_JOB_PATH", "", options::path(), "shm: file that all localities map; it may be empty at first"},
     [](job_settings& into, const value& to) { into.path = to.text; }},
    {{"TRIMTAB_JOB_MEETING", "", any_text(), "tcp: ADDRESS:PORT where locality 0 listens, numeric"},
     [](job_settings& into, const value& to) { into.meeting = to.text; }},
    {{"TRIMTAB_JOB_SOCKET", "", number(0, 0x7fffffff),
      "tcp: file descriptor of a socket that listens at the meeting address, for locality 0"},
     [](job_settings& into, const value& to) { into.meeting_socket = static_cast<int>(to.number); }},
    {{"TRIMTAB_JOB_ARRIVALS", "", number(0, 0x7fffffff),
      "file descriptor of a socket of datagrams, to which a locality says that it waits for the others, and that it has "
      "joined them"},
     [](job_settings& into, const value& to) { into.arrivals = static_cast<int>(to.number); }},
    {{"TRIMTAB_JOB_LISTEN", "127.0.0.1", any_text(), "tcp: numeric address at which this locality listens for others"},
     [](job_settings& into, const value& to) { into.listen_address = to.text; }},
    {{"TRIMTAB_JOB_MPI_LIBRARY", "", options::path(),
      "mpi: file of the MPI library; not set: the one that the loader finds"},
     [](job_settings& into, const value& to) { into.mpi_library = to.text; }},
    {{"TRIMTAB_JOB_PATIENCE", "60", number(1, 1'000'000),
      "how long a locality waits for the others at the start, in seconds"},
     [](job_settings& into, const value& to) { into.patience_s = to.number; }},
    {{"TRIMTAB_JOB_RING_BYTES", "1048576", number(16 << 10, 256 << 20),
      "shm: size of the ring for each pair of localities, a power of two"},
     [](job_settings& into, const value& to) { into.ring_bytes = to.number; }},
    {{"TRIMTAB_PARCEL_COUNT", "", number(0, most_number),
      "parcels that travel together, where an action has no settings of its own. 0: it adapts itself; 1: each alone. Not "
      "set: what the program says"},
     [](job_settings& into, const value& to) { into.parcel_count = narrowed(to); }},
    {{"TRIMTAB_PARCEL_WAIT", "", number(0, most_number),
      "with TRIMTAB_PARCEL_COUNT above 0: how long a parcel waits for more of them, in microseconds; 0: without limit"},
     [](job_settings& into, const value& to) { into.parcel_wait_us = narrowed(to); }},
    {{"TRIMTAB_PARCEL_TUNE", "", options::flag(),
      "1: the settings by which parcels are coalesced are tuned while the program runs; not set: what the program says"},
     [](job_settings& into, const value& to) { into.parcel_tune = to.is_set(); }},
    {{"TRIMTAB_PARCEL_BYTES", "", number(1, most_number), "bytes of parcels that wait for each other, at most"},
     [](job_settings& into, const value& to) { into.parcel_bytes = narrowed(to); }},
    {{"TRIMTAB_COMMUNICATION_SERVERS", "", number(0, server_settings::most_servers),
      "shm, tcp: threads that send small messages for all others. Not set: what the program says, else by what `trimtab "
      "doctor "
      "--network` has measured here, on CPUs that no worker uses; 0 where it has not"},
     [](job_settings& into, const value& to) { into.servers = narrowed(to); }},
    {{"TRIMTAB_NETWORK_FOLDER", "", options::path(),
      "folder with what `trimtab doctor --network` has measured; not set: trimtab in XDG_DATA_HOME or ~/.local/share"},
     [](job_settings& into, const value& to) { into.network_folder = to.text; }},
};

// Rank and size stay: with them alone no process takes itself for a locality, and what records it knows its rank.
constexpr std::string_view forgotten_variables[] = {"TRIMTAB_JOB_TRANSPORT", "TRIMTAB_JOB_SECRET", "TRIMTAB_JOB_PATH",
                                                    "TRIMTAB_JOB_MEETING",   "TRIMTAB_JOB_SOCKET", "TRIMTAB_JOB_ARRIVALS"};

}  // namespace

std::span<const options::row<job_settings>> option_table() noexcept { return job_table; }

bool is_forgotten(const options::option& option_row) noexcept {
  return std::ranges::find(forgotten_variables, std::string_view(option_row.variable)) != std::end(forgotten_variables);
}

}  // namespace trimtab::parcels
