// trimtab-kernel FOLDER PROCESS HOST [--events BYTES]: records what the operating system's scheduler does on all CPUs, until
// its standard input ends or SIGTERM comes, and writes into FOLDER what that was. Descendants of PROCESS are marked as the
// program. --events: keeps each event, too, up to so many bytes.
//
// Prints one line: "ready", "elsewhere" (the folder is there: somebody else records on this host; it ends with 0), or what
// is wrong (it ends with 1). A second line says what could not be written. `trimtab run --kernel` starts it.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "account_files.hpp"
#include "online_cpus.hpp"
#include "perf_ring.hpp"
#include "scheduler_recording.hpp"
#include "tracing_files.hpp"
#include "trimtab/base/clock.hpp"

namespace {

using namespace trimtab::kernel;
using trimtab::base::monotonic_ns;

// Of all rings together, and of one: room for about a third of a second of 130,000 events a second on each CPU, where there
// are few CPUs.
constexpr std::size_t most_ring_bytes = std::size_t{256} << 20, most_bytes_of_ring = std::size_t{4} << 20,
                      least_bytes_of_ring = std::size_t{64} << 10;
constexpr int look_every_ms = 100;
// A record may be a little late in its ring: what is younger is not counted yet.
constexpr std::uint64_t latest_record_ns = 5'000'000;
// What was counted is written that often, and never takes more than this part of the time.
constexpr std::uint64_t write_every_ns = 1'000'000'000;
constexpr std::uint64_t part_of_time_for_writing = 50;
constexpr int best_priority = -20;

struct arguments {
  std::string folder, host;
  process_number watched = 0;
  std::uint64_t event_bytes = 0;
};

template <class number>
bool read_number(const char* text, number& into) {
  const char* const end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, into);
  return error == std::errc() && stopped == end;
}

std::optional<arguments> read_arguments(int count, char** words) {
  arguments found;
  if ((count != 4 && count != 6) || !read_number(words[2], found.watched)) return std::nullopt;
  if (count == 6 && (std::strcmp(words[4], "--events") != 0 || !read_number(words[5], found.event_bytes)))
    return std::nullopt;
  found.folder = words[1];
  found.host = words[3];
  return found;
}

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::uint64_t own_cpu_ns() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto microseconds = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
  };
  return 1'000 * (microseconds(usage.ru_utime) + microseconds(usage.ru_stime));
}

// Smaller ones where there is too little memory, or too little of it may be locked.
perf_ring::opened open_ring(std::uint16_t cpu, std::span<const std::uint64_t> ids, std::size_t& bytes) {
  for (;; bytes /= 2) {
    perf_ring::opened opened = perf_ring::open(cpu, ids, bytes);
    if ((opened.error != ENOMEM && opened.error != EPERM) || bytes <= least_bytes_of_ring) return opened;
    if (opened.error == EPERM && !opened.is_about_memory) return opened;
  }
}

class recorder {
 public:
  recorder(arguments given, scheduler_recording recording, std::vector<perf_ring> rings)
      : m_given(std::move(given)), m_recording(std::move(recording)), m_rings(std::move(rings)) {}

  // Until one of these can be read, or the first is closed.
  void record(int input, int signals) {
    std::vector<pollfd> watched{{input, POLLIN, 0}, {signals, POLLIN, 0}};
    for (const perf_ring& ring : m_rings) watched.push_back({ring.descriptor(), POLLIN, 0});
    while (watched[0].revents == 0 && watched[1].revents == 0) {
      read_rings();
      write_if_due();
      poll(watched.data(), watched.size(), look_every_ms);
    }
    const std::uint64_t end_ns = monotonic_ns();
    for (perf_ring& ring : m_rings) ring.disable();
    read_rings();
    m_recording.end(end_ns);
    write(true);
  }

  int problem() const noexcept { return m_problem; }

 private:
  void read_rings() {
    const std::uint64_t begin_ns = monotonic_ns();
    for (std::size_t source = 0; source < m_rings.size(); ++source)
      m_rings[source].read([&](std::span<const std::byte> record) { m_recording.add(source, record); });
    m_recording.count_until(begin_ns - std::min(begin_ns, latest_record_ns));
  }

  void write_if_due() {
    const std::uint64_t begin_ns = monotonic_ns();
    if (begin_ns < m_next_write_ns) return;
    m_recording.settle();
    write(false);
    const std::uint64_t end_ns = monotonic_ns();
    m_next_write_ns = end_ns + std::max(write_every_ns, part_of_time_for_writing * (end_ns - begin_ns));
  }

  void write(bool is_ended) {
    m_problem = write_account(m_given.folder, m_recording,
                              {.host = m_given.host,
                               .watched = m_given.watched,
                               .recorder = static_cast<process_number>(getpid()),
                               .recorder_cpu_ns = own_cpu_ns(),
                               .is_ended = is_ended});
  }

  const arguments m_given;
  scheduler_recording m_recording;
  std::vector<perf_ring> m_rings;
  std::uint64_t m_next_write_ns = 0;
  int m_problem = 0;
};

// A descriptor that can be read when somebody wants this process to end.
int ends_by_signal() {
  sigset_t all;
  sigemptyset(&all);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&all, number);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  return signalfd(-1, &all, SFD_CLOEXEC);
}

int fail(const std::string& problem) {
  say(problem);
  return 1;
}

int run(const arguments& given) {
  const tracing_formats formats = read_tracing_formats();
  if (!formats.problem.empty()) return fail(formats.problem);
  const record_decoder decoder(formats.texts());
  const std::vector<std::uint64_t> ids = decoder.ids();
  const std::vector<std::uint16_t> cpus = online_cpus();
  std::size_t ring_bytes = most_bytes_of_ring;
  while (ring_bytes * cpus.size() > most_ring_bytes && ring_bytes > least_bytes_of_ring) ring_bytes /= 2;
  std::vector<perf_ring> rings;
  for (const std::uint16_t cpu : cpus) {
    perf_ring::opened opened = open_ring(cpu, ids, ring_bytes);
    if (opened.error != 0) return fail(opened.problem);
    rings.push_back(std::move(opened.ring));
  }
  if (mkdir(given.folder.c_str(), S_IRWXU) != 0) {
    const int problem = errno;
    if (problem != EEXIST) return fail(given.folder + ": " + std::strerror(problem));
    say("elsewhere");
    return 0;
  }
  scheduler_recording recording(decoder, cpus, monotonic_ns(), given.watched);
  if (given.event_bytes > 0)
    if (const int problem = recording.keep_events(given.folder + "/events.tt", given.event_bytes); problem != 0)
      return fail(given.folder + "/events.tt: " + std::strerror(problem));
  // It must read in time, whatever else runs; where that is not permitted, it may lose events, which are counted.
  setpriority(PRIO_PROCESS, 0, best_priority);
  const int signals = ends_by_signal();
  for (perf_ring& ring : rings)
    if (!ring.enable()) return fail(std::string("the scheduler's events cannot be enabled: ") + std::strerror(errno));
  recorder own(given, std::move(recording), std::move(rings));
  say("ready");
  own.record(STDIN_FILENO, signals);
  if (own.problem() == 0) return 0;
  return fail(given.folder + ": " + std::strerror(own.problem()));
}

}  // namespace

int main(int count, char** words) {
  const std::optional<arguments> given = read_arguments(count, words);
  if (!given) {
    std::fputs("usage: trimtab-kernel FOLDER PROCESS HOST [--events BYTES]; `trimtab run --kernel` starts it\n", stderr);
    return 2;
  }
  try {
    return run(*given);
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}
