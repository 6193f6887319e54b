// The bytes of format.hpp against tests/golden, which the Python tests read as well: a change of the format that
// one side only knows of fails here or there. TRIMTAB_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "trimtab/observe/format.hpp"

namespace trimtab::observe {
namespace {

std::filesystem::path golden() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path().parent_path() / "tests" / "golden";
}

void check(const std::string& name, const std::string& content) {
  const std::filesystem::path path = golden() / name;
  if (std::getenv("TRIMTAB_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(in) << path << ": missing";
  const std::string found{std::istreambuf_iterator<char>(in), {}};
  ASSERT_EQ(found.size(), content.size()) << path;
  for (std::size_t at = 0; at < found.size(); ++at)
    ASSERT_EQ(static_cast<unsigned char>(found[at]), static_cast<unsigned char>(content[at])) << path << ": byte " << at;
}

template <class kind>
std::string bytes(const kind& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

file_header header(file_kind kind, std::size_t record_bytes, std::uint64_t capacity, std::uint64_t written) {
  file_header head{};
  std::memcpy(head.magic, file_magic, sizeof head.magic);
  head.version = format_version;
  head.header_size = header_bytes;
  head.kind = kind;
  head.record_bytes = static_cast<std::uint32_t>(record_bytes);
  head.capacity = capacity;
  head.written = written;
  head.dropped = 3;
  head.minor = format_minor;
  return head;
}

std::string page(const file_header& head, const std::string& second) {
  std::string all = bytes(head) + second;
  all.resize(header_bytes);
  return all;
}

template <class kind>
std::string name(kind fixed, name_tag tag, std::initializer_list<const char*> strings) {
  std::string text;
  for (const char* each : strings) text += std::string(each) + '\0';
  text.resize((text.size() + 7) / 8 * 8);
  fixed.head = {static_cast<std::uint32_t>(sizeof fixed + text.size()), tag, 0};
  return bytes(fixed) + text;
}

TEST(golden, process) {
  process_header self{};
  self.pid = 100;
  self.ppid = 99;
  self.clock = clock_kind::tsc;
  self.level = record_level::trace;
  self.state = process_state::exited;
  self.lanes = 1;
  self.ticks_0 = 1000;
  self.mono_ns_0 = 2000;
  self.real_ns_0 = 3000;
  self.ns_per_tick = 0.5;
  self.start_ticks = 1000;
  self.last_ticks = 900'000;
  self.end_ticks = 1'001'000;
  self.cpus_available = 1.5;
  self.cpus_affinity = 2;
  self.cpus_online = 4;
  self.cpus_quota = 1.5;
  self.parallel_ticks = 500'000;
  self.parallel_since = 400'000;
  self.setup_ticks = 11;
  self.sampler_cpu_ns = 12;
  self.clock_read_ns = 7.25;
  self.forked_from = 98;
  self.user_ns = 13;
  self.system_ns = 14;
  self.voluntary_switches = 15;
  self.involuntary_switches = 16;
  self.max_rss_kb = 17;
  std::memcpy(self.command, "./app\0-x", 9);
  check("100-0/process.tt", page(header(file_kind::process, 0, 0, 0), bytes(self)));
}

TEST(golden, names) {
  name_module module{};
  module.id = 1;
  module.base = 0x1000;
  module.end = 0x2000;
  name_subject region{};
  region.id = 1;
  region.kind = subject_kind::region;
  region.runtime = 1;
  region.module = 1;
  region.line = 12;
  region.offset = 0x40;
  region.parent = no_subject;
  name_counter counter{};
  counter.id = 1;
  counter.is_cumulative = 1;
  name_runtime runtime{};
  runtime.id = 1;
  name_knob chunk{};
  chunk.id = 1;
  chunk.subject = 1;
  name_policy tuner{};
  tuner.id = 1;
  const std::string all = name(module, name_tag::module, {"/lib/app", "ab12"}) +
                          name(runtime, name_tag::runtime, {"libgomp", "/lib/libgomp.so.1", "12"}) +
                          name(region, name_tag::subject, {"", "app.c", "solve"}) +
                          name(counter, name_tag::counter, {"load", "CPUs", "/proc/stat"}) +
                          name(name_unavailable{}, name_tag::unavailable, {"energy", "no meter", "another machine"}) +
                          name(name_fact{}, name_tag::fact, {"key", "value"}) +
                          name(chunk, name_tag::knob, {"schedule", "app+0x40", "static,dynamic"}) +
                          name(tuner, name_tag::policy, {"tuner"});
  check("100-0/names.tt", page(header(file_kind::names, 0, all.size(), all.size()), "") + all);
}

TEST(golden, lane) {
  lane_header lane{};
  lane.tid = 101;
  lane.start_ticks = 1000;
  lane.end_ticks = 1'000'000;
  lane.threads = 2;
  lane.is_main = 1;
  std::memcpy(lane.name, "worker", 7);
  lane.run_ns = 21;
  lane.run_delay_ns = 22;
  lane.time_slices = 23;
  lane.voluntary_switches = 24;
  lane.involuntary_switches = 25;
  lane.migrations = unknown;
  lane.alive_ticks = 26;
  lane.hooks = 27;
  lane.clock_reads = 28;
  lane.worker_of = 4;
  lane.worker = 29;
  std::memcpy(lane.title, "runtime 1, worker 29", 21);
  lane.kind = lane_kind::thread;
  lane.number = 30;
  lane.summarized_events = 3;
  lane.program_ns = 38;
  lane.kernel_ns = 39;
  lane.minor_faults = 40;
  lane.major_faults = 41;
  lane.region_ticks = 31;
  lane.region_instance = 32;
  lane.part_ticks = 33;
  lane.part_instance = 34;
  lane.part_wait = 35;
  lane.region_subject = 36;
  lane.part_subject = 37;
  // A ring of three that wrapped: the first slot holds the latest, the second is being overwritten.
  const std::array<event, 3> events{
      {{4000, 1, static_cast<std::uint16_t>(event_kind::region_end), 1, 7, 1},
       {2000, 1, static_cast<std::uint16_t>(event_kind::region_begin), 1, 7, 0},
       {3000, 1, static_cast<std::uint16_t>(event_kind::wait), static_cast<std::uint16_t>(wait_kind::barrier), 500, 7}}};
  check("100-0/lane-0000.events", page(header(file_kind::events, sizeof(event), 3, 4), bytes(lane)) + bytes(events));

  profile_row row{};
  row.subject = 1;
  row.what = metric::loop;
  row.flags = static_cast<std::uint16_t>(schedule::dynamic);
  row.about = 0;
  row.in_region = no_subject;
  row.count = 2;
  row.timed = 1;
  row.sum = 31;
  row.min = 5;
  row.max = 26;
  for (std::uint64_t i = 0; i < 4; ++i) row.x[i] = 40 + i;
  row.histogram[5] = 1;
  row.histogram[histogram_buckets - 1] = 9;
  lane_header twin{};
  check("100-0/lane-0000.profile", page(header(file_kind::profile, sizeof row, 1, 1), bytes(twin)) + bytes(row));
}

TEST(golden, samples_and_switches) {
  const sample one{5000, 1, no_lane, 0.25, 0};
  check("100-0/counters.tt", page(header(file_kind::counters, sizeof one, 1, 1), "") + bytes(one));
  const event out{6000, no_subject, static_cast<std::uint16_t>(event_kind::switch_out), 1, 3, 0};
  check("100-0/switches.tt", page(header(file_kind::switches, sizeof out, 1, 1), "") + bytes(out));
}

TEST(golden, decisions) {
  decision kept{};
  kept.ticks = 7000;
  kept.number = 2;
  kept.subject = 1;
  kept.knob = 1;
  kept.from = 0;
  kept.to = 1;
  kept.gain = 0.22;
  kept.uncertainty = 0.03;
  kept.pairs = 9;
  kept.outcome = decision_outcome::kept;
  kept.policy = 1;
  std::memcpy(kept.text, "run delay\0imbalance=1.5", 24);
  check("100-0/decisions.tt", page(header(file_kind::decisions, sizeof kept, 1, 1), "") + bytes(kept));
}

TEST(golden, layout) {
  std::ostringstream table;
#define FIELD(type, field) table << #type " " #field " " << offsetof(type, field) << ' ' << sizeof(type::field) << '\n';
#include "format_fields.inc"
#undef FIELD
  check("layout.txt", table.str());
}

}  // namespace
}  // namespace trimtab::observe
