// The knobs of one engine where another process of the same user sees and turns them: a mapped file of the process's folder
// in the run, with a slot for each knob (knob_slot in format.hpp). The other side writes requests into slots; what is in
// them is checked here as anything that others may have written. Slots stay where they are.
// By the steering thread. Makes system calls when the file comes into being and when it grows, and allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "trimtab/base/mapped_file.hpp"
#include "trimtab/observe/format.hpp"

namespace trimtab::observe {

struct knob_wish {
  std::uint64_t number = 0;
  knob_request kind = knob_request::set;
  std::int64_t value = 0;
};

class knob_panel {
 public:
  static constexpr std::size_t most_slots = 4096;

  // engine: "" of the process; otherwise which one of it, such as "runtime-1". 0 or an errno.
  int create(const char* folder, const char* engine) noexcept;
  bool is_open() const noexcept { return static_cast<bool>(m_file); }
  std::size_t size() const noexcept { return m_slots; }

  // The place of a new slot, whose request is none. nullopt: there is no room for it.
  std::optional<std::size_t> add(const knob_slot& fresh) noexcept;
  knob_slot& at(std::size_t place) noexcept { return slots()[place]; }

  // A request of the slot that is not answered yet.
  std::optional<knob_wish> request(std::size_t place) noexcept;
  // decision: its number in the run's records, 0: none.
  void answer(std::size_t place, std::uint64_t number, knob_answer result, std::uint64_t decision) noexcept;

 private:
  knob_slot* slots() noexcept { return reinterpret_cast<knob_slot*>(m_file.data() + header_bytes); }

  base::mapped_file m_file;
  std::size_t m_slots = 0;
};

}  // namespace trimtab::observe
