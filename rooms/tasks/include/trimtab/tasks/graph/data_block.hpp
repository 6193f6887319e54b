// Memory that tasks of graphs share, and who may use it now. A task that may not yet is queued, so that no worker waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "trimtab/base/spin_lock.hpp"

namespace trimtab::tasks {

// What a task does with a block.
//   read_write        with others that read_write, which keep out of each other's way themselves (by parts, or atomics)
//   exclusive_write   alone
//   read_only         with others that read
//   constant          as read_only; and from then on nobody may write to it any more
enum class access_mode : std::uint8_t { read_write, exclusive_write, read_only, constant };

const char* name_of(access_mode mode) noexcept;  // "read_write"

// Of everything in graphs; unique in the process. Larger ones came later.
class identity {
 public:
  enum class kind : std::uint8_t { task, block, event };

  constexpr identity() = default;
  static identity next(kind object_kind) noexcept;
  constexpr kind object_kind() const noexcept { return static_cast<kind>(m_value & 3); }
  constexpr std::uint64_t value() const noexcept { return m_value; }
  constexpr auto operator<=>(const identity&) const = default;
  // "block 5", and with a name "block 5 (a)".
  std::string text(std::string_view name = {}) const;

 private:
  std::uint64_t m_value = 0;
};

// Memory of blocks, by powers of two, kept for the next ones. Goes when its last user does.
class block_memory {
 public:
  block_memory() = default;
  ~block_memory();
  block_memory(const block_memory&) = delete;
  block_memory& operator=(const block_memory&) = delete;
  // Aligned to 64; contents as they were left. Throws std::bad_alloc.
  void* allocate(std::size_t bytes);
  void free(void* memory, std::size_t bytes) noexcept;

 private:
  static constexpr unsigned classes = 40;
  struct unused {
    unused* next;
  };
  base::spin_lock m_lock;
  unused* m_unused[classes] = {};
};

class data_block {
 public:
  enum class answer : std::uint8_t { granted, queued, is_constant, is_destroyed };

  // One task's wish to use it.
  struct request {
    request* next = nullptr;
    access_mode mode = access_mode::read_only;
    answer result = answer::queued;
    // The request is no longer queued: `result` has the answer. Called on the thread that released the block.
    void (*notify_access)(request& self) noexcept = nullptr;
  };

  // One reference, the caller's.
  static data_block& create(std::shared_ptr<block_memory> memory, std::size_t bytes, std::string_view name);
  data_block(const data_block&) = delete;
  data_block& operator=(const data_block&) = delete;

  void retain() noexcept { m_references.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept;

  identity id() const noexcept { return m_id; }
  const std::string& name() const noexcept { return m_name; }
  std::string text() const { return m_id.text(m_name); }
  std::size_t bytes() const noexcept { return m_bytes; }
  void* data() const noexcept { return m_data; }

  // queued: `wish` must live until notify_access was called.
  answer acquire(request& wish) noexcept;
  void release_access() noexcept;
  // Its memory goes when nobody uses it any longer; who asks from now on is refused.
  void destroy() noexcept;

  bool is_in_use() noexcept;
  bool is_constant() noexcept;
  bool is_destroyed() noexcept;

 private:
  enum class sharing : std::uint8_t { exclusive, readers, writers };
  data_block(std::shared_ptr<block_memory> memory, std::size_t bytes, std::string_view name);
  ~data_block();
  static sharing sharing_of(access_mode mode) noexcept;
  bool admits(access_mode mode) const noexcept;
  void admit(access_mode mode) noexcept;
  request* admit_queued() noexcept;
  static void notify_all(request* first) noexcept;
  void free_data() noexcept;

  std::atomic<std::uint32_t> m_references{1};
  const identity m_id = identity::next(identity::kind::block);
  const std::string m_name;
  const std::size_t m_bytes;
  std::shared_ptr<block_memory> m_memory;
  void* m_data;
  base::spin_lock m_lock;  // of the following
  std::uint32_t m_users = 0;
  sharing m_shared_by = sharing::exclusive;
  bool m_is_constant = false;
  bool m_is_destroyed = false;
  request* m_first = nullptr;
  request** m_end = &m_first;
};

}  // namespace trimtab::tasks
