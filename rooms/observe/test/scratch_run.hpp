// A run directory of its own for each test, removed afterwards; and readers of the bytes, written against
// format.hpp alone so that a mistake of the writer shows.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "process_identity.hpp"
#include "scratch_folder.hpp"
#include "trimtab/observe/format.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe::testing {

using scratch_run = scratch_folder;

// Of the first process with this number in the run.
inline std::string folder_of(const scratch_run& run, int pid) {
  return run.path() + "/" + file_host_name().text + "-" + std::to_string(pid) + "-0";
}

inline std::vector<char> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline file_header header_of(const std::vector<char>& bytes) {
  file_header head{};
  if (bytes.size() >= sizeof head) std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

template <class kind>
kind second_header_of(const std::vector<char>& bytes) {
  kind head{};
  if (bytes.size() >= header_bytes) std::memcpy(&head, bytes.data() + sizeof(file_header), sizeof head);
  return head;
}

template <class record_type>
std::vector<record_type> records_of(const std::vector<char>& bytes) {
  const file_header head = header_of(bytes);
  const std::uint64_t count = head.written < head.capacity ? head.written : head.capacity;
  std::vector<record_type> result(count);
  if (count > 0) std::memcpy(result.data(), bytes.data() + header_bytes, count * sizeof(record_type));
  return result;
}

// A recorder is large and its address must not move: one on the heap a test. Lanes are thread-wide state,
// so a test that opens lanes must close them (thread ends, or close_lane).
struct open_recorder {
  explicit open_recorder(const scratch_run& run, record_level level = record_level::profile,
                         std::uint64_t max_trace = std::uint64_t{1} << 30, keep kept = keep::first,
                         std::uint32_t flight_events = 4096, std::uint32_t most_lanes = recorder::max_lanes)
      : recorder_(std::make_unique<recorder>()) {
    recorder_options options;
    options.run_directory = run.path().c_str();
    options.level = level;
    options.max_trace_bytes = max_trace;
    options.kept = kept;
    options.flight_events = flight_events;
    options.most_lanes = most_lanes;
    error = recorder_->open(options);
  }
  ~open_recorder() {
    if (t_lane != nullptr) recorder_->close_lane(*t_lane);
  }
  recorder* operator->() { return recorder_.get(); }
  recorder& operator*() { return *recorder_; }
  // Where the next record of names.tt will stand: a process begins with facts about itself.
  std::size_t next_name() { return header_bytes + header_of(bytes_of(file("names.tt"))).written; }
  std::string file(const char* name) { return std::string(recorder_->directory()) + "/" + name; }

  int error = 0;
  std::unique_ptr<recorder> recorder_;
};

}  // namespace trimtab::observe::testing
