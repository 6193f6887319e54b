// Decisions on a runtime of this program: into the run directory where the process is watched, through trimtab.h, and kept
// for being printed. One thread at a time.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trimtab/steer/record.hpp"
#include "trimtab/steer/recording_writer.hpp"

namespace trimtab::task_steering {

// Numbers of engines in a process: those of runtimes are 1, 2, ...; from here on are those of a job's messages, those of
// what all localities of a job search together, and those that choose schedulers.
inline constexpr std::uint32_t first_messages_engine = 0x40000000, first_shared_engine = 0x60000000,
                               first_scheduler_engine = 0x80000000;

class program_record {
 public:
  // runtime: 1, 2, ... in this process.
  program_record(std::uint32_t runtime, bool is_kept)
      : program_record("runtime " + std::to_string(runtime), runtime, is_kept) {}
  // number: of an engine, unlike any other's in this process.
  program_record(std::string name, std::uint32_t number, bool is_kept);

  // recorded: its number in the run's records, 0: none. key: how later runs find it, "": not at all.
  void add(const steer::subject_info& subject, std::uint32_t recorded, const std::string& key);
  const steer::subject_info* find(steer::subject_id subject) const noexcept;  // nullptr: not added
  void write(const steer::decision& decision_made, bool is_applied);

  // Its number in the run's table of names, whose first is 0 and trimtab.h's is 1.
  std::uint32_t recorded(steer::subject_id subject) const noexcept;
  // Where the run is to have what an engine built so is told; else nullptr.
  std::unique_ptr<steer::recording_writer> snapshots_of(const steer::recording_head& built);

  // The numbers of its knobs there, by place.
  const std::vector<std::uint32_t>& knobs_of(steer::subject_id subject) { return m_record.knobs_of(subject); }

  // At the end.
  void write(const steer::engine& steering);
  void unavailable(const char* feature, const char* reason, const char* remedy);
  void advise(const std::string& policy, const std::string& reason);
  void fact(const std::string& key, const std::string& value);
  bool has_lines() const noexcept { return !m_lines.empty(); }
  // What was kept since it was printed before, one line each.
  void print(std::FILE* to);

 private:
  void keep(std::string line);

  using numbers = std::map<steer::subject_id, std::uint32_t>;
  static constexpr std::size_t most_kept = 10'000;
  std::string m_name;
  bool m_is_kept;
  std::map<steer::subject_id, steer::subject_info> m_subjects;
  std::shared_ptr<numbers> m_recorded = std::make_shared<numbers>();
  steer::decision_record m_record;
  std::vector<std::string> m_lines;
  std::size_t m_left_out = 0;
};

}  // namespace trimtab::task_steering
