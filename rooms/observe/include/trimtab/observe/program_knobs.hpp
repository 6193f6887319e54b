// Knobs that the program declares through trimtab.h, and what their work costs: from the program's threads to the knob
// source of the session, and values back.
//
//   declare (program, under a lock) -> knobs() -> the source offers them
//   event ended (program, never waits) -> add -> take() -> measurements
//   decision -> publish (steering thread) -> in_force -> the next event (program)
//
// Never destroyed, as a program's threads may be in an event when it ends.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trimtab.h"

namespace trimtab::observe {

struct declared_knob {
  std::string name;
  std::vector<std::int64_t> values;            // of a list
  std::vector<std::string> names;              // of values without an order; the value is the place
  std::int64_t least = 0, most = 0, step = 0;  // of a range
  std::int64_t initial = 0;
  bool operator==(const declared_knob&) const = default;
};

// Events under one decision, together long enough that one clock read more or less counts little.
struct event_sum {
  std::uint64_t decision = 0;
  std::uint64_t events = 0;
  double cost = 0;     // of all; less is better
  double seconds = 0;  // that the program was in them
};

class program_work : public ::trimtab_work {
 public:
  program_work(std::string name, std::uint32_t subject);
  const std::string& name() const noexcept { return m_name; }
  std::uint32_t subject() const noexcept { return m_subject; }

  // By any thread when an event has ended. Never waits: where another thread adds at the same time it is dropped.
  void add(std::uint64_t decision, double cost, double seconds) noexcept;
  bool has_events() const noexcept { return m_has_events.load(std::memory_order_relaxed); }

  // The steering thread: what has come together since the call before.
  std::vector<event_sum> take();
  // In force for events that begin from now on, in the order of the knobs.
  void publish(std::uint64_t decision, std::span<const std::int64_t> values);

 private:
  friend class program_works;
  static constexpr std::uint32_t size = 256;
  const std::string m_name;
  const std::uint32_t m_subject;
  // One more knob, with that value if an earlier run knows one, beside those that are in force.
  void begin_knob(std::int64_t initial, std::optional<std::int64_t> saved);
  void put_in_force(const ::trimtab_values& values);

  std::vector<declared_knob> m_knobs;                           // under the lock of all works
  ::trimtab_values m_initial{};                                 // in force in the child of a fork
  std::mutex m_publishing;                                      // values that are put in force follow those before
  std::vector<std::unique_ptr<const ::trimtab_values>> m_kept;  // all that were: an event may have them at any time

  std::atomic_flag m_is_adding = ATOMIC_FLAG_INIT;  // of m_sum and the writing end of the ring
  event_sum m_sum;
  std::atomic<bool> m_has_events{false};
  std::atomic<std::uint32_t> m_written{0}, m_read{0};
  std::array<event_sum, size> m_ring;
};

// A value of an earlier run, as text.
struct known_value {
  std::string work, knob, text;
};

class program_works {
 public:
  static constexpr std::size_t most = 64;

  // The work of that name; a new one if there is none. nullptr: there are too many works, and the report says so.
  // subject: its number in the run.
  program_work* add(const char* name, std::uint32_t subject);
  // The knob's place, from 1. 0: the declaration is wrong, and the report says why. The same declaration gives the same
  // knob.
  std::uint32_t declare(program_work& work, const ::trimtab_knob_declaration& declared);

  // From now on events are measured, and knobs that are declared begin with these values.
  void measure(std::vector<known_value> saved);
  bool are_measured() const noexcept { return m_are_measured.load(std::memory_order_relaxed); }
  // In the child of a fork: all knobs have their initial values, and none are declared any more. Takes no lock, as those of
  // other threads are held for ever.
  void leave() noexcept;

  std::size_t count() const noexcept { return m_count.load(std::memory_order_acquire); }
  program_work& at(std::size_t place) noexcept { return *m_works[place]; }
  std::vector<declared_knob> knobs_of(const program_work& work) const;

 private:
  std::optional<std::int64_t> known_value_of(const program_work& work, const declared_knob& knob) const;

  mutable std::mutex m_lock;
  std::array<std::unique_ptr<program_work>, most> m_works;
  std::atomic<std::size_t> m_count{0};
  std::atomic<bool> m_are_measured{false}, m_has_left{false};
  std::vector<known_value> m_known;
};

// Of values from an earlier run, which no decision of this one has put in force.
inline constexpr std::uint64_t decision_of_earlier_run = ~std::uint64_t{0};

extern program_works& the_program_works;

}  // namespace trimtab::observe
