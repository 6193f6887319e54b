#include "account_files.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "new_file_header.hpp"
#include "trimtab/base/read_file.hpp"
#include "trimtab/observe/format.hpp"

namespace trimtab::kernel {

namespace {

template <class record>
struct table {
  observe::file_kind kind;
  std::vector<record> rows;
};

// The page in front of the records, with the header of the kind where there is one.
template <class record>
std::string file_of(const table<record>& what, std::string_view second_header) {
  observe::file_header head = new_file_header(what.kind, sizeof(record));
  head.capacity = head.written = what.rows.size();
  std::string bytes(observe::header_bytes, '\0');
  std::memcpy(bytes.data(), &head, sizeof head);
  std::copy(second_header.begin(), second_header.end(), bytes.begin() + sizeof head);
  bytes.append(reinterpret_cast<const char*>(what.rows.data()), what.rows.size() * sizeof(record));
  return bytes;
}

template <class record>
int write(const std::string& folder, const char* name, const table<record>& what, std::string_view second_header = {}) {
  return base::write_whole_file((folder + "/" + name).c_str(), file_of(what, second_header));
}

observe::scheduler_header header_of(const scheduler_recording& recording, const recording_facts& facts) {
  const scheduler_account& account = recording.account();
  observe::scheduler_header head{};
  head.begin_ns = recording.begin_ns();
  head.end_ns = recording.counted_ns();
  head.is_ended = facts.is_ended;
  head.cpus = static_cast<std::uint32_t>(recording.cpus());
  head.busy_ns = account.busy_ns();
  head.idle_ns = account.idle_ns();
  head.events = recording.events();
  head.lost = account.lost_events();
  head.inferred = account.inferred_switches();
  head.damaged = recording.damaged();
  head.watched_pid = facts.watched;
  head.recorder_pid = facts.recorder;
  head.recorder_cpu_ns = facts.recorder_cpu_ns;
  facts.host.copy(head.host, sizeof head.host - 1);
  return head;
}

observe::scheduler_thread row_of(const known_thread& who, const thread_name& program, const scheduler_account& accounts,
                                 const thread_account* account) {
  observe::scheduler_thread row{};
  row.pid = who.process;
  row.tid = who.own_number;
  row.system_tid = who.system_number;
  row.parent = who.parent;
  row.flags = who.is_watched ? observe::scheduler_thread_flags::watched : 0;
  std::memcpy(row.name, who.name.data(), sizeof row.name);
  std::memcpy(row.program, (program[0] != 0 ? program : who.name).data(), sizeof row.program);
  row.begin_ns = who.begin_ns;
  if (account == nullptr) return row;
  row.running_ns = accounts.running_ns(*account);
  row.voluntary_switches = account->voluntary_switches;
  row.involuntary_switches = account->involuntary_switches;
  row.moves = account->moves;
  row.woken_waits = account->woken_waits.count();
  row.woken_ns = account->woken_waits.sum_ns();
  row.longest_woken_ns = account->woken_waits.greatest_ns();
  row.preempted_waits = account->preempted_waits.count();
  row.preempted_ns = account->preempted_waits.sum_ns();
  row.longest_preempted_ns = account->preempted_waits.greatest_ns();
  row.idle_though_ready_ns = account->idle_though_ready_ns;
  row.unknown_ns = account->unknown_ns;
  return row;
}

void add_charges(std::vector<observe::scheduler_charge>& rows, thread_number waiter, observe::scheduler_charge_kind kind,
                 const std::map<thread_number, charge>& charges) {
  for (const auto& [other, sum] : charges) {
    observe::scheduler_charge row{};
    row.waiter = waiter;
    row.other = other;
    row.kind = kind;
    row.ns = sum.ns;
    row.count = sum.count;
    rows.push_back(row);
  }
}

void add_delays(std::vector<observe::scheduler_delay>& rows, thread_number thread, observe::scheduler_wait kind,
                const delay_histogram& delays) {
  delays.for_each([&](std::uint64_t longest_ns, std::uint64_t count) {
    observe::scheduler_delay row{};
    row.thread = thread;
    row.kind = kind;
    row.longest_ns = std::min(longest_ns, delays.greatest_ns());
    row.count = count;
    rows.push_back(row);
  });
}

}  // namespace

int write_account(const std::string& folder, const scheduler_recording& recording, const recording_facts& facts) {
  const std::vector<known_thread>& known = recording.directory().threads();
  const std::vector<thread_name> programs = recording.directory().names_of_processes();
  table<observe::scheduler_thread> threads{observe::file_kind::scheduler_threads, {}};
  table<observe::scheduler_charge> charges{observe::file_kind::scheduler_charges, {}};
  table<observe::scheduler_delay> delays{observe::file_kind::scheduler_delays, {}};
  for (thread_number number = 1; number <= known.size(); ++number) {
    const auto found = recording.account().threads().find(number);
    const thread_account* const own = found == recording.account().threads().end() ? nullptr : &found->second;
    threads.rows.push_back(row_of(known[number - 1], programs[number - 1], recording.account(), own));
    if (own == nullptr) continue;
    add_charges(charges.rows, number, observe::scheduler_charge_kind::ran_after_wake_up, own->ran_after_wake_up);
    add_charges(charges.rows, number, observe::scheduler_charge_kind::ran_after_preemption, own->ran_after_preemption);
    add_charges(charges.rows, number, observe::scheduler_charge_kind::woke, own->late_wakes);
    add_delays(delays.rows, number, observe::scheduler_wait::woken, own->woken_waits);
    add_delays(delays.rows, number, observe::scheduler_wait::preempted, own->preempted_waits);
  }
  const observe::scheduler_header head = header_of(recording, facts);
  if (const int problem = write(folder, "threads.tt", threads, {reinterpret_cast<const char*>(&head), sizeof head}))
    return problem;
  if (const int problem = write(folder, "charges.tt", charges)) return problem;
  return write(folder, "delays.tt", delays);
}

}  // namespace trimtab::kernel
