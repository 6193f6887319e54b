// A recorder with a made-up root of /proc and /sys, and what the probes wrote into it by counter name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scratch_run.hpp"
#include "trimtab/observe/probe.hpp"

namespace trimtab::observe::testing {

struct names_read {
  std::map<std::uint32_t, std::string> counters;
  std::map<std::string, std::string> units;
  std::vector<std::string> unavailable;  // what
  std::map<std::string, std::string> why, remedy;
  std::map<std::string, std::string> facts;
};

inline names_read read_names(const std::vector<char>& bytes) {
  names_read result;
  const file_header head = header_of(bytes);
  for (std::size_t at = header_bytes; at + sizeof(name_record) <= header_bytes + head.written;) {
    name_record record;
    std::memcpy(&record, &bytes[at], sizeof record);
    if (record.bytes == 0) break;
    const auto strings_at = [&](std::size_t fixed) {
      std::vector<std::string> strings;
      for (std::size_t s = at + fixed; s < at + record.bytes && strings.size() < 3; s += strings.back().size() + 1)
        strings.emplace_back(&bytes[s]);
      strings.resize(3);
      return strings;
    };
    if (record.tag == name_tag::counter) {
      name_counter fixed;
      std::memcpy(&fixed, &bytes[at], sizeof fixed);
      const auto strings = strings_at(sizeof fixed);
      result.counters[fixed.id] = strings[0];
      result.units[strings[0]] = strings[1];
    } else if (record.tag == name_tag::unavailable) {
      const auto strings = strings_at(sizeof(name_unavailable));
      result.unavailable.push_back(strings[0]);
      result.why[strings[0]] = strings[1];
      result.remedy[strings[0]] = strings[2];
    } else if (record.tag == name_tag::fact) {
      const auto strings = strings_at(sizeof(name_fact));
      result.facts[strings[0]] = strings[1];
    }
    at += record.bytes;
  }
  return result;
}

inline probe* probe_named(const std::string& name) {
  for (const probe_row* row = probe_table; row->name != nullptr; ++row)
    if (row->name == name) return row->instance();
  return nullptr;
}

class probe_test : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) { m_root.put(path, text); }
  const std::string& root() const { return m_root.path(); }

  names_read names() { return read_names(bytes_of(m_to.file("names.tt"))); }

  std::vector<sample> samples(const std::string& counter, std::uint32_t lane = no_lane) {
    const names_read known = names();
    std::vector<sample> result;
    for (const sample& each : records_of<sample>(bytes_of(m_to.file("counters.tt"))))
      if (known.counters.at(each.counter) == counter && each.lane == lane) result.push_back(each);
    return result;
  }
  std::vector<double> values(const std::string& counter) {
    std::vector<double> result;
    for (const sample& each : samples(counter)) result.push_back(each.value);
    return result;
  }

  scratch_run m_root;
  scratch_run m_run;
  open_recorder m_to{m_run};
};

}  // namespace trimtab::observe::testing
