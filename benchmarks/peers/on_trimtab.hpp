// What the programs of Trimtab's runtime share.
#pragma once

#include <vector>

#include "bench.hpp"
#include "trimtab/tasks.hpp"

namespace bench {

inline trimtab::runtime_options with_workers(const arguments& with) {
  return {.workers = static_cast<std::uint32_t>(with.workers)};
}

using gate = trimtab::shared_future<std::int64_t>;

// The time of each of `size` futures that wait(gate) gives, which wait for one promise at once.
template <class function>
void time_suspended(const arguments& with, function&& wait) {
  trimtab::runtime runtime(with_workers(with));
  std::int64_t sum = 0;
  const double took = seconds(with.repeats, [&] {
    sum = runtime.run([&] {
      trimtab::promise<std::int64_t> given;
      const gate opened = given.get_future().share();
      std::vector<trimtab::future<std::int64_t>> waiting;
      waiting.reserve(static_cast<std::size_t>(with.size));
      for (std::int64_t i = 0; i < with.size; ++i) waiting.push_back(wait(opened));
      given.set_value(1);
      std::int64_t all = 0;
      for (auto& each : waiting) all += each.get();
      return all;
    });
  });
  expect("suspended", static_cast<double>(with.size), static_cast<double>(sum));
  print("ns", took * 1e9 / static_cast<double>(with.size));
}

}  // namespace bench
