// What the program pays for begin + end of a subject of its own. `attached` is set by the environment: run the
// binary bare and under `trimtab run`, with --benchmark_filter=scope.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>

#include "trimtab.h"
#include "trimtab/observe/recorder.hpp"

namespace {

using namespace trimtab::observe;

struct scratch {
  explicit scratch(record_level level) {
    std::string pattern = (std::filesystem::temp_directory_path() / "trimtab-bench-XXXXXX").string();
    path = mkdtemp(pattern.data());
    recorder_options options;
    options.run_directory = path.c_str();
    options.level = level;
    options.kept = keep::last;
    options.max_trace_bytes = 1u << 20;
    made = std::make_unique<recorder>();
    if (made->open(options) == 0) lane_ = made->open_lane();
  }
  ~scratch() {
    if (lane_ != nullptr) made->close_lane(*lane_);
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
  std::unique_ptr<recorder> made;
  lane* lane_ = nullptr;
};

// The stream is full at once and wraps: what is timed is the recording, not the growth of the file.
void fill(const scratch& run) {
  for (int i = 0; i < 100'000; ++i) run.lane_->record(event_kind::mark, 0, 0, 0, 0, 0), run.made->make_streams_ready();
}

void recorded(benchmark::State& state, record_level level) {
  scratch run(level);
  if (run.lane_ == nullptr) return state.SkipWithError("no lane could be opened");
  fill(run);
  for (auto _ : state) {
    run.lane_->scope_begin(1);
    run.lane_->scope_end(1);
  }
}
BENCHMARK_CAPTURE(recorded, scope_profile, record_level::profile);
BENCHMARK_CAPTURE(recorded, scope_trace, record_level::trace);

// A link between two tasks, with the time of it.
void recorded_link(benchmark::State& state) {
  scratch run(record_level::trace);
  if (run.lane_ == nullptr) return state.SkipWithError("no lane could be opened");
  fill(run);
  std::uint64_t task = 1;
  for (auto _ : state) {
    run.lane_->record(event_kind::edge, no_subject, 0, task, task + 1, trimtab::base::now());
    ++task;
  }
}
BENCHMARK(recorded_link);

void clock_read(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(trimtab::base::now());
}
BENCHMARK(clock_read);

void scope_through_header(benchmark::State& state) {
  const trimtab::subject subject("bench");
  for (auto _ : state) {
    trimtab::scope scope(subject);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(scope_through_header);

}  // namespace

BENCHMARK_MAIN();
