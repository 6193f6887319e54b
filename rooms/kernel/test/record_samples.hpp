// Records as perf_event_open gives them, with the tracepoints of one kernel.
#pragma once

#include <linux/perf_event.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/kernel/record_decoder.hpp"

namespace trimtab::kernel::samples {

inline constexpr std::string_view common = R"(format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

)";

inline std::string format_of(std::string_view name, int id, std::string_view fields) {
  return "name: " + std::string(name) + "\nID: " + std::to_string(id) + "\n" + std::string(common) + std::string(fields);
}

inline constexpr std::string_view of_switch =
    R"(	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
	field:int prev_prio;	offset:28;	size:4;	signed:1;
	field:long prev_state;	offset:32;	size:8;	signed:1;
	field:char next_comm[16];	offset:40;	size:16;	signed:0;
	field:pid_t next_pid;	offset:56;	size:4;	signed:1;
)";
inline constexpr std::string_view of_wakeup = R"(	field:char comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t pid;	offset:24;	size:4;	signed:1;
	field:int prio;	offset:28;	size:4;	signed:1;
	field:int target_cpu;	offset:32;	size:4;	signed:1;
)";
inline constexpr std::string_view of_migration = R"(	field:char comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t pid;	offset:24;	size:4;	signed:1;
	field:int orig_cpu;	offset:32;	size:4;	signed:1;
	field:int dest_cpu;	offset:36;	size:4;	signed:1;
)";
inline constexpr std::string_view of_fork = R"(	field:__data_loc char[] parent_comm;	offset:8;	size:4;	signed:0;
	field:pid_t parent_pid;	offset:12;	size:4;	signed:1;
	field:__data_loc char[] child_comm;	offset:16;	size:4;	signed:0;
	field:pid_t child_pid;	offset:20;	size:4;	signed:1;
)";

inline constexpr std::string_view of_runtime = R"(	field:__data_loc char[] comm;	offset:8;	size:4;	signed:0;
	field:pid_t pid;	offset:12;	size:4;	signed:1;
	field:u64 runtime;	offset:16;	size:8;	signed:0;
)";

struct texts {
  std::string sched_switch = format_of("sched_switch", 372, of_switch);
  std::string sched_wakeup = format_of("sched_wakeup", 374, of_wakeup);
  std::string sched_wakeup_new = format_of("sched_wakeup_new", 373, of_wakeup);
  std::string sched_migrate_task = format_of("sched_migrate_task", 371, of_migration);
  std::string sched_process_fork = format_of("sched_process_fork", 366, of_fork);
  std::string sched_stat_runtime = format_of("sched_stat_runtime", 363, of_runtime);
  record_decoder decoder() const {
    return record_decoder(
        {sched_switch, sched_wakeup, sched_wakeup_new, sched_migrate_task, sched_process_fork, sched_stat_runtime});
  }
};

using bytes = std::vector<std::byte>;

template <class value>
void put(bytes& into, std::size_t offset, value what) {
  if (into.size() < offset + sizeof what) into.resize(offset + sizeof what);
  std::memcpy(into.data() + offset, &what, sizeof what);
}

inline bytes with_header(std::uint32_t type, const bytes& body) {
  bytes record;
  put(record, 0, perf_event_header{type, 0, static_cast<std::uint16_t>(sizeof(perf_event_header) + body.size())});
  record.insert(record.end(), body.begin(), body.end());
  return record;
}

// While a thread runs: by default thread 11 of process 10 on CPU 3 at 5,000 ns.
struct sample_head {
  std::uint32_t process = 10, thread = 11;
  std::uint64_t time_ns = 5'000;
  std::uint32_t cpu = 3;
};

inline bytes sample_of(const bytes& raw, const sample_head& head = {}) {
  bytes body;
  put(body, 0, head.process);
  put(body, 4, head.thread);
  put(body, 8, head.time_ns);
  put(body, 16, head.cpu);
  put(body, 20, std::uint32_t{0});
  put(body, 24, std::uint64_t{1});
  put(body, 32, static_cast<std::uint32_t>(raw.size()));
  body.insert(body.end(), raw.begin(), raw.end());
  return with_header(PERF_RECORD_SAMPLE, body);
}

// The names are of at most 15 bytes.
inline bytes raw_switch(std::int32_t from, std::int64_t state, std::int32_t to, std::string_view from_name = "leaving",
                        std::string_view to_name = "fifteen letters") {
  bytes raw(64);
  put(raw, 0, std::uint16_t{372});
  std::memcpy(raw.data() + 8, from_name.data(), from_name.size());
  put(raw, 24, from);
  put(raw, 32, state);
  std::memcpy(raw.data() + 40, to_name.data(), to_name.size());
  put(raw, 56, to);
  return raw;
}

inline bytes raw_wakeup(std::uint16_t id, std::uint8_t flags, std::int32_t who, std::int32_t target) {
  bytes raw(36);
  put(raw, 0, id);
  put(raw, 2, flags);
  put(raw, 4, std::int32_t{11});
  put(raw, 24, who);
  put(raw, 32, target);
  return raw;
}

inline bytes raw_runtime(std::int32_t who, std::uint64_t ns) {
  bytes raw(24);
  put(raw, 0, std::uint16_t{363});
  put(raw, 12, who);
  put(raw, 16, ns);
  return raw;
}

inline bytes raw_fork(std::int32_t child, std::int32_t parent) {
  bytes raw(24);
  put(raw, 0, std::uint16_t{366});
  put(raw, 12, parent);
  put(raw, 20, child);
  return raw;
}

}  // namespace trimtab::kernel::samples
