// Counts of calls on files by stage, group of files and kind of call, in storage.tt of the process's folder. Any thread may
// add at any time. A new row takes a lock and may lengthen the file; everything else is a look-up and a few additions.
// One instance, in static storage. Nothing here throws, prints, or changes errno.
#pragma once

#include <atomic>
#include <cstdint>

#include "trimtab/base/mapped_file.hpp"
#include "trimtab/base/spin_lock.hpp"
#include "trimtab/observe/format.hpp"
#include "trimtab/storage/path_group.hpp"

namespace trimtab::storage {

inline constexpr std::uint32_t no_stage = 0xFFFFFFFF;

// The stage of Spark that a thread works for.
struct stage_tag {
  std::uint32_t stage = no_stage;
  std::uint16_t attempt = 0;
};

// One call on a file.
struct file_call {
  observe::storage_call call;
  std::uint16_t group;  // a number that group_number gave
  std::int64_t result;  // of the call: below 0: it failed; otherwise bytes, where it reads or writes
  std::uint64_t ns;
};

class call_table {
 public:
  static constexpr std::uint32_t most_rows = 1u << 16;
  static constexpr std::uint32_t most_groups = 1u << 12;
  static constexpr std::uint16_t no_group = 0;

  // Makes FOLDER/storage.tt. 0 or an errno.
  int open(const char* folder) noexcept;
  bool is_open() const noexcept { return m_is_open.load(std::memory_order_acquire); }
  // In the child of a fork, which must not add to its parent's file.
  void leave_to_parent() noexcept { m_is_open.store(false, std::memory_order_relaxed); }

  // The number of a group, found or made; no_group: there are too many.
  std::uint16_t group_number(const path_group& group) noexcept;
  // Counted as dropped where there is no room for another row.
  void add(stage_tag tag, const file_call& call) noexcept;

 private:
  struct slot {
    std::atomic<std::uint64_t> key;  // 0: free
    std::atomic<std::uint32_t> row;  // plus one; 0: not yet filled
  };
  static constexpr std::uint32_t slots = most_rows * 2;

  observe::storage_row* find_row(std::uint64_t key) noexcept;
  observe::storage_row* make_row(std::uint64_t key, stage_tag tag, const file_call& call) noexcept;
  std::uint16_t find_group(const path_group& group, std::uint32_t begin, std::uint32_t end) const noexcept;
  observe::storage_row* rows() const noexcept;
  observe::file_header& header() const noexcept;

  std::atomic<bool> m_is_open{false};
  base::spin_lock m_lock;  // held by who makes rows or groups
  base::mapped_file m_file;
  slot m_slots[slots] = {};
  std::atomic<std::uint32_t> m_groups{1};  // the first stands for no_group
  path_group m_group[most_groups] = {};
};

}  // namespace trimtab::storage
