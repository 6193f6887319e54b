// Actions: functions that other localities may call. Each pair of a function and its kind is one,
// made at its first use and never removed. Registering locks; what is registered is read without a lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "trimtab/parcels/calls/function_address.hpp"
#include "trimtab/parcels/coalescing/flush_rules.hpp"
#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

class dispatcher;

// What one parcel brings.
struct arrival {
  dispatcher& receiver;
  locality_number from;
  bool has_call;       // the caller waits for a result
  std::uint64_t call;  // its number there
  bytes_view arguments;
  const void* function;     // of this process
  std::uint64_t trace = 0;  // its number in the trace of the sender; 0: it is not traced
};

// What parcels of one type of function have in common; of static storage.
struct parcel_kind {
  static constexpr std::uint64_t right_mark = 0x6c65637261702d74;
  std::uint64_t mark = right_mark;  // whoever looks it up by another process's address sees that it is one
  // Of the types of arguments and result: both sides must have the same.
  std::uint64_t signature = 0;
  // Unpacks the arguments, and runs the function or makes a task for it. May throw malformed_message.
  void (*receive)(const arrival& parcel) = nullptr;
  // Sent by the parcels themselves, for their own purposes: not counted as work of the program.
  bool is_internal = false;
  // What people call it; nullptr: by its function.
  const char* label = nullptr;
};

// As people call it: the kind's label, or the function as the linker knows it, else its place: "program+0x1a40".
std::string name_of_action(const parcel_kind& kind, const void* function);

struct action {
  std::uint32_t number = 0;  // from 1, in the order of the first use in this process
  const parcel_kind* kind = nullptr;
  const void* function = nullptr;  // nullptr: the kind needs none
  function_address portable_kind, portable_function;
  std::string name;
  // Coalesced by settings of its own, in a queue of its own; false: with all others.
  std::atomic<bool> is_apart{false};

  coalescing settings() const {
    const std::lock_guard guard(m_lock);
    return m_settings;
  }
  // From any thread. What waits in queues is sent by the new settings.
  void set(const coalescing& settings, bool apart) {
    const std::lock_guard guard(m_lock);
    m_settings = settings;
    changes.fetch_add(1, std::memory_order_release);
    is_apart.store(apart, std::memory_order_release);
  }
  std::atomic<std::uint32_t> changes{0};

 private:
  mutable std::mutex m_lock;
  coalescing m_settings;
};

class action_registry {
 public:
  // The one of the process.
  static action_registry& of_process();

  // Throws std::invalid_argument if the function lies in no loaded file, so that other processes cannot know it.
  action& find_or_add(const parcel_kind& kind, const void* function);
  // nullptr: there is none.
  action* find(std::uint32_t number) const noexcept;
  std::uint32_t size() const noexcept { return m_size.load(std::memory_order_acquire); }

  static constexpr std::uint32_t most_actions = 65'536;

 private:
  static constexpr std::uint32_t per_block = 256;
  using block = std::unique_ptr<action>[per_block];

  std::mutex m_lock;  // of the table, and of who adds
  std::map<std::pair<const parcel_kind*, const void*>, action*> m_known;
  std::atomic<std::uint32_t> m_size{0};
  std::atomic<block*> m_blocks[most_actions / per_block] = {};
};

// For what is called often: the action of a function, remembered for the last one asked for. One object for each kind.
class remembered_action {
 public:
  action& get(const parcel_kind& kind, const void* function) {
    action* const last = m_last.load(std::memory_order_acquire);
    if (last != nullptr && last->function == function) [[likely]]
      return *last;
    action& result = action_registry::of_process().find_or_add(kind, function);
    m_last.store(&result, std::memory_order_release);
    return result;
  }

 private:
  std::atomic<action*> m_last{nullptr};
};

}  // namespace trimtab::parcels
