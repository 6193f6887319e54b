// What the task programs share: how they make tasks, random numbers that are the same everywhere, and how they are listed.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "trimtab/tasks.hpp"

namespace programs {

// Each algorithm is written once, for something that makes tasks: these two.
struct by_tasks {
  template <class function>
  static auto async(function&& call) {
    return trimtab::async(std::forward<function>(call));
  }
  using mutex = trimtab::mutex;
};

template <class value>
struct ready {
  value result;
  value get() { return std::move(result); }
};
template <>
struct ready<void> {
  void get() const noexcept {}
};

// Calls the function at once: the serial answer.
struct serially {
  template <class function>
  static auto async(function&& call) {
    using value = std::invoke_result_t<function>;
    if constexpr (std::is_void_v<value>) {
      std::forward<function>(call)();
      return ready<void>{};
    } else {
      return ready<value>{std::forward<function>(call)()};
    }
  }
  struct mutex {
    void lock() const noexcept {}
    void unlock() const noexcept {}
  };
};

template <class future>
void get_all(std::vector<future>& futures) {
  for (future& each : futures) each.get();
}

// splitmix64 (Steele, Lea and Flood 2014).
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) noexcept : m_state(seed) {}
  std::uint64_t next() noexcept {
    std::uint64_t mixed = m_state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }
  // 0 .. below - 1
  std::int64_t random_below(std::int64_t limit) noexcept {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(limit));
  }
  // 0 .. 1
  double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t m_state;
};

// Numbers that were computed in the same order have the same bits.
inline std::int64_t digest(const double* numbers, std::size_t count) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum = sum * 0x100000001b3 + std::bit_cast<std::uint64_t>(numbers[i]);
  return static_cast<std::int64_t>(sum);
}

inline std::size_t index(std::int64_t number) noexcept { return static_cast<std::size_t>(number); }

struct program {
  const char* name;
  const char* size_means;
  std::int64_t size;  // takes 0.5 to 1 s on two workers
  std::int64_t (*parallel)(std::int64_t size);
  std::int64_t (*expected)(std::int64_t size);
};

// One in each file.
extern const program alignment_program, fft_program, fib_program, floorplan_program, health_program, intersim_program,
    nqueens_program, pyramids_program, qap_program, round_program, sort_program, sparselu_program, strassen_program,
    uts_program;

}  // namespace programs
